import Glibc
import Password

exit(PasswordVerification.run(arguments: CommandLine.arguments).exitCode)
