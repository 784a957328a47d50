// SPDX-License-Identifier: Apache-2.0
import CMicrohttpd
import Glibc

/// Checks that a request's head has no hidden bytes between its parts.
///
/// The library replaces the end of each part by NUL in its buffer and passes the parts as C
/// strings, so a NUL that the client sent would hide everything after it. Here each part must begin
/// where the one before it ended. libmicrohttpd 0.9 overwrites the whole end of a line with NULs;
/// 1.0 overwrites only its first byte, or the first of the blanks before it, and itself rejects
/// NULs in the input.
// SAFETY: reads only between `end` and `last`, which lie in the library's buffer for the duration
// of the call that lends them.
@unsafe struct HeadSeams {
    /// The position after the last part that was taken.
    private var end: UnsafePointer<CChar>
    /// The position after the whole head, including the empty line.
    private let last: UnsafePointer<CChar>

    /// Takes the request line, whose target has `targetCount` bytes; nil if bytes are hidden in it.
    init?(_ call: LibraryCall, targetCount: Int) {
        guard let method = unsafe call.method, let target = unsafe call.target,
            let version = unsafe call.version
        else { return nil }
        unsafe end = method + strlen(method)
        unsafe last = method + signet_mhd_head_size(call.connection)
        guard unsafe target - end == 1, unsafe take(target, count: targetCount),
            unsafe version - end == 1, unsafe take(version, count: strlen(version))
        else { return nil }
    }

    /// Takes a header line; returns false if bytes are hidden before its name or value.
    mutating func take(
        _ name: UnsafeBufferPointer<CChar>, _ value: UnsafeBufferPointer<CChar>
    ) -> Bool {
        guard let part = name.baseAddress, let start = value.baseAddress,
            unsafe take(part, count: name.count)
        else { return false }
        // The colon has been replaced by NUL, and blanks may follow it.
        guard unsafe end < start && start <= last && end.pointee == 0 else { return false }
        unsafe end += 1
        while unsafe end < start {
            guard unsafe end.pointee == 0x20 || end.pointee == 0x09 else { return false }
            unsafe end += 1
        }
        unsafe end += value.count
        return true
    }

    /// Whether nothing follows but the ends of the last line and of the empty line.
    ///
    /// libmicrohttpd 1.0 may have moved what came behind the head, such as the body, to the place
    /// behind the last part's NUL. It lets no NUL of a client's through, so nothing is hidden there.
    var isWhole: Bool {
        guard unsafe end < last else { return false }
        if refusesNULs { return unsafe end.pointee == 0 }
        let rest = unsafe UnsafeBufferPointer(start: end, count: last - end)
        if unsafe rest.allSatisfy({ $0 == 0 }) { return (2...4).contains(rest.count) }
        guard let lines = unsafe behindLine(rest) else { return false }
        return unsafe lines.elementsEqual([0x0d, 0x0a]) || lines.elementsEqual([0x0a])
    }

    /// Takes a part that follows the end of a line; returns false if anything else is in between.
    private mutating func take(_ part: UnsafePointer<CChar>, count: Int) -> Bool {
        guard unsafe end < part, unsafe part + count <= last else { return false }
        let gap = unsafe UnsafeBufferPointer(start: end, count: part - end)
        guard unsafe behindLine(gap)?.isEmpty == true else { return false }
        unsafe end = part + count
        return true
    }

    /// Returns the bytes after the end of a line; nil if the bytes do not begin with one.
    private func behindLine(
        _ bytes: UnsafeBufferPointer<CChar>
    ) -> Slice<UnsafeBufferPointer<CChar>>? {
        guard unsafe bytes.first == 0 else { return nil }
        let rest = unsafe bytes.dropFirst()
        if unsafe rest.first == 0 { return unsafe rest.dropFirst() }
        let line = unsafe rest.drop { $0 == 0x20 || $0 == 0x09 }
        let feed = unsafe line.first == 0x0d ? line.dropFirst() : line
        if unsafe feed.first == 0x0a { return unsafe feed.dropFirst() }
        // The line ended with a single byte.
        return unsafe line.count == rest.count ? rest : nil
    }
}

/// Whether the library is 1.0 or later.
private let refusesNULs = unsafe MHD_get_version().map { unsafe $0.pointee != 0x30 } ?? false
