// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax

/// The completion for bash.
package func bashCompletion(of program: ProgramSyntax) -> String {
    BashScript(model: CompletionModel(program: program)).text
}

private struct BashScript {
    let model: CompletionModel

    private var name: String { "_\(model.function)" }

    var text: String {
        let program = model.program.name
        let asking = model.asksProgram ? strings : ""
        return """
            # SPDX-License-Identifier: Apache-2.0
            # Completion of \(program) for bash; loaded from share/bash-completion/completions.
            # Written by 'make generated' from the declarations of the commands: do not edit it.
            #
            # What the program answers is data: it is never evaluated, and is quoted before it is put
            # on the line. Nothing here asks for a password or a touch.

            \(asking)\(helpers)
            # The words that may follow the beginning of a command's name, one per line.
            \(name)_next() {
                case $1 in
            \(next)
                esac
            }

            \(name)() {
                local words cur previous word at= selector= choice= index
                local -a account=() operands=() options=()
                COMPREPLY=()
                \(name)_words
                cur=${words[-1]}
                previous=${words[-2]-}

                # What the words before the cursor select.
                for ((index = 1; index < ${#words[@]} - 1; index++)); do
                    word=${words[index]}
                    case $word in
                        --account) account=("--account=${words[index + 1]}") ;;
                        --account=*) account=("$word") ;;
                    esac
                    case $at:${word%%=*} in
            \(arm(model.selectors, "selector=${word%%=*}", depth: 3))        esac
                    case $word in
            \(arm(model.valueOptions, "((index += 1))", depth: 3))            -*) ;;
                        *)
                            if ((${#operands[@]} == 0)) \\
                                && [[ $'\\n'$(\(name)_next "$at")$'\\n' == *$'\\n'"$word"$'\\n'* ]]; then
                                at+=${at:+ }$word
                            else
                                operands+=("$word")
                            fi
                            ;;
                    esac
                done
                case $at:${operands[0]-} in
            \(arm(model.words, "choice=${operands[0]} operands=(\"${operands[@]:1}\")", depth: 2))    esac

                case $cur in
            \(arm(model.valueOptions.map { $0 + "=*" }, "previous=${cur%%=*} cur=${cur#*=}", depth: 2, quoted: false))    esac
                case $at:$previous in
            \(values)
                esac

                if [[ $cur == -* ]]; then
                    case $at in
            \(options)
                    esac
                    \(name)_offer "$cur" < <(printf '%s\\n' "${options[@]}")
                    return
                fi
                ((${#operands[@]} > 0)) || [[ -n $choice ]] || \(name)_offer "$cur" < <(\(name)_next "$at")
                case "$at|$selector|$choice|${#operands[@]}" in
            \(operands)
                esac
            }

            complete -F \(name) \(program)

            """
    }

    /// An arm of a case, or nothing if there is no pattern.
    private func arm(
        _ patterns: [String], _ body: String, depth: Int, quoted: Bool = true
    ) -> String {
        guard !patterns.isEmpty else { return "" }
        let words = quoted ? patterns.map(\.shellWord) : patterns
        var lines = ""
        let indent = String(repeating: "    ", count: depth)
        var line = indent
        for (index, word) in words.enumerated() {
            let piece = word + (index == words.count - 1 ? ")" : " | ")
            if line.count + piece.count > 96 {
                lines += line + "\\\n"
                line = indent + "    "
            }
            line += piece
        }
        return lines + line + " \(body) ;;\n"
    }

    private var next: String {
        model.beginnings.filter { !$0.next.isEmpty }.map { beginning in
            wrapped(
                beginning.next.map(\.word),
                after: "        \(quote(beginning.name))) printf '%s\\n' ", indent: "            ",
                end: " ;;"
            ).replacing("\n", with: " \\\n")
        }.joined(separator: "\n")
    }

    private var options: String {
        model.beginnings.map { beginning in
            wrapped(
                model.options(at: beginning.name).map(\.long),
                after: "            \(quote(beginning.name))) options=(",
                indent: "                ", end: ") ;;")
        }.joined(separator: "\n")
    }

