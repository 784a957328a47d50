// SPDX-License-Identifier: Apache-2.0
import CPAMModule

/// An open file descriptor, closed when the value is destroyed.
struct ModuleDescriptor: ~Copyable {
    let number: Int32

    /// Takes ownership of what a system call returned; nil if it failed.
    init?(adopting number: Int32) {
        guard number >= 0 else { return nil }
        self.number = number
    }

    deinit {
        _ = close(number)
    }
}
