// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What another process has in its memory.
package enum ProcessMemory {
    /// Whether a process's writable memory has these bytes somewhere.
    package static func holds(_ text: String, in pid: Int32) throws(TestFault) -> Bool {
        let maps = try String(decoding: Layout.read("/proc/\(pid)/maps"), as: UTF8.self)
        let path = "/proc/\(pid)/mem"
        let opened = unsafe open(path, O_RDONLY | O_CLOEXEC)
        let memory = try Descriptor(opened < 0 ? -errno : opened, "open", path)
        for line in maps.split(separator: "\n") {
            let words = line.split(separator: " ")
            let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard words[1].hasPrefix("rw"), ends.count == 2 else { continue }
            var bytes = [UInt8](repeating: 0, count: Int(ends[1] - ends[0]))
            let length = bytes.count
            let count = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe pread(memory.number, buffer.baseAddress, length, Int(ends[0]))
            }
            guard count > 0 else { continue }
            bytes.removeLast(length - count)
            if holds(bytes, Array(text.utf8)) { return true }
        }
        return false
    }

    private static func holds(_ memory: [UInt8], _ wanted: [UInt8]) -> Bool {
        unsafe memory.withUnsafeBytes { memory in
            var rest = unsafe memory[...]
            while unsafe rest.count >= wanted.count, let start = unsafe rest.baseAddress {
                // By the C function: memory is long.
                guard let found = unsafe memchr(start, Int32(wanted[0]), rest.count) else { break }
                let from = unsafe rest.startIndex + (UnsafeRawPointer(found) - start)
                if unsafe rest[from...].starts(with: wanted) { return true }
                unsafe rest = unsafe rest[(from + 1)...]
            }
            return false
        }
    }
}

extension Slice<UnsafeRawBufferPointer> {
    fileprivate var baseAddress: UnsafeRawPointer? {
        unsafe base.baseAddress.map { unsafe $0 + startIndex }
    }
}
