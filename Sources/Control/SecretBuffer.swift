// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import Posix
import SignedFormats

/// A secret on its way through this program: one copy, wiped when its owner goes.
final class SecretBuffer {
    private var bytes = Bytes()

    /// Room for the longest secret, and a byte more to know a longer one by.
    init() {
        // All at once: growing would leave copies behind.
        bytes.reserveCapacity(Limit.secret + 1)
    }

    deinit { wipe(&bytes) }

    var count: Int { bytes.count }

    /// Adds bytes; false where they do not fit.
    func append(_ part: ArraySlice<UInt8>) -> Bool {
        guard bytes.count + part.count <= Limit.secret else { return false }
        bytes.append(contentsOf: part)
        return true
    }

    /// Reads all that comes, and one byte at the most beyond what fits.
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

    /// The frame that carries some of the bytes to the daemon; whoever sends it wipes it.
    func packet(_ range: Range<Int>) -> Bytes {
        var packet = SecretPartFrame.header(.kept, count: range.count)
        packet.reserveCapacity(packet.count + range.count)
        packet.append(contentsOf: bytes[range])
        return packet
    }

    /// Whether it is text that a terminal shows as it is: UTF-8 without controls but line ends and
    /// tabs.
    var isText: Bool {
        var isText = true
        var shown = Printable.escaping(bytes) { byte, _ in
            if byte != UInt8(ascii: "\n") && byte != UInt8(ascii: "\t") { isText = false }
        }
        wipe(&shown)
        return isText
    }

    /// Whether it ends with a line end.
    var endsLine: Bool { bytes.last == UInt8(ascii: "\n") }

    /// Lends the bytes for the time of the call.
    func withBytes<Value>(_ body: (Bytes) -> Value) -> Value { body(bytes) }
}
