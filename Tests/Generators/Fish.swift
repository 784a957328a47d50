// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax

/// The completion for fish.
package func fishCompletion(of program: ProgramSyntax) -> String {
    FishScript(model: CompletionModel(program: program)).text
}

private struct FishScript {
    let model: CompletionModel

    private var name: String { "__\(model.function)" }
    private var complete: String { "complete -c \(model.program.name)" }

    var text: String {
        let lines = ["\(complete) -f"] + commands + options + operands
        return """
            # SPDX-License-Identifier: Apache-2.0
            # Completion of \(model.program.name) for fish; found in share/fish/vendor_completions.d.
            # Written by 'make generated' from the declarations of the commands: do not edit it.
            #
            # What the program answers is printed as it is, one per line, and fish quotes it; it is never
            # evaluated. Nothing here asks for a password or a touch.

            # The words that may follow the beginning of a command's name.
            function \(name)_next
                switch "$argv"
            \(next)
                end
            end

            # What the words before the cursor select, in global variables: command, the option and the
            # word that select a form, operands, and the account that is named.
            function \(name)_read
                set -l words (commandline -opc)
                test "$\(name)_line" = "$words"; and return
                set -g \(name)_line "$words"
                set -g \(name)_at
                set -g \(name)_selector
                set -g \(name)_choice
                set -g \(name)_operands
                set -g \(name)_account
                set -l isValue
                for word in $words[2..]
                    if test -n "$isValue"
                        test $isValue = --account; and set -g \(name)_account --account=$word
                        set isValue
                        continue
                    end
                    string match -q -- '--account=*' $word; and set -g \(name)_account $word
                    switch "$\(name)_at:"(string replace -r '=.*' '' -- $word)
            \(arm(model.selectors, "set -g \(name)_selector (string replace -r '=.*' '' -- $word)", depth: 3))        end
                    switch $word
            \(arm(model.valueOptions, "set isValue $word", depth: 3))            case '-*'
                        case '*'
                            if test (count $\(name)_operands) = 0; and contains -- $word (\(name)_next $\(name)_at)
                                set -g \(name)_at (string trim "$\(name)_at $word")
                            else
                                set -ga \(name)_operands $word
                            end
                    end
                end
                switch "$\(name)_at:$\(name)_operands[1]"
            \(arm(model.words, "set -g \(name)_choice $\(name)_operands[1]\n            set -e \(name)_operands[1]", depth: 2))    end
            end

            # Whether the line's command is one of these.
            function \(name)_is
                \(name)_read
                contains -- "$\(name)_at" $argv
            end

            # Whether the next word may belong to the command's name, behind this beginning.
            function \(name)_begins
                \(name)_is "$argv"; and test -z "$\(name)_choice" -a (count $\(name)_operands) = 0
            end

            # Whether the next word is the operand at this place.
            function \(name)_operand
                \(name)_read
                string match -q -- $argv[1] "$\(name)_at|$\(name)_selector|$\(name)_choice|"(count $\(name)_operands)
            end

            \(model.asksProgram ? strings : "")\(lines.joined(separator: "\n"))

            """
    }

    private func arm(_ patterns: [String], _ body: String, depth: Int) -> String {
        guard !patterns.isEmpty else { return "" }
        let indent = String(repeating: "    ", count: depth)
        return wrapped(
            patterns.map(quote), after: "\(indent)case ", indent: indent + "    ", end: ""
        ).replacing("\n", with: " \\\n") + "\n\(indent)    \(body)\n"
    }

    private func quote(_ word: String) -> String {
        "'" + word.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
    }

    private func condition(_ function: String, _ arguments: [String]) -> String {
        let words = arguments.map {
            $0.isEmpty || $0.contains(" ") || $0.contains("|") ? "\"\($0)\"" : $0
        }
        return "-n " + quote("\(name)_\(function) " + words.joined(separator: " "))
    }

    private var next: String {
        model.beginnings.filter { !$0.next.isEmpty }.map { beginning in
            "        case \(quote(beginning.name))\n"
                + wrapped(
                    beginning.next.map(\.word), after: "            printf '%s\\n' ",
                    indent: "                ", end: ""
                ).replacing("\n", with: " \\\n")
        }.joined(separator: "\n")
    }

    private var commands: [String] {
        model.beginnings.flatMap { beginning in
            beginning.next.map { item in
                "\(complete) \(condition("begins", [beginning.name])) -a \(item.word) -d \(quote(item.summary))"
            }
        }
    }

    /// One line for each option of several commands that is the same in all of them.
    private var options: [String] {
        var order: [String] = []
        var commands: [String: [String]] = [:]
        for beginning in model.beginnings {
            for option in model.options(at: beginning.name) {
                let line = line(option)
                if commands[line] == nil { order.append(line) }
                commands[line, default: []].append(beginning.name)
            }
        }
        return order.map { "\(complete) \(condition("is", commands[$0] ?? [])) \($0)" }
    }

    private func line(_ option: OptionSyntax) -> String {
        var line = option.short.map { "-s \($0) " } ?? ""
        line += "-l \(option.name)"
        if let value = option.value {
            switch Offer(value, in: model.program) {
            case .files?: line += " -r -F"
            case let offer?: line += " -x -a \(source(of: offer))"
            case nil: line += " -x"
            }
        }
        return line + " -d \(quote(option.summary.english))"
    }

    private var operands: [String] {
        model.operands.flatMap { place, offers in
            offers.map { offer in
                let start = "\(complete) \(condition("operand", [place.key]))"
                return offer == .files ? "\(start) -F" : "\(start) -a \(source(of: offer))"
            }
        }
    }

    private func source(of offer: Offer) -> String {
        switch offer {
        case .files: "''"
        case .directories: "'(__fish_complete_directories)'"
        case .words(let words): quote(words.joined(separator: " "))
        case .accounts: "'(__fish_complete_users)'"
        case .commands: "'(\(name)_next $\(name)_operands)'"
        case .listed(let member, let command, let ofAccount):
            "'(\(name)_strings \(member) \(command)\(ofAccount ? " $\(name)_account" : ""))'"
        }
    }

    private var strings: String {
        """
        # Prints the strings of one member of a command's JSON answer: MEMBER COMMAND…
        function \(name)_strings
            # No answer means no candidates. A silent service costs two seconds at most.
            # Control characters come as \\uXXXX; a name with one has to be typed.
            command timeout 2 \(model.program.name) $argv[2..] --json </dev/null 2>/dev/null \\
                | string match -ra --groups-only '"'$argv[1]'":"((?:[^"\\\\\\\\]|\\\\\\\\.)*)"' \\
                | string match -rv '\\\\\\\\u' \\
                | string replace -a '\\\\"' '"' \\
                | string replace -a '\\\\\\\\' '\\\\'
        end


        """
    }
}
