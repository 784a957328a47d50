// SPDX-License-Identifier: Apache-2.0
import DesktopClient
import Glibc

exit(FprintdProgram.run(Array(CommandLine.arguments.dropFirst()), address: systemBus(), say: show))
