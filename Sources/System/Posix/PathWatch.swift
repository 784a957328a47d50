// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Reports when a file in a directory is created, moved there or given new attributes; inotify(7).
package struct PathWatch: ~Copyable, Sendable {
    /// The descriptor, for polling.
    package let descriptor: Descriptor
    private let name: [UInt8]

    /// Starts watching for a name in a directory, which must exist.
    package init(for name: String, in directory: String) throws(SystemFault) {
        let made = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        let watch = try Descriptor(result: made, of: "inotify_init1")
        let changes = UInt32(IN_ATTRIB | IN_CREATE | IN_MOVED_TO | IN_ONLYDIR)
        guard unsafe inotify_add_watch(watch.number, directory, changes) >= 0 else {
            throw SystemFault.current("inotify_add_watch", on: directory)
        }
        self.init(descriptor: watch, name: Array(name.utf8))
    }

    private init(descriptor: consuming Descriptor, name: [UInt8]) {
        self.descriptor = descriptor
        self.name = name
    }

    /// Takes the events since the last call; returns true if any of them concerned the name.
    ///
    /// It also returns true if the kernel dropped events, or reports one about the directory
    /// itself.
    package borrowing func take() throws(SystemFault) -> Bool {
        var isAbout = false
        while true {
            var events = [UInt8](repeating: 0, count: 4_096)
            let number = descriptor.number
            let count = unsafe events.withUnsafeMutableBytes { bytes in
                retryingInterrupted { unsafe read(number, bytes.baseAddress, bytes.count) }
            }
            guard count > 0 else {
                guard count < 0, errno == EAGAIN else { throw SystemFault.current("read") }
                return isAbout
            }
            if names(in: events[..<count]) { isAbout = true }
        }
    }

    /// Whether one of the events concerns the name.
    ///
    /// Each event is a header of 16 bytes, whose last four are the length of the name that follows;
    /// the name is padded with NUL.
    private borrowing func names(in events: ArraySlice<UInt8>) -> Bool {
        var rest = events
        while rest.count >= 16 {
            let header = Array(rest.prefix(16))
            let length = unsafe header.withUnsafeBytes { bytes in
                unsafe bytes.loadUnaligned(fromByteOffset: 12, as: UInt32.self)
            }
            rest = rest.dropFirst(16)
            guard Int(length) <= rest.count else { return true }
            let text = rest.prefix(Int(length)).prefix { $0 != 0 }
            // An event without a name is about the directory itself, or reports that the queue
            // overflowed.
            if text.isEmpty || Array(text) == name { return true }
            rest = rest.dropFirst(Int(length))
        }
        return false
    }
}
