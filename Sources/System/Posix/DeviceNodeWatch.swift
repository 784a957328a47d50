// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Reports when device nodes appear or go below a directory such as `/dev/bus/usb`; inotify(7).
///
/// It watches the directory and those in it that the kernel numbers from 001 on, as they are at the
/// start; nothing is opened.
package struct DeviceNodeWatch: ~Copyable, Sendable {
    /// The highest number of a directory that is watched.
    private static let highest = 64

    /// The descriptor, for polling.
    package let descriptor: Descriptor

    /// Starts watching below a directory, which must exist.
    package init(below directory: String) throws(SystemFault) {
        let made = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        let watch = try Descriptor(result: made, of: "inotify_init1")
        let changes = UInt32(IN_CREATE | IN_DELETE | IN_MOVE | IN_ONLYDIR)
        guard unsafe inotify_add_watch(watch.number, directory, changes) >= 0 else {
            throw SystemFault.current("inotify_add_watch", on: directory)
        }
        for number in 1...Self.highest {
            let digits = String(number)
            let name = String(repeating: "0", count: 3 - digits.count) + digits
            // It fails for those that are not there.
            _ = unsafe inotify_add_watch(watch.number, "\(directory)/\(name)", changes)
        }
        self.init(descriptor: watch)
    }

    private init(descriptor: consuming Descriptor) { self.descriptor = descriptor }

    /// Takes the events since the last call.
    package borrowing func take() throws(SystemFault) {
        var events = [UInt8](repeating: 0, count: 4_096)
        let number = descriptor.number
        while true {
            let count = unsafe events.withUnsafeMutableBytes { bytes in
                retryingInterrupted { unsafe read(number, bytes.baseAddress, bytes.count) }
            }
            guard count > 0 else {
                guard count < 0, errno == EAGAIN else { throw SystemFault.current("read") }
                return
            }
        }
    }
}
