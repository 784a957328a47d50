// SPDX-License-Identifier: Apache-2.0
import SignedFormats

/// What an agent sends along the way to other agents, to find out whether that leads back to it.
///
/// Each of Signet's agents passes the token on as it is, and answers with success if it is passing that
/// token on already. Any other agent does not know the extension, and answers with a failure.
package struct AgentLoopToken: Hashable, Sendable {
    /// The extension's name.
    static let name: StaticString = "loop-check@signet"
    /// The number of random bytes.
    package static let count = 16

    private let bytes: [UInt8]

    /// Takes random bytes; nil unless there are `count`.
    package init?(random bytes: [UInt8]) {
        guard bytes.count == Self.count else { return nil }
        self.bytes = bytes
    }

    init(from reader: inout SSHReader) throws(SSHFault) {
        guard let token = AgentLoopToken(random: try reader.string(cap: Self.count)) else {
            throw .malformed
        }
        self = token
    }

    /// The message that has it passed on.
    package var message: [UInt8] {
        var writer = SSHWriter()
        writer.put(raw: [AgentNumber.extension])
        writer.put(Self.name.bytes)
        writer.put(bytes)
        return writer.bytes
    }
}
