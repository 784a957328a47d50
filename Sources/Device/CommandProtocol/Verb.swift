// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// The operation that a request asks for: the kind of its frame, and its name.
///
/// Each type of request has its own verb; there are no others.
package struct Verb: Hashable, Sendable {
    /// The frame's kind.
    package let rawValue: UInt8
    /// The name in docs/developer/PROTOCOL.md and the journal.
    package let protocolName: String

    init(_ rawValue: UInt8, name: String) {
        self.rawValue = rawValue
        protocolName = name
    }

    /// Creates a verb that the PAM module knows too.
    init(_ verb: LoginVerb, name: String) { self.init(verb.rawValue, name: name) }
}

extension Verb: ProtocolNamed {}

extension Verb: RawRepresentable {
    /// Looks up the verb with this kind of frame; nil if there is none.
    package init?(rawValue: UInt8) {
        guard let request = Request.type(kind: rawValue) else { return nil }
        self = request.verb
    }
}

extension Verb: CaseIterable {
    /// All verbs, in the order of their kinds.
    package static var allCases: [Verb] {
        Request.all.map { $0.verb }.sorted { $0.rawValue < $1.rawValue }
    }
}
