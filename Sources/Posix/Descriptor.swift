// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// The only owner of a file descriptor; closes it when it goes.
package struct Descriptor: ~Copyable, Sendable {
    /// The descriptor's number, good for as long as the owner lives.
    package let number: Int32

    /// Takes over an open descriptor, which nobody else may close from now on.
    package init(adopting number: Int32) {
        self.number = number
    }

    /// Takes over the result of a call that returns a descriptor or -1.
    init(
        result: Int32, of operation: String, on subject: String = ""
    ) throws(SystemFault) {
        guard result >= 0 else { throw SystemFault.current(operation, on: subject) }
        self.init(adopting: result)
    }

    deinit {
        _ = Glibc.close(number)
    }

    /// Gives the descriptor away: the caller closes it.
    package consuming func release() -> Int32 {
        let given = number
        discard self
        return given
    }

    /// Makes a second descriptor of the same open file, close-on-exec; fcntl(2) F_DUPFD_CLOEXEC.
    package borrowing func duplicate() throws(SystemFault) -> Descriptor {
        try Descriptor(result: fcntl(number, F_DUPFD_CLOEXEC, 3), of: "fcntl")
    }
}
