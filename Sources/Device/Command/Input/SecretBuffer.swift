// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import Posix
import SignedFormats

/// A secret in this program's memory: a single copy, wiped when the object is destroyed.
///
/// It holds up to `Limit.secret` bytes in a buffer that is never reallocated.
final class SecretBuffer {
    private var bytes = Bytes()

    /// Reserves room for the longest secret, plus one byte to detect a longer one.
    init() {
        // Reserve it at once, because growing would leave copies behind.
        bytes.reserveCapacity(Limit.secret + 1)
    }

    deinit { wipe(&bytes) }

    var count: Int { bytes.count }

    /// Appends bytes; returns false, without effect, if they do not fit.
    func append(_ part: ArraySlice<UInt8>) -> Bool {
        guard bytes.count + part.count <= Limit.secret else { return false }
        bytes.append(contentsOf: part)
        return true
    }

    /// Reads to the end of the input, or one byte more than the longest secret.
    func read(from number: Int32, interrupts: Int32) throws(CommandFault) {
        while bytes.count <= Limit.secret {
            if wait(for: number, or: interrupts, until: nil) == .interrupted {
                throw .interrupted
            }
            do throws(SystemFault) {
                let most = min(16_384, Limit.secret + 1 - bytes.count)
                if try readSome(from: number, into: &bytes, count: most) == 0 { return }
            } catch { throw .system(error) }
        }
    }

    /// Returns the frame that carries these bytes to the daemon. The caller must wipe it.
    func packet(_ range: Range<Int>) -> Bytes {
        var packet = SecretPartFrame.header(.kept, count: range.count)
        packet.reserveCapacity(packet.count + range.count)
        packet.append(contentsOf: bytes[range])
        return packet
    }

    /// Whether a terminal can show it safely: UTF-8 without control characters except line feeds
    /// and tabs.
    var isText: Bool {
        var isText = true
        var shown = Printable.escaping(bytes) { byte, _ in
            if byte != UInt8(ascii: "\n") && byte != UInt8(ascii: "\t") { isText = false }
        }
        wipe(&shown)
        return isText
    }

    /// Whether it ends with a line feed.
    var endsLine: Bool { bytes.last == UInt8(ascii: "\n") }

    /// Calls `body` with the bytes.
    func withBytes<Value>(_ body: (Bytes) -> Value) -> Value { body(bytes) }
}
