// SPDX-License-Identifier: Apache-2.0
import Glibc
import Site

exit(await SiteProgram.run(Array(CommandLine.arguments.dropFirst())))
