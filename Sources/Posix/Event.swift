// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// Something that happens once and that a thread can wait for; eventfd(2).
package final class Event: Sendable {
    /// Readable from the moment on that it happened.
    package let descriptor: Descriptor

    /// It has not happened yet.
    package init() throws(SystemFault) {
        descriptor = try Descriptor(
            result: eventfd(0, Int32(EFD_CLOEXEC)), of: "eventfd")
    }

    /// It happens; again is no difference.
    package func happen() {
        _ = eventfd_write(descriptor.number, 1)
    }
}
