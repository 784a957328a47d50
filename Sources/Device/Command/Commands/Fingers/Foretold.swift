// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import JSONFormat
import LoginMessages
import LoginProtocol
import SignedFormats

/// What the daemon has said before a change of fingers, on the connection on which it makes the
/// change: it makes no other.
struct Foretold: Equatable {
    /// The fingers that a key will be sealed to, where that is the change.
    var prints: [PrintAnswer] = []
    /// What it will do to what is sealed to the fingers.
    var effects: [ChangeEffectAnswer] = []
    /// The finger that will be enrolled.
    var end = ChangeForecastAnswer()

    /// The warnings before the change.
    var warnings: [Text] { words { $0.warnings($1) } }

    /// The report after the change, about what `DoneAnswer` does not report.
    var ended: [Text] { words { $0.ended($1) } }

    /// The same as members of a JSON document.
    var members: [(String, JSON)] {
        Listed.effects.flatMap { kind in
            kind.members(effects.filter { $0.holding == kind.holding.bytes })
        }
    }

    private func words(
        _ words: (any EffectWords.Type, [ChangeEffectAnswer]) -> [Text]
    ) -> [Text] {
        var told: [Bytes] = []
        return effects.flatMap { effect -> [Text] in
            guard !told.contains(effect.holding),
                let kind = Listed.effects.first(where: { $0.holding.bytes == effect.holding })
            else { return [] }
            told.append(effect.holding)
            return words(kind, effects.filter { $0.holding == effect.holding })
        }
    }
}

/// How a command tells what a change of fingers does to one kind of what is sealed to them.
///
/// The build lists every type of this protocol.
protocol EffectWords: SendableMetatype {
    /// The daemon's word for the kind.
    static var holding: StaticString { get }
    /// The warnings before a change with these effects.
    static func warnings(_ effects: [ChangeEffectAnswer]) -> [Text]
    /// The report after it, unless `DoneAnswer` reports the kind.
    static func ended(_ effects: [ChangeEffectAnswer]) -> [Text]
    /// The report as members of a JSON document, likewise.
    static func members(_ effects: [ChangeEffectAnswer]) -> [(String, JSON)]
}

extension EffectWords {
    static func ended(_: [ChangeEffectAnswer]) -> [Text] { [] }

    static func members(_: [ChangeEffectAnswer]) -> [(String, JSON)] { [] }
}

/// Reads what the daemon foretells, which it does again for each password that is tried.
struct ForecastReading {
    private let told: ((Foretold) -> Void)?
    private var reading = Foretold()
    private var last: Foretold?

    /// Passes on each forecast that differs from the one before; nil expects none.
    init(_ told: ((Foretold) -> Void)?) { self.told = told }

    /// Takes a part of a forecast; returns false for any other answer, and if none is expected.
    mutating func take(_ answer: Answer) -> Bool {
        guard told != nil else { return false }
        if case .print(let print) = answer {
            reading.prints.append(print)
        } else if let effect = answer.own() as ChangeEffectAnswer? {
            reading.effects.append(effect)
        } else if let end = answer.own() as ChangeForecastAnswer? {
            reading.end = end
            pass()
        } else {
            return false
        }
        return true
    }

    /// Passes on the fingers that were told only after the change: those of a former account.
    mutating func end() {
        if !reading.prints.isEmpty { pass() }
    }

    private mutating func pass() {
        if reading != last { told?(reading) }
        last = reading
        reading = Foretold()
    }
}
