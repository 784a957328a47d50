// SPDX-License-Identifier: Apache-2.0
import CPAMModule

/// An open file of this process, closed when nobody has it any more.
struct Descriptor: ~Copyable {
    let number: Int32

    /// Takes over what a system call gave; nil if it failed.
    init?(adopting number: Int32) {
        guard number >= 0 else { return nil }
        self.number = number
    }

    deinit {
        _ = close(number)
    }
}
