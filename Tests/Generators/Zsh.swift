// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax

/// The completion for zsh.
package func zshCompletion(of program: ProgramSyntax) -> String {
    ZshScript(model: CompletionModel(program: program)).text
}

private struct ZshScript {
    let model: CompletionModel

    private var name: String { "_\(model.function)" }

    var text: String {
        """
        #compdef \(model.program.name)
        # SPDX-License-Identifier: Apache-2.0
        # Completion of \(model.program.name) for zsh; found through fpath.
        # Written by 'make generated' from the declarations of the commands: do not edit it.
        #
        # What the program answers goes to compadd as it is, which quotes it; it is never evaluated.
        # Nothing here asks for a password or a touch.

        \(model.asksProgram ? strings : "")# The words that may follow the beginning of a command's name, in `items`.
        \(name)_next() {
            items=()
            case $1 in
        \(next)
            esac
        }

        \(name)() {
            local word at= selector= choice= previous=
            local -a account operands items described
            local -A about=(
        \(summaries)
            )
            integer index

            # What the words before the cursor select.
            for ((index = 2; index < CURRENT; index++)); do
                word=${(Q)words[index]}
                case $word in
                    (--account) account=("--account=${(Q)words[index + 1]}") ;;
                    (--account=*) account=("$word") ;;
                esac
                case "$at:${word%%=*}" in
        \(arm(model.selectors, "selector=${word%%=*}", depth: 3))        esac
                case $word in
        \(arm(model.valueOptions, "((index += 1))", depth: 3))            (-*) ;;
                    (*)
                        \(name)_next "$at"
                        if (($#operands == 0 && ${items[(I)${(b)word}(|:*)]})); then
                            at+=${at:+ }$word
                        else
                            operands+=("$word")
                        fi
                        ;;
                esac
            done
            case "$at:${operands[1]-}" in
        \(arm(model.words, "choice=$operands[1]; shift operands", depth: 2))    esac

            previous=${words[CURRENT-1]}
            case $PREFIX in
        \(arm(model.valueOptions.map { $0 + "=*" }, "previous=${PREFIX%%=*}; compset -P '*='", depth: 2, quoted: false))    esac
            case "$at:$previous" in
        \(values)
            esac

            if [[ $PREFIX == -* ]]; then
                case $at in
        \(options)
                esac
                for word in $items; do
                    described+=("$word:${about[$at:$word]-$about[$word]}")
                done
                _describe -o -t options option described
                return
            fi
            if (($#operands == 0)) && [[ -z $choice ]]; then
                \(name)_next "$at"
                (($#items)) && _describe -t commands command items
            fi
            case "$at|$selector|$choice|$#operands" in
        \(operands)
            esac
        }

        \(name) "$@"

        """
    }

    private func arm(
        _ patterns: [String], _ body: String, depth: Int, quoted: Bool = true
    ) -> String {
        guard !patterns.isEmpty else { return "" }
        let words = quoted ? patterns.map(\.shellWord) : patterns
        let indent = String(repeating: "    ", count: depth)
        return words.map { "\(indent)(\($0)) \(body) ;;\n" }.joined()
    }

    private func quote(_ name: String) -> String { name.isEmpty ? "''" : name.shellWord }

    private func item(_ word: String, _ summary: String) -> String {
        let described = summary.isEmpty ? "" : ":\(summary)"
        return (word.replacing(":", with: "\\:") + described).shellWord
    }

    private var next: String {
        model.beginnings.filter { !$0.next.isEmpty }.map { beginning in
            let items = beginning.next.map { "            \(item($0.word, $0.summary))" }
            return "        (\(quote(beginning.name))) items=(\n"
                + items.joined(separator: "\n") + "\n        ) ;;"
        }.joined(separator: "\n")
    }

    private var options: String {
        model.beginnings.map { beginning in
            wrapped(
                model.options(at: beginning.name).map(\.long),
                after: "            (\(quote(beginning.name))) items=(",
                indent: "                ", end: ") ;;")
        }.joined(separator: "\n")
    }

    /// What each option is for; where that depends on the command, its name stands in front.
    private var summaries: String {
        var order: [String] = []
        var told: [String: String] = [:]
        for beginning in model.beginnings {
            for option in model.options(at: beginning.name) {
                let summary = option.summary.english
                guard told[option.long] != summary else { continue }
                let key =
                    told[option.long] == nil ? option.long : "\(beginning.name):\(option.long)"
                order.append(key)
                told[key] = summary
            }
        }
        return order.map { "        \($0.shellWord) \((told[$0] ?? "").shellWord)" }
            .joined(separator: "\n")
    }

    private var values: String {
        model.values.flatMap { value -> [String] in
            let patterns =
                value.commands.map { $0.map { "\(quote($0)):\(value.option.long)" } }
                ?? ["*:\(value.option.long)"]
            let body = value.offer.map { "\(command(for: $0)); " } ?? ""
            return patterns.map { "        (\($0)) \(body)return ;;" }
        }.joined(separator: "\n")
    }

    private var operands: String {
        model.operands.map { place, offers in
            let fixed = "\(place.command)|\(place.selector)|\(place.word)|"
            let pattern = place.index.map { "'\(fixed)\($0)'" } ?? "'\(fixed)'*"
            return "        (\(pattern)) "
                + offers.map { command(for: $0) }.joined(separator: "; ") + " ;;"
        }.joined(separator: "\n")
    }

    private func command(for offer: Offer) -> String {
        switch offer {
        case .files: "_files"
        case .directories: "_directories"
        case .words(let words): "compadd -- " + words.map(\.shellWord).joined(separator: " ")
        case .accounts: "_users"
        case .commands:
            "\(name)_next \"${operands[*]}\"; (($#items)) && _describe -t commands command items"
        case .listed(let member, let command, let ofAccount):
            "\(name)_strings \(member) \(command)" + (ofAccount ? " $account" : "")
        }
    }

    private var strings: String {
        """
        # Offers the strings of one member of a command's JSON answer: MEMBER COMMAND…
        \(name)_strings() {
            local json value member=$1
            local -a values match mbegin mend
            shift
            # No answer means no candidates. A silent service costs two seconds at most.
            json=$(timeout 2 \(model.program.name) "$@" --json < /dev/null 2> /dev/null) || return 1
            while [[ $json =~ "\\"$member\\":\\"(([^\\"\\\\\\\\]|\\\\\\\\.)*)\\"" ]]; do
                value=$match[1]
                json=${json[MEND+1,-1]}
                # Control characters come as \\uXXXX; a name with one has to be typed.
                [[ $value == *\\\\u* ]] && continue
                value=${value//\\\\\\"/\\"}
                values+=("${value//\\\\\\\\/\\\\}")
            done
            compadd -a values
        }


        """
    }
}
