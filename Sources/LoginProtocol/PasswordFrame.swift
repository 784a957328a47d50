// SPDX-License-Identifier: Apache-2.0
/// Takes a password out of a packet before anything copies it.
package enum PasswordFrame {
    /// Lends the password of a packet, if it has one, and blanks it there.
    ///
    /// What is decoded afterwards has zeros in its place: whoever checks the frame holds no secret.
    package static func take<Result: ~Copyable>(
        from packet: inout Bytes, _ body: (Span<UInt8>) -> Result
    ) -> Result? {
        guard let range = range(in: packet) else { return nil }
        let result = body(packet.span.extracting(range))
        for index in range { packet[index] = 0 }
        return result
    }

    /// Where a password stands in a packet of any kind; nil if the packet ends before one does.
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
