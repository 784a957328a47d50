// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// The sole owner of a file descriptor, which it closes when it is destroyed.
package struct Descriptor: ~Copyable, Sendable {
    /// The descriptor's number, valid for as long as the owner exists.
    package let number: Int32

    /// Takes ownership of an open descriptor, which nothing else may close from now on.
    package init(adopting number: Int32) {
        self.number = number
    }

    /// Takes ownership of the result of a call that returns a descriptor, or -1 and sets `errno`.
    init(
        result: Int32, of operation: String, on subject: String = ""
    ) throws(SystemFault) {
        guard result >= 0 else { throw SystemFault.current(operation, on: subject) }
        self.init(adopting: result)
    }

    deinit {
        _ = Glibc.close(number)
    }

    /// Gives up ownership; the caller has to close the descriptor.
    package consuming func release() -> Int32 {
        let given = number
        discard self
        return given
    }

    /// Duplicates the descriptor, close-on-exec; fcntl(2) F_DUPFD_CLOEXEC.
    package borrowing func duplicate() throws(SystemFault) -> Descriptor {
        try Descriptor(result: fcntl(number, F_DUPFD_CLOEXEC, 3), of: "fcntl")
    }
}
