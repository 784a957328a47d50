// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// An event that threads can wait for, however often it has happened; eventfd(2).
package final class Event: Sendable {
    /// Readable from the moment the event has happened.
    package let descriptor: Descriptor

    /// Creates an event that has not happened yet.
    package init() throws(SystemFault) {
        descriptor = try Descriptor(
            result: eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)), of: "eventfd")
    }

    /// Signals the event; further calls have no effect.
    package func happen() {
        _ = eventfd_write(descriptor.number, 1)
    }

    /// Makes it one that has not happened.
    package func reset() {
        var count: eventfd_t = 0
        _ = unsafe eventfd_read(descriptor.number, &count)
    }
}
