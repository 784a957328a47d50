// SPDX-License-Identifier: Apache-2.0

/// A part of a synopsis, which help and manual pages show in their own notation.
package indirect enum SynopsisPart: Equatable, Sendable {
    /// A word that is typed literally.
    case word(String)
    /// An option as typed, without its value.
    case option(String)
    /// A placeholder, and whether several values may take its place.
    case value(String, isRepeated: Bool)
    case optional([SynopsisPart])
    /// Alternatives, of which one is chosen.
    case choice([[SynopsisPart]])

    /// The part in the notation of the help: `[--export N --to DIRECTORY | --verify]`.
    package var shown: String {
        switch self {
        case .word(let word), .option(let word): word
        case .value(let name, let isRepeated): isRepeated ? "\(name)…" : name
        case .optional(let parts): "[\(parts.shown)]"
        case .choice(let choices): choices.map(\.shown).joined(separator: " | ")
        }
    }
}

extension [SynopsisPart] {
    /// The parts, separated by spaces.
    package var shown: String { map(\.shown).joined(separator: " ") }
}

extension CommandSyntax {
    /// The ways to call the command, without its name and the options of every form.
    ///
    /// Forms that fit into one line together are combined, with a bar between them.
    package var synopses: [[SynopsisPart]] {
        let parts = forms.map(\.synopsis)
        let isPlainThere = parts.contains([])
        let others = parts.filter { !$0.isEmpty }
        guard others.count > 1 || isPlainThere && !others.isEmpty else { return parts }
        let joined: [SynopsisPart] =
            isPlainThere ? [.optional([.choice(others)])] : [.choice(others)]
        return joined.shown.count <= 60 ? [joined] : parts
    }

    /// The options of every form, each as an optional part.
    package var commonSynopsis: [SynopsisPart] { options.map { .optional($0.synopsis) } }
}

extension OptionSyntax {
    package var synopsis: [SynopsisPart] {
        [.option(long)] + (value.map { [.value($0.name, isRepeated: false)] } ?? [])
    }
}

extension FormSyntax {
    var synopsis: [SynopsisPart] {
        let fixed = word.map { [SynopsisPart.word($0)] } ?? []
        let needed = required.flatMap(\.synopsis)
        let extra = options.map { SynopsisPart.optional($0.synopsis) }
        return fixed + needed + extra + operands.map(\.synopsis)
    }
}

extension OperandSyntax {
    fileprivate var synopsis: SynopsisPart {
        let value = SynopsisPart.value(self.value.name, isRepeated: maximum == .max)
        return minimum == 0 ? .optional([value]) : value
    }
}
