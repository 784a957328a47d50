// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax

/// The lines between the headings SYNOPSIS and DESCRIPTION of a program's manual page, in mdoc(7).
package func manualSynopsis(of program: ProgramSyntax) -> [String] {
    var lines = [#".\" Written by 'make generated' from the declarations: do not edit it."#]
    for command in program.commands {
        // Options of a group are told once, before its first command.
        for group in program.groups where program.first(in: group)?.name == command.name {
            guard !group.options.isEmpty else { continue }
            lines += [".Nm \(program.name)", ".Cm \(group.name)"]
            lines += macros(group.options.map { .optional($0.synopsis) }) + [".Ar COMMAND"]
        }
        for parts in command.synopses {
            lines.append(".Nm \(program.name)")
            if !command.name.isEmpty { lines.append(".Cm \(command.name)") }
            lines += macros(parts) + macros(command.commonSynopsis)
        }
    }
    if !program.commands.contains(where: { $0.name.isEmpty }) {
        lines += [".Nm \(program.name)", ".Ar COMMAND", ".Fl -help"]
    }
    return lines + [".Nm \(program.name)", ".Fl -version | Fl -help"]
}

extension ProgramSyntax {
    fileprivate func first(in group: GroupSyntax) -> CommandSyntax? {
        commands(below: group.name.split(separator: " ").map(String.init)).first
    }
}

/// A line for each part; an option stands in one with its value.
private func macros(_ parts: [SynopsisPart]) -> [String] {
    var lines: [String] = []
    for part in parts {
        if case .value = part, let last = lines.last, last.hasPrefix(".Fl "), !last.contains(" Ar ")
        {
            lines[lines.count - 1] += " " + inline(part, isLast: true)
        } else {
            lines.append("." + inline(part, isLast: true))
        }
    }
    return lines
}

private func inline(_ part: SynopsisPart, isLast: Bool) -> String {
    switch part {
    case .word(let word): "Cm \(word)"
    case .option(let option): "Fl \(option.dropFirst())"
    case .value(let name, let isRepeated): isRepeated ? "Ar \(name) ..." : "Ar \(name)"
    case .optional(let parts):
        isLast ? "Op \(inline(parts, isLast: true))" : "Oo \(inline(parts, isLast: false)) Oc"
    case .choice(let choices):
        choices.enumerated().map { index, parts in
            inline(parts, isLast: isLast && index == choices.count - 1)
        }.joined(separator: " | ")
    }
}

private func inline(_ parts: [SynopsisPart], isLast: Bool) -> String {
    parts.enumerated().map { inline($1, isLast: isLast && $0 == parts.count - 1) }
        .joined(separator: " ")
}
