// SPDX-License-Identifier: Apache-2.0
import Glibc
import Posix
import TestSupport

// A daemon on virtual readers, and what plays the person at them. Never installed: the installed
// daemon clears the variables that switch libfprint's virtual readers on.
let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case "daemon": exit(VirtualDaemon(Array(arguments.dropFirst())).run())
case "desktop" where arguments.count == 5 || arguments.count == 6:
    // signet-fprint with places of a test's: the daemon's socket, the bus, the idle time in
    // milliseconds, the file that tells by how much the time is further on, and how long a reader
    // rests, in milliseconds.
    exit(VirtualDaemon.runDesktop(Array(arguments.dropFirst())))
case "demo" where arguments.count == 1: exit(Demo.run())
case "touch" where arguments.count == 3:
    do throws(TestFault) {
        try VirtualReader(path: arguments[1]).send(.scan(arguments[2]))
    } catch {
        complain("testfixture: \(error)")
        exit(1)
    }
case "programs" where arguments.count == 1:
    do {
        print(try Compatibility.table(), terminator: "")
    } catch {
        complain("no test has shown anything yet: \(error)")
        exit(1)
    }
default:
    complain(
        """
        usage: testfixture demo
               testfixture programs
               testfixture desktop SOCKET BUS IDLE PASSED [REST]
               testfixture daemon [--text PATH] [--storage PATH] [--image PATH] …
               testfixture touch PATH FINGER
        """)
    exit(2)
}
