// SPDX-License-Identifier: Apache-2.0
import Glibc
import PasswordCheck

exit(PasswordVerification.run(arguments: CommandLine.arguments).exitCode)
