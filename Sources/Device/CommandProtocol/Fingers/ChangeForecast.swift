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
    package let stays: Bool  // .done

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

/// The end of what is said before a change of fingers: after the account's `print`s and every
/// `changeEffect`, and before the password is asked for or a finger is.
///
/// What was said is what happens: if it is no longer true when the change takes effect, the request
/// is refused with `changedMeanwhile`.
package struct ChangeForecastAnswer: DaemonAnswer {
    package static let kind = AnswerKind(164, name: "changeForecast")

    /// The finger that will be enrolled; nil for every other change.
    package var finger: Finger? = nil
    /// Another kind of reader that the finger's present print was made on, where it will not work any
    /// more, and the one on which it will; nil if there is none.
    package var move: ReaderMove? = nil
}

/// From which reader a finger moves to which, by their ids.
package struct ReaderMove: FrameContent {
    package let old: Bytes  // .subject
    package let new: Bytes  // .readerID
}

extension Field {
    package static var holding: Field { Field(224, size: 1...32) }
}
