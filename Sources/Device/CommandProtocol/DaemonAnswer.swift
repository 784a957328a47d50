// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// An answer of the daemon that belongs to one family of requests: its kind and its fields.
///
/// It is declared beside the request that it answers; nothing else lists it. It travels as
/// `Answer.own`: the daemon sends `.of(answer)`, and a command reads it with `answer.own()`.
package protocol DaemonAnswer: FrameContent {
    /// The kind of its frame.
    static var kind: AnswerKind { get }
    /// What it means for its request; `item` unless stated otherwise.
    static var meaning: AnswerMeaning { get }
}

extension DaemonAnswer {
    package static var meaning: AnswerMeaning { .item }

    fileprivate func isSame(as other: any DaemonAnswer) -> Bool { other as? Self == self }
}

/// What an answer means for its request, in the journal and for a user who interrupts it.
package enum AnswerMeaning: Sendable {
    /// One of several that report something. After an interruption it is not shown.
    case item
    /// One of several that report what was changed already, so it is shown in any case.
    case change
    /// One of several that a touch released. After an interruption it is withheld.
    case release
    /// Ends the request, which was carried out.
    case end
}

/// A `DaemonAnswer` of any type.
package struct OwnAnswer: Equatable, Sendable {
    /// The answer itself.
    package let content: any DaemonAnswer

    private static let byKind = Dictionary(
        Listed.answers.map { ($0.kind.rawValue, $0) }, uniquingKeysWith: { first, _ in first })

    /// All kinds: that of every `DaemonAnswer` of this target, see `Plugins/Listing`.
    static let kinds = Listed.answers.map { $0.kind }

    init(_ content: any DaemonAnswer) { self.content = content }

    /// Reads the fields of the answer that has the frame's kind; throws if there is none.
    init(from frame: inout FrameReader) throws(WireFault) {
        guard let type = Self.byKind[frame.kind] else { throw .unknownKind }
        content = try type.init(from: &frame)
    }

    /// The kind of the answer.
    package var kind: AnswerKind { type(of: content).kind }
    /// What the answer means for its request.
    package var meaning: AnswerMeaning { type(of: content).meaning }

    /// Whether both are of the same type and have the same fields.
    package static func == (one: OwnAnswer, other: OwnAnswer) -> Bool {
        one.content.isSame(as: other.content)
    }
}

extension Answer {
    /// Makes an answer of one that belongs to a family of requests.
    package static func of(_ content: any DaemonAnswer) -> Answer { .own(OwnAnswer(content)) }

    /// Returns the answer if it is of this type; nil for any other.
    package func own<Own: DaemonAnswer>(_ type: Own.Type = Own.self) -> Own? {
        if case .own(let answer) = self { answer.content as? Own } else { nil }
    }
}
