// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax

extension ProgramSyntax {
    /// What is wrong with the declaration; empty if it holds together.
    package var mistakes: [String] {
        var mistakes: [String] = []
        let names = commands.map(\.name)
        for name in Set(names) where names.count(where: { $0 == name }) > 1 {
            mistakes.append("two commands are called '\(name)'")
        }
        if summary.english.isEmpty { mistakes.append("\(name) has no summary") }
        for command in commands { mistakes += command.mistakes(in: self) }
        for group in groups {
            if commands(below: group.name.split(separator: " ").map(String.init)).isEmpty {
                mistakes.append("no command begins with '\(group.name)'")
            }
        }
        if let helpCommand, command([helpCommand]) == nil {
            mistakes.append("there is no command '\(helpCommand)'")
        }
        // The shells do not know which command an option belongs to.
        let options = commands.flatMap { self.options(of: $0) }
        for option in options
        where options.contains(where: {
            $0.name == option.name && ($0.value == nil) != (option.value == nil)
        }) {
            mistakes.append("\(option.long) takes a value in one command and none in another")
        }
        return mistakes
    }
}

extension CommandSyntax {
    fileprivate func mistakes(in program: ProgramSyntax) -> [String] {
        var mistakes: [String] = []
        let title = program.call(words)
        if summary.english.isEmpty || summary.english.contains("\n") {
            mistakes.append("\(title) has no summary of one line")
        }
        let all = program.options(of: self)
        for option in all where option.summary.english.isEmpty {
            mistakes.append("\(title) says nothing of \(option.long)")
        }
        let shared = options + program.groupOptions(at: words)
        for form in forms {
            let spellings = (form.required + form.options + shared + [.help]).flatMap(\.spellings)
            if Set(spellings).count != spellings.count {
                mistakes.append("\(title) has an option twice")
            }
            if form.word != nil, !form.required.isEmpty {
                mistakes.append("\(title) selects a form by a word and by an option")
            }
            // Otherwise it would not be known which operand a word is.
            let optional = form.operands.dropLast().filter { $0.minimum != $0.maximum }
            if !optional.isEmpty {
                mistakes.append("\(title) has an optional operand before another")
            }
        }
        let selectors = forms.compactMap { $0.selector?.long ?? $0.word }
        if Set(selectors).count != selectors.count {
            mistakes.append("\(title) has two forms that one word or option selects")
        }
        if forms.count - selectors.count > 1 {
            mistakes.append("\(title) has two forms that nothing selects")
        }
        return mistakes
    }
}