    private var values: String {
        let silent = model.values.filter { $0.offer == nil }
        var lines = model.values.compactMap { value -> String? in
            guard let offer = value.offer else { return nil }
            let patterns =
                value.commands.map { $0.map { "\(quote($0)):\(value.option.long)" } }
                ?? ["*:\(value.option.long)"]
            return """
                        \(patterns.joined(separator: " | ")))
                            \(command(for: offer))
                            return
                            ;;
                """
        }
        if !silent.isEmpty {
            lines.append(
                wrapped(
                    silent.map { "*:\($0.option.long)" }.joined(separator: " | ")
                        .split(separator: " ").map(String.init), after: "        ",
                    indent: "        ", end: ") return ;;"
                ).replacing("\n", with: " \\\n"))
        }
        return lines.joined(separator: "\n")
    }

    private var operands: String {
        model.operands.map { place, offers in
            let fixed = "\(place.command)|\(place.selector)|\(place.word)|"
            let pattern = place.index.map { "'\(fixed)\($0)'" } ?? "'\(fixed)'*"
            let body = offers.map { command(for: $0) }.joined(separator: "\n            ")
            return "        \(pattern)) \(body) ;;"
        }.joined(separator: "\n")
    }

    private func quote(_ name: String) -> String { name.isEmpty ? "''" : name.shellWord }

    /// What puts an offer into the reply.
    private func command(for offer: Offer) -> String {
        let source: String
        switch offer {
        case .files: return "compopt -o default 2> /dev/null"
        case .directories: return "compopt -o dirnames 2> /dev/null"
        case .words(let words):
            source = "printf '%s\\n' " + words.map(\.shellWord).joined(separator: " ")
        case .accounts: source = "compgen -u"
        case .commands: source = "\(name)_next \"${operands[*]}\""
        case .listed(let member, let command, let ofAccount):
            source =
                "\(name)_strings \(member) \(command)" + (ofAccount ? " \"${account[@]}\"" : "")
        }
        return "\(name)_offer \"$cur\" < <(\(source))"
    }

    private var strings: String {
        """
        # Prints the strings of one member of a command's JSON answer, unescaped: MEMBER COMMAND…
        \(name)_strings() {
            local member=$1 json value
            local string="\\"$member\\":\\"(([^\\"\\\\\\\\]|\\\\\\\\.)*)\\""
            shift
            # No answer means no candidates. A silent service costs two seconds at most.
            json=$(timeout 2 \(model.program.name) "$@" --json < /dev/null 2> /dev/null) || return 0
            while [[ $json =~ $string ]]; do
                value=${BASH_REMATCH[1]}
                json=${json#*"${BASH_REMATCH[0]}"}
                # Control characters come as \\uXXXX; a name with one has to be typed.
                [[ $value == *\\\\u* ]] && continue
                value=${value//\\\\\\"/\\"}
                printf '%s\\n' "${value//\\\\\\\\/\\\\}"
            done
        }


        """
    }

    private var helpers: String {
        #"""
        # Keeps the lines of standard input that begin as the word does, quoted as the word is.
        NAME_offer() {
            local word=$1 quote= line
            case $word in
                \"* | \'*) quote=${word:0:1} word=${word:1} ;;
            esac
            # What was typed, without its own quoting.
            [[ $quote == \' ]] || word=${word//\\/}
            while IFS= read -r line; do
                [[ $line == "$word"* ]] || continue
                case $quote in
                    \") line=${line//\\/\\\\} line=${line//\"/\\\"} line=${line//\$/\\\$}
                        line=${line//\`/\\\`} ;;
                    \') line=${line//\'/\'\\\'\'} ;;
                    *) printf -v line %q "$line" ;;
                esac
                COMPREPLY+=("$line")
            done
            # Readline replaces only what follows the last colon or equals sign.
            local head=${1%"${1##*[:=]}"} index
            [[ -z $quote && $COMP_WORDBREAKS == *:* && -n $head ]] || return 0
            for index in "${!COMPREPLY[@]}"; do
                COMPREPLY[index]=${COMPREPLY[index]#"$head"}
            done
        }

        # The words on the line, with what readline breaks at colons and equals signs put together again.
        NAME_words() {
            local index word glue=
            words=()
            for ((index = 0; index <= COMP_CWORD; index++)); do
                word=${COMP_WORDS[index]}
                if [[ -n $glue || $word == [:=]* ]] && ((${#words[@]} > 1)) \
                    && [[ $COMP_LINE == *"${words[-1]}$word"* ]]; then
                    words[-1]+=$word
                else
                    words+=("$word")
                fi
                [[ $word == *[:=] ]] && glue=1 || glue=
            done
        }

        """#.replacing("NAME", with: name)
    }
}
