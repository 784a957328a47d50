import Control
import Glibc

exit(Invocation.runOnThisMachine(Array(CommandLine.arguments.dropFirst())))
