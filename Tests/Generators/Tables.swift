// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax

/// The tables of a program's commands and of their options, in Markdown.
package func commandTables(of program: ProgramSyntax) -> [String] {
    let commands = program.commands.filter { !$0.name.isEmpty }
    var lines = ["| command | what it does |", "|---|---|"]
    for command in commands {
        let calls = command.synopses.map { parts in
            code(
                ([program.call(command.words)] + (parts.isEmpty ? [] : [parts.shown])).joined(
                    separator: " "))
        }
        lines.append(
            "| \(calls.joined(separator: "<br>")) | \(cell(command.summary.english))\(restriction(command)) |"
        )
    }
    lines += ["", "| option | of | what it does |", "|---|---|---|"]
    var order: [String] = []
    var users: [String: [String]] = [:]
    for command in commands {
        for option in command.allOptions.dropLast() + program.groupOptions(at: command.words) {
            let spelled = option.short.map { "-\($0), \(option.shown)" } ?? option.shown
            let key = "\(code(spelled))\n\(cell(option.summary.english))"
            if users[key] == nil { order.append(key) }
            users[key, default: []].append(command.name)
        }
    }
    for key in order.sorted() {
        let parts = key.split(separator: "\n")
        let names = users[key] ?? []
        let isOfMost = names.count * 3 > commands.count * 2
        let missing = commands.map(\.name).filter { !names.contains($0) }
        let named =
            isOfMost
            ? missing.isEmpty ? "all" : "all but \(list(missing))" : list(names)
        lines.append("| \(parts[0]) | \(named) | \(parts[1]) |")
    }
    return lines
}

/// Which forms only root may call.
private func restriction(_ command: CommandSyntax) -> String {
    let labels = command.forms.filter(\.isForRoot).map(\.label)
    return labels.isEmpty ? "" : "; for root: \(list(labels))"
}

private func list(_ names: [String]) -> String { names.map(code).joined(separator: ", ") }

private func code(_ text: String) -> String { "`\(cell(text))`" }

private func cell(_ text: String) -> String { text.replacing("|", with: "\\|") }
