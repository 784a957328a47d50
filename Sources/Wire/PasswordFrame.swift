/// Finds a password in a packet without copying it, so that the caller can wipe the only copy.
package enum PasswordFrame {
    /// The place of the password if the packet is a `password` request, nil if it is another kind.
    ///
    /// Throws unless such a packet is exactly one well-formed request.
    package static func range(in packet: Bytes) throws(WireFault) -> Range<Int>? {
        let start = Frame.headerLength + Frame.fieldHeaderLength
        guard packet.count >= Frame.headerLength, packet[0] == Frame.version,
            packet[1] == Verb.password.rawValue
        else { return nil }
        guard packet.count >= start else { throw .truncated }
        let length = Int(packet[3]) << 8 | Int(packet[4])
        guard packet[2] == Field.password.rawValue, Field.password.size.contains(length) else {
            throw .malformedValue
        }
        guard packet.count - start >= length else { throw .truncated }
        guard packet.count - start == length else { throw .unexpectedField }
        return start..<packet.count
    }
}
