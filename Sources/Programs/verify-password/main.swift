// SPDX-License-Identifier: Apache-2.0
import Configuration
import Glibc
import PasswordCheck

exit(
    PasswordVerification.run(Array(CommandLine.arguments.dropFirst()), version: Version.text))
