// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import LoginMessages
import LoginProtocol

/// Checks whether swap is encrypted; where that cannot be determined, there is no finding.
struct SwapCheck {
    let files: MachineFiles

    /// Findings on swap areas that are known to be on a disk without encryption.
    func findings() -> [Finding] {
        files.lines("/proc/swaps").dropFirst().compactMap { line in
            guard let path = line.split(separator: " ").first.map(Self.unescaped),
                path.hasPrefix("/"),
                let device = path.hasPrefix("/dev/") ? path : device(below: path),
                isEncrypted(device) == false
            else { return nil }
            return Self.plain(path)
        }
    }

    /// Swap is not encrypted.
    private static func plain(_ path: String) -> Finding {
        Finding(
            "swap-plain", level: .note, area: .machine, subject: path.bytes,
            what: "swap on \(path) does not appear to be encrypted",
            why: """
                Signet's own secrets are locked in memory, but what other programs get from Signet \
                may be written to swap
                """,
            mend: "swapon --show")
    }

    /// The device whose file system contains a path; nil if there is none; proc_pid_mountinfo(5).
    private func device(below path: String) -> String? {
        var found: (point: String, source: String)?
        for line in files.lines("/proc/self/mountinfo") {
            let fields = line.split(separator: " ")
            guard fields.count > 4, let dash = fields.firstIndex(of: "-"), dash + 2 < fields.count
            else { continue }
            let point = Self.unescaped(fields[4])
            let isAbove = path.hasPrefix(point == "/" ? point : "\(point)/")
            // Of several mounts on one directory, the last one hides the others.
            guard isAbove, point.utf8.count >= found?.point.utf8.count ?? 0 else { continue }
            found = (point, Self.unescaped(fields[dash + 2]))
        }
        return found.flatMap { $0.source.hasPrefix("/dev/") ? $0.source : nil }
    }

    /// Whether a device's content is encrypted on disk; nil if that is not known.
    private func isEncrypted(_ device: String) -> Bool? {
        let path = files.target(device) ?? device
        return path.split(separator: "/").last.flatMap { isEncrypted(block: String($0), depth: 0) }
    }

    /// Whether an entry of /sys/class/block is encrypted, or all entries that it consists of are;
    /// nil if that is not known.
    private func isEncrypted(block name: String, depth: Int) -> Bool? {
        let place = "/sys/class/block/\(name)"
        // RAM devices are not disks, and what is behind a loop or network device cannot be
        // determined.
        let isDisk = !["zram", "ram", "loop", "nbd", "rbd"].contains { name.hasPrefix($0) }
        guard isDisk, depth < Self.deepestDevice, files.exists(place) else { return nil }
        if let uuid = files.lines("\(place)/dm/uuid").first, uuid.hasPrefix("CRYPT-"),
            !uuid.hasPrefix("CRYPT-VERITY-"), !uuid.hasPrefix("CRYPT-INTEGRITY-")
        {
            return true
        }
        let below = files.names("\(place)/slaves").map { isEncrypted(block: $0, depth: depth + 1) }
        if below.contains(false) { return false }
        if below.contains(nil) { return nil }
        return !below.isEmpty
    }

    /// The maximum depth of devices that are followed; volumes on arrays on partitions take fewer
    /// levels.
    private static let deepestDevice = 8

    /// Decodes the octal escapes that the kernel writes for space, tab, line feed and backslash in
    /// a path; proc_pid_mountinfo(5).
    private static func unescaped(_ field: Substring) -> String {
        var decoded: [UInt8] = []
        var rest = Substring(field).utf8
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3,
                digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0) }),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            {
                decoded.append(value)
                rest.removeFirst(3)
            } else {
                decoded.append(byte)
            }
        }
        return String(decoding: decoded, as: UTF8.self)
    }
}
