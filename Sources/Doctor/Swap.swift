// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import LoginProtocol

extension Machine {
    /// Swap that is known to lie on a disk in clear.
    func swapFindings() -> [Finding] {
        (text("/proc/swaps") ?? "").split(separator: "\n").dropFirst().compactMap { line in
            guard let path = line.split(separator: " ").first.map({ Machine.unescaped($0) }),
                path.hasPrefix("/"),
                let device = path.hasPrefix("/dev/") ? path : device(below: path),
                isEncrypted(device) == false
            else { return nil }
            return .swapPlain(path.bytes)
        }
    }

    /// What the file system of a file is mounted from, if that is a device; proc_pid_mountinfo(5).
    private func device(below path: String) -> String? {
        var found: (point: String, source: String)?
        for line in (text("/proc/self/mountinfo") ?? "").split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 4, let dash = fields.firstIndex(of: "-"), dash + 2 < fields.count
            else { continue }
            let point = Machine.unescaped(fields[4])
            let isAbove = path.hasPrefix(point == "/" ? point : "\(point)/")
            // Of several at one place the last one covers the others.
            guard isAbove, point.utf8.count >= found?.point.utf8.count ?? 0 else { continue }
            found = (point, Machine.unescaped(fields[dash + 2]))
        }
        return found.flatMap { $0.source.hasPrefix("/dev/") ? $0.source : nil }
    }

    /// Whether what is written to a device is encrypted on the disk; nil where that is not known.
    private func isEncrypted(_ device: String) -> Bool? {
        let path = target(device) ?? device
        return path.split(separator: "/").last.flatMap { isEncrypted(block: String($0), depth: 0) }
    }

    /// The same for a name in /sys/class/block: itself, or all that it is made of.
    private func isEncrypted(block name: String, depth: Int) -> Bool? {
        let place = "/sys/class/block/\(name)"
        // Memory is no disk, and what is behind a loop or a network is not seen here.
        let isDisk = !["zram", "ram", "loop", "nbd", "rbd"].contains { name.hasPrefix($0) }
        guard isDisk, depth < Machine.deepestDevice, look(place) != nil else { return nil }
        if let uuid = text("\(place)/dm/uuid"), uuid.hasPrefix("CRYPT-"),
            !uuid.hasPrefix("CRYPT-VERITY-"), !uuid.hasPrefix("CRYPT-INTEGRITY-")
        {
            return true
        }
        let below = names("\(place)/slaves").map { isEncrypted(block: $0, depth: depth + 1) }
        if below.contains(false) { return false }
        if below.contains(nil) { return nil }
        return !below.isEmpty
    }

    /// Volumes on arrays on partitions, and some more.
    private static let deepestDevice = 8

    /// Without the octal escapes by which the kernel writes blanks in paths.
    private static func unescaped(_ field: Substring) -> String {
        field.split(separator: "\\040", omittingEmptySubsequences: false).joined(separator: " ")
    }
}
