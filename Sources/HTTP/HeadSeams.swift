import CMicrohttpd
import Glibc

/// The head of a request as the library has cut it: a NUL ends each part, in place, in one buffer.
///
/// The library tells its parts as C strings, so a NUL that was sent would hide from every check what
/// follows it. Here each part has to begin where the one before it ended.
// SAFETY: nothing is read but between `end` and `last`, which lie in the library's buffer for as long
// as the call that lends them.
@unsafe struct HeadSeams {
    /// Behind the last part that was taken.
    private var end: UnsafePointer<CChar>
    /// Behind the whole head, the empty line included.
    private let last: UnsafePointer<CChar>

    /// Takes the request line, whose target has so many bytes; nil where something hides in it.
    init?(_ call: LibraryCall, targetCount: Int) {
        guard let method = unsafe call.method, let target = unsafe call.target,
            let version = unsafe call.version
        else { return nil }
        unsafe end = method + strlen(method)
        unsafe last = method + signet_mhd_head_size(call.connection)
        guard unsafe take(target, targetCount, behind: 1...1),
            unsafe take(version, strlen(version), behind: 1...1)
        else { return nil }
    }

    /// Takes a line; false where something hides before its name or its value.
    mutating func take(
        _ name: UnsafeBufferPointer<CChar>, _ value: UnsafeBufferPointer<CChar>
    ) -> Bool {
        guard let part = name.baseAddress, let start = value.baseAddress,
            unsafe take(part, name.count, behind: 1...2)
        else { return false }
        // The colon is a NUL by now, and blanks may follow it.
        guard unsafe end < start && start <= last && end.pointee == 0 else { return false }
        unsafe end += 1
        while unsafe end < start {
            guard unsafe end.pointee == 0x20 || end.pointee == 0x09 else { return false }
            unsafe end += 1
        }
        unsafe end += value.count
        return true
    }

    /// Whether nothing follows but the ends of the last line and of the empty one.
    var isWhole: Bool { unsafe (2...4).contains(last - end) && isCut(to: last) }

    /// Takes a part that begins so many NULs behind the one before it.
    private mutating func take(
        _ part: UnsafePointer<CChar>, _ count: Int, behind gap: ClosedRange<Int>
    ) -> Bool {
        guard unsafe gap.contains(part - end), unsafe part + count <= last,
            unsafe isCut(to: part)
        else { return false }
        unsafe end = part + count
        return true
    }

    private func isCut(to place: UnsafePointer<CChar>) -> Bool {
        unsafe UnsafeBufferPointer(start: end, count: place - end).allSatisfy { $0 == 0 }
    }
}
