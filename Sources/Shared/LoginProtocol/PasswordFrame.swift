// SPDX-License-Identifier: Apache-2.0
/// Takes a password out of a received packet before it is decoded, so that decoding copies no
/// secret.
package enum PasswordFrame {
    /// Calls `body` with the packet's password, if it has one, and then overwrites it with zeros.
    ///
    /// The packet can still be decoded; its password field then contains zeros. Returns nil,
    /// without calling `body`, if there is no password field.
    package static func take<Result: ~Copyable>(
        from packet: inout Bytes, _ body: (Span<UInt8>) -> Result
    ) -> Result? {
        guard let range = range(in: packet) else { return nil }
        let result = body(packet.span.extracting(range))
        for index in range { packet[index] = 0 }
        return result
    }

    /// The range of a password in a packet of any kind; nil if none is found.
    static func range(in packet: Bytes) -> Range<Int>? {
        var position = Frame.headerLength
        while packet.count - position >= Frame.fieldHeaderLength {
            let start = position + Frame.fieldHeaderLength
            let length = Int(packet[position + 1]) << 8 | Int(packet[position + 2])
            guard packet.count - start >= length else { return nil }
            if packet[position] == Field.password.rawValue { return start..<start + length }
            position = start + length
        }
        return nil
    }
}
