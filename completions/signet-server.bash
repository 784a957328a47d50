# SPDX-License-Identifier: Apache-2.0
# Completion of signet-server(8) for bash; loaded from share/bash-completion/completions.
#
# Commands and options are those that the program itself shows: nothing here falls behind it, and
# nothing of the database is asked for.

_signet_server() {
    local word=${COMP_WORDS[COMP_CWORD]} typed= line rest index known=0
    local -a offers=() options=()
    if ((COMP_CWORD == 1)); then
        offers=(admin --config --version --help)
    elif [[ ${COMP_WORDS[COMP_CWORD - 1]} == --config ]]; then
        compopt -o default 2> /dev/null
        return
    elif [[ ${COMP_WORDS[1]} == admin ]]; then
        offers=(--config --json --help)
        for ((index = 2; index < COMP_CWORD; index++)); do
            [[ ${COMP_WORDS[index]} == -* ]] || typed+="${COMP_WORDS[index]} "
        done
        # A line of a command: two blanks, its words in lower case, operands, [--option VALUE]….
        while IFS= read -r line; do
            [[ $line =~ ^'  '(([a-z-]+ ?)+) ]] || continue
            rest=${BASH_REMATCH[1]% }' '
            if [[ $rest == "$typed"?* ]]; then
                rest=${rest#"$typed"}
                offers+=("${rest%% *}")
            elif [[ $typed == "$rest"* ]] && ((${#rest} > known)); then
                # Of 'audit' and 'audit prune', the longer one is meant.
                known=${#rest} options=()
                while [[ $line =~ \[(--[a-z-]+) ]]; do
                    options+=("${BASH_REMATCH[1]}")
                    line=${line#*"${BASH_REMATCH[0]}"}
                done
            fi
        done < <(signet-server admin --help 2> /dev/null < /dev/null)
        offers+=("${options[@]}")
    fi
    mapfile -t COMPREPLY < <(compgen -W "${offers[*]}" -- "$word" | sort -u)
}

complete -F _signet_server signet-server
