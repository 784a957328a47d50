// SPDX-License-Identifier: Apache-2.0
import Command
import Glibc

exit(Invocation.runOnThisMachine(Array(CommandLine.arguments.dropFirst())))
