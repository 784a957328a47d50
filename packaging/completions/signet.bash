# SPDX-License-Identifier: Apache-2.0
# Completion of signet for bash; loaded from share/bash-completion/completions.
# Written by 'make generated' from the declarations of the commands: do not edit it.
#
# What the program answers is data: it is never evaluated, and is quoted before it is put
# on the line. Nothing here asks for a password or a touch.

# Prints the strings of one member of a command's JSON answer, unescaped: MEMBER COMMAND…
_signet_strings() {
    local member=$1 json value
    local string="\"$member\":\"(([^\"\\\\]|\\\\.)*)\""
    shift
    # No answer means no candidates. A silent service costs two seconds at most.
    json=$(timeout 2 signet "$@" --json < /dev/null 2> /dev/null) || return 0
    while [[ $json =~ $string ]]; do
        value=${BASH_REMATCH[1]}
        json=${json#*"${BASH_REMATCH[0]}"}
        # Control characters come as \uXXXX; a name with one has to be typed.
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
    # Readline replaces only what follows the last colon or equals sign.
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

# The words that may follow the beginning of a command's name, one per line.
_signet_next() {
    case $1 in
        '') printf '%s\n' status enroll list delete verify enable disable unlock readers vault log \
            config doctor notify login sign operations sessions ssh mac-token import-fprintd \
            secret help ;;
        secret) printf '%s\n' set get list delete ;;
    esac
}

