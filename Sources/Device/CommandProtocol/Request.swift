// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol

/// One frame from a client to the daemon: a request of any type.
///
/// All facts about a request are declared by its type, see `DaemonRequest`.
package struct Request: Equatable, Sendable {
    /// The request itself.
    package let content: any DaemonRequest

    /// Creates a frame for a request.
    package init(_ content: any DaemonRequest) { self.content = content }

    /// All types of requests: every `DaemonRequest` of this target, see `Plugins/Listing`.
    ///
    /// The daemon knows no other.
    package static let all = Listed.requests

    private static let byKind = Dictionary(
        all.map { ($0.verb.rawValue, $0) }, uniquingKeysWith: { first, _ in first })

    /// Returns the type of the requests with this kind of frame; nil if there is none.
    package static func type(kind: UInt8) -> (any DaemonRequest.Type)? { byKind[kind] }

    /// Whether both are of the same type and have the same fields.
    package static func == (one: Request, other: Request) -> Bool {
        one.content.isSame(as: other.content)
    }
}

extension DaemonRequest {
    fileprivate func isSame(as other: any DaemonRequest) -> Bool { other as? Self == self }
}

extension Request {
    /// The type of the request.
    package var type: any DaemonRequest.Type { Swift.type(of: content) }
    /// The verb of the request.
    package var verb: Verb { type.verb }
    /// The rule of the request.
    package var rule: VerbRule { type.rule }
    /// The account that the request is about; nil if it is about none.
    package var account: AccountName? { content.accountName }

    /// Encodes the request; throws if a value does not fit its field.
    package func encoded() throws(WireFault) -> Bytes {
        var frame = FrameWriter(kind: verb.rawValue)
        try content.put(into: &frame)
        return frame.bytes
    }

    /// Decodes a client's frame; throws unless it is exactly one well-formed request.
    package init(decoding packet: Bytes) throws(WireFault) {
        var frame = try FrameReader(packet)
        guard let type = Request.type(kind: frame.kind) else { throw .unknownKind }
        content = try type.init(from: &frame)
        try frame.end()
    }
}
