// SPDX-License-Identifier: Apache-2.0
import Glibc
import Password

exit(PasswordVerification.run(arguments: CommandLine.arguments).exitCode)
