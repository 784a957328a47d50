# SPDX-License-Identifier: Apache-2.0
# Completion of signet(1) for bash; loaded from share/bash-completion/completions.
#
# What the service tells (names of secrets, readers, fingers) is data: it is never evaluated, and is
# quoted before it is put on the line. Nothing here asks for a password or a touch.

# The lines of JSON documents' strings of one name, unescaped: _signet_strings MEMBER COMMAND…
_signet_strings() {
    local member=$1 json value
    local string="\"$member\":\"(([^\"\\\\]|\\\\.)*)\""
    shift
    # No answer is no candidate. A service that does not answer holds nobody up for longer.
    json=$(timeout 2 signet "$@" --json < /dev/null 2> /dev/null) || return 0
    while [[ $json =~ $string ]]; do
        value=${BASH_REMATCH[1]}
        json=${json#*"${BASH_REMATCH[0]}"}
        # Controls come as \uXXXX; a name with one is left to be typed.
        [[ $value == *\\u* ]] && continue
        value=${value//\\\"/\"}
        printf '%s\n' "${value//\\\\/\\}"
    done
}

# Keeps the lines of standard input that begin as the word does, quoted as the word is.
_signet_offer() {
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
    # Readline replaces only what stands behind the last colon or equals sign.
    local head=${1%"${1##*[:=]}"} index
    [[ -z $quote && $COMP_WORDBREAKS == *:* && -n $head ]] || return 0
    for index in "${!COMPREPLY[@]}"; do
        COMPREPLY[index]=${COMPREPLY[index]#"$head"}
    done
}

# The words on the line, with what readline breaks at colons and equals signs put together again.
_signet_words() {
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

_signet() {
    local words cur previous command account=() index fingers options commands
    COMPREPLY=()
    _signet_words
    cur=${words[-1]}
    previous=${words[-2]-}
    commands=(status enroll list delete verify enable disable unlock readers vault log config doctor
        import-fprintd notify login sign operations mac-token secret help)
    fingers=(left-thumb left-index left-middle left-ring left-little right-thumb right-index
        right-middle right-ring right-little)

    if ((${#words[@]} == 2)); then
        _signet_offer "$cur" < <(printf '%s\n' "${commands[@]}" --help --version)
        return
    fi
    command=${words[1]}
    local first=2
    if [[ $command == secret ]]; then
        if ((${#words[@]} == 3)); then
            _signet_offer "$cur" < <(printf '%s\n' set get list delete --help)
            return
        fi
        command="secret ${words[2]}"
        first=3
    fi

    # Whose: for what the service is asked.
    for ((index = first; index < ${#words[@]} - 1; index++)); do
        case ${words[index]} in
            --account) account=("--account=${words[index + 1]}") ;;
            --account=*) account=("${words[index]}") ;;
        esac
    done

    case $cur in
        --account=*) previous=--account cur=${cur#*=} ;;
        --reader=*) previous=--reader cur=${cur#*=} ;;
        --to=*) previous=--to cur=${cur#*=} ;;
        --server=*) previous=--server cur=${cur#*=} ;;
        --body=*) previous=--body cur=${cur#*=} ;;
        --request=*) previous=--request cur=${cur#*=} ;;
        --secret=*) previous=--secret cur=${cur#*=} ;;
    esac
    case $previous in
        --account)
            _signet_offer "$cur" < <(compgen -u)
            return
            ;;
        --reader)
            _signet_offer "$cur" < <(_signet_strings id readers)
            return
            ;;
        --to)
            compopt -o dirnames 2> /dev/null
            return
            ;;
        --body)
            compopt -o default 2> /dev/null
            return
            ;;
        --request)
            _signet_offer "$cur" < <(printf '%s\n' GET POST PUT PATCH DELETE)
            return
            ;;
        --secret)
            _signet_offer "$cur" < <(_signet_strings name secret list "${account[@]}")
            return
            ;;
        --export | --server | --challenge | --audience | --reason) return ;;
    esac

    case $command in
        verify) options=(--account --reason --json) ;;
        status | list | 'secret list' | 'secret delete') options=(--account --json) ;;
        enroll) options=(--account --reader --password-stdin --json) ;;
        delete) options=(--account --all --password-stdin --json) ;;
        enable)
            options=(--account --server --signing --keyring --no-keyring --password-stdin --json)
            ;;
        disable) options=(--account --server --signing --password-stdin --json) ;;
        login) options=(--account --secret --replace --json) ;;
        sign)
            options=(--account --challenge --audience --request --body --server --public-key
                --force --json)
            ;;
        operations) options=(--account --server --json) ;;
        mac-token) options=(--account --server --body --json) ;;
        unlock | vault | import-fprintd) options=(--account --password-stdin --json) ;;
        log) options=(--account --verify --export --to --signers --json) ;;
        config) options=(--check --json) ;;
        'secret set') options=(--account --replace --json) ;;
        'secret get') options=(--account --no-newline --force) ;;
        readers) options=(--watch --prints --delete-foreign --clear --reader --force --json) ;;
        doctor | help) options=(--json) ;;
        notify) options=() ;;
        *) return ;;
    esac
    if [[ $cur == -* ]]; then
        _signet_offer "$cur" < <(printf '%s\n' "${options[@]}" --help)
        return
    fi

    case $command in
        enroll) _signet_offer "$cur" < <(printf '%s\n' "${fingers[@]}") ;;
        delete) _signet_offer "$cur" < <(_signet_strings finger list "${account[@]}") ;;
        vault)
            if [[ $previous == migrate ]]; then
                _signet_offer "$cur" < <(printf '%s\n' tpm file)
            else
                _signet_offer "$cur" < <(printf '%s\n' migrate trust)
            fi
            ;;
        sign)
            case " ${words[*]} " in
                *' --challenge'* | *' --request'* | *' --public-key '*) ;;
                *) compopt -o default 2> /dev/null ;;
            esac
            ;;
        # No ids: to list them may take a touch.
        operations)
            [[ $previous == operations ]] \
                && _signet_offer "$cur" < <(printf '%s\n' list show approve reject watch)
            ;;
        mac-token)
            case $previous in
                mac-token) _signet_offer "$cur" < <(printf '%s\n' add list remove header) ;;
                remove | header)
                    _signet_offer "$cur" < <(_signet_strings name mac-token list "${account[@]}")
                    ;;
            esac
            ;;
        config) [[ " ${words[*]} " == *' --check '* ]] && compopt -o default 2> /dev/null ;;
        'secret set' | 'secret get' | 'secret delete')
            _signet_offer "$cur" < <(_signet_strings name secret list "${account[@]}")
            ;;
        help)
            if [[ $previous == secret ]]; then
                _signet_offer "$cur" < <(printf '%s\n' set get list delete)
            else
                _signet_offer "$cur" < <(printf '%s\n' "${commands[@]}")
            fi
            ;;
    esac
}

complete -F _signet signet
