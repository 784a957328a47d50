// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol
import SignedFormats

/// What a change of an account's fingers will do to something that opens only to them: sent before
/// the password is asked for, one answer for each thing that the user should know of.
///
/// `holding` names the kind of thing, in a word of its own that only its feature and its command know.
package struct ChangeEffectAnswer: DaemonAnswer {
    package static let kind = AnswerKind(163, name: "changeEffect")

    /// The word for the kind of thing.
    package let holding: Bytes
    /// Which of that kind; nil if there is one only, or if they are counted.
    package let subject: Bytes?
    /// What depends on it and shares its fate, such as a MAC token; nil for itself.
    package let name: Bytes?
    /// How many of that kind; nil for one that has a subject.
    package let count: UInt32?
    /// Whether it can be used with the fingers after the change; otherwise the change ends it.
    package let stays: Bool

    /// Creates an answer; set only the fields that apply.
    package init(
        _ holding: StaticString, subject: Bytes? = nil, name: Bytes? = nil, count: UInt32? = nil,
        stays: Bool = false
    ) {
        self.holding = holding.bytes
        self.subject = subject
        self.name = name
        self.count = count
        self.stays = stays
    }
}

extension ChangeEffectAnswer {
    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.count, numberIfPresent: count)
        try frame.put(.subject, ifPresent: subject)
        try frame.put(.done, flagIfPresent: stays ? true : nil)
        try frame.put(.name, ifPresent: name)
        try frame.put(.holding, holding)
    }

    package init(from frame: inout FrameReader) throws(WireFault) {
        count = try frame.numberIfPresent(.count)
        subject = try frame.bytesIfPresent(.subject)
        stays = try frame.flagIfPresent(.done) ?? false
        name = try frame.bytesIfPresent(.name)
        holding = try frame.bytes(.holding)
    }
}

/// The end of what is said before a change of fingers: after the account's `print`s and every
/// `changeEffect`, and before the password is asked for or a finger is.
///
/// What was said is what happens: if it is no longer true when the change takes effect, the request
/// is refused with `changedMeanwhile`.
package struct ChangeForecastAnswer: DaemonAnswer {
    package static let kind = AnswerKind(164, name: "changeForecast")

    /// The finger that will be enrolled; nil for every other change.
    package let finger: Finger?
    /// Another kind of reader that the finger's present print was made on, where it will not work any
    /// more, and the one on which it will; nil if there is none.
    package let move: ReaderMove?

    /// From which reader a finger moves to which, by their ids.
    package struct ReaderMove: Equatable, Sendable {
        package let old: Bytes
        package let new: Bytes

        /// Creates it from both.
        package init(from old: Bytes, to new: Bytes) { (self.old, self.new) = (old, new) }
    }

    /// Creates an answer.
    package init(finger: Finger? = nil, move: ReaderMove? = nil) {
        self.finger = finger
        self.move = move
    }
}

extension ChangeForecastAnswer {
    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.finger, numberIfPresent: finger?.rawValue)
        try frame.put(.readerID, ifPresent: move?.new)
        try frame.put(.subject, ifPresent: move?.old)
    }

    package init(from frame: inout FrameReader) throws(WireFault) {
        finger = try frame.choiceIfPresent(.finger)
        guard let new = try frame.bytesIfPresent(.readerID) else {
            move = nil
            return
        }
        move = ReaderMove(from: try frame.bytes(.subject), to: new)
    }
}

extension Field {
    package static var holding: Field { Field(224, size: 1...32) }
}