_signet() {
    local words cur previous word at= selector= choice= index
    local -a account=() operands=() options=()
    COMPREPLY=()
    _signet_words
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
            'delete:--all' | 'enable:--signing' | 'enable:--server' | 'enable:--keyring' | \
                'enable:--no-keyring' | 'disable:--signing' | 'disable:--server' | \
                'readers:--watch' | 'readers:--prints' | 'readers:--delete-foreign' | \
                'readers:--clear' | 'log:--verify' | 'log:--export' | 'log:--signers' | \
                'config:--check' | 'login:--secret' | 'sign:--challenge' | 'sign:--request' | \
                'sign:--public-key') selector=${word%%=*} ;;
        esac
        case $word in
            --account | --reader | --reason | --server | --name | --export | --to | --secret | \
                --challenge | --audience | --request | --body | --signatures | --seconds) ((index += 1)) ;;
            -*) ;;
            *)
                if ((${#operands[@]} == 0)) \
                    && [[ $'\n'$(_signet_next "$at")$'\n' == *$'\n'"$word"$'\n'* ]]; then
                    at+=${at:+ }$word
                else
                    operands+=("$word")
                fi
                ;;
        esac
    done
    case $at:${operands[0]-} in
        'vault:migrate' | 'vault:trust' | 'operations:list' | 'operations:show' | \
            'operations:approve' | 'operations:reject' | 'operations:watch' | 'sessions:list' | \
            'sessions:end' | 'ssh:list' | 'ssh:new' | 'ssh:public' | 'ssh:remove' | \
            'ssh:allow' | 'mac-token:add' | 'mac-token:list' | 'mac-token:remove' | \
            'mac-token:header') choice=${operands[0]} operands=("${operands[@]:1}") ;;
    esac

    case $cur in
        --account=* | --reader=* | --reason=* | --server=* | --name=* | --export=* | --to=* | \
            --secret=* | --challenge=* | --audience=* | --request=* | --body=* | \
            --signatures=* | --seconds=*) previous=${cur%%=*} cur=${cur#*=} ;;
    esac
    case $at:$previous in
        *:--account)
            _signet_offer "$cur" < <(compgen -u)
            return
            ;;
        *:--reader)
            _signet_offer "$cur" < <(_signet_strings id readers)
            return
            ;;
        *:--to)
            compopt -o dirnames 2> /dev/null
            return
            ;;
        *:--secret)
            _signet_offer "$cur" < <(_signet_strings name secret list "${account[@]}")
            return
            ;;
        *:--request)
            _signet_offer "$cur" < <(printf '%s\n' GET POST PUT PATCH DELETE)
            return
            ;;
        *:--body)
            compopt -o default 2> /dev/null
            return
            ;;
        *:--reason | *:--server | *:--name | *:--export | *:--challenge | *:--audience | \
        *:--signatures | *:--seconds) return ;;
    esac

    if [[ $cur == -* ]]; then
        case $at in
            '') options=(--version --help) ;;
            status) options=(--account --json --help) ;;
            enroll) options=(--account --reader --password-stdin --json --help) ;;
            list) options=(--account --json --help) ;;
            delete) options=(--all --account --password-stdin --json --help) ;;
            verify) options=(--account --reason --json --help) ;;
            enable) options=(--signing --server --name --password --password-key --keyring
                --no-keyring --account --password-stdin --json --help) ;;
            disable) options=(--signing --server --account --password-stdin --json --help) ;;
            unlock) options=(--account --password-stdin --json --help) ;;
            readers) options=(--watch --prints --delete-foreign --clear --force --reader --json
                --help) ;;
            vault) options=(--account --password-stdin --json --help) ;;
            log) options=(--verify --export --to --signers --account --json --help) ;;
            config) options=(--check --json --help) ;;
            doctor) options=(--json --help) ;;
            notify) options=(--help) ;;
            login) options=(--secret --replace --account --password --password-stdin --json --help) ;;
            sign) options=(--force --challenge --audience --request --body --server --public-key
                --account --json --help) ;;
            operations) options=(--account --server --password --password-stdin --json --help) ;;
            sessions) options=(--all --account --server --password --password-stdin --json --help) ;;
            ssh) options=(--account --json --agent --password-stdin --signatures --seconds --help) ;;
            mac-token) options=(--body --account --server --json --help) ;;
            import-fprintd) options=(--account --password-stdin --json --help) ;;
            secret) options=(--help) ;;
            'secret set') options=(--account --replace --json --help) ;;
            'secret get') options=(--account --no-newline --force --help) ;;
            'secret list') options=(--account --json --help) ;;
            'secret delete') options=(--account --json --help) ;;
            help) options=(--json --help) ;;
        esac
        _signet_offer "$cur" < <(printf '%s\n' "${options[@]}")
        return
    fi
    ((${#operands[@]} > 0)) || [[ -n $choice ]] || _signet_offer "$cur" < <(_signet_next "$at")
    case "$at|$selector|$choice|${#operands[@]}" in
        'enroll|||0') _signet_offer "$cur" < <(printf '%s\n' left-thumb left-index left-middle left-ring left-little right-thumb right-index right-middle right-ring right-little) ;;
        'delete|||0') _signet_offer "$cur" < <(_signet_strings finger list "${account[@]}") ;;
        'vault|||0') _signet_offer "$cur" < <(printf '%s\n' migrate trust) ;;
        'vault||migrate|0') _signet_offer "$cur" < <(printf '%s\n' tpm file) ;;
        'config|--check||'*) compopt -o default 2> /dev/null ;;
        'sign|||'*) compopt -o default 2> /dev/null ;;
        'operations|||0') _signet_offer "$cur" < <(printf '%s\n' list show approve reject watch) ;;
        'sessions|||0') _signet_offer "$cur" < <(printf '%s\n' list end) ;;
        'ssh|||0') _signet_offer "$cur" < <(printf '%s\n' list new public remove allow) ;;
        'ssh||public|0') _signet_offer "$cur" < <(_signet_strings name ssh list) ;;
        'ssh||remove|0') _signet_offer "$cur" < <(_signet_strings name ssh list) ;;
        'ssh||allow|0') _signet_offer "$cur" < <(_signet_strings name ssh list) ;;
        'mac-token|||0') _signet_offer "$cur" < <(printf '%s\n' add list remove header) ;;
        'mac-token||remove|0') _signet_offer "$cur" < <(_signet_strings name mac-token list "${account[@]}") ;;
        'mac-token||header|0') _signet_offer "$cur" < <(_signet_strings name mac-token list "${account[@]}") ;;
        'mac-token||header|1') _signet_offer "$cur" < <(printf '%s\n' GET POST PUT PATCH DELETE) ;;
        'secret set|||0') _signet_offer "$cur" < <(_signet_strings name secret list "${account[@]}") ;;
        'secret get|||0') _signet_offer "$cur" < <(_signet_strings name secret list "${account[@]}") ;;
        'secret delete|||0') _signet_offer "$cur" < <(_signet_strings name secret list "${account[@]}") ;;
        'help|||0') _signet_offer "$cur" < <(_signet_next "${operands[*]}") ;;
        'help|||1') _signet_offer "$cur" < <(_signet_next "${operands[*]}") ;;
    esac
}

complete -F _signet signet
