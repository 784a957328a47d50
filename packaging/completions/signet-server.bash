# SPDX-License-Identifier: Apache-2.0
# Completion of signet-server for bash; loaded from share/bash-completion/completions.
# Written by 'make generated' from the declarations of the commands: do not edit it.
#
# What the program answers is data: it is never evaluated, and is quoted before it is put
# on the line. Nothing here asks for a password or a touch.

# Keeps the lines of standard input that begin as the word does, quoted as the word is.
_signet_server_offer() {
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
_signet_server_words() {
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
_signet_server_next() {
    case $1 in
        '') printf '%s\n' admin ;;
        admin) printf '%s\n' application callback key account activation registration template \
            signing-key audit migrate check-database check-config check-certificate after-restore ;;
        'admin application') printf '%s\n' add list set remove pam-file ;;
        'admin callback') printf '%s\n' set show remove ;;
        'admin key') printf '%s\n' add list set revoke ;;
        'admin account') printf '%s\n' list set block unblock ;;
        'admin activation') printf '%s\n' add ;;
        'admin registration') printf '%s\n' list show attestation commit set block unblock remove \
            evidence ;;
        'admin template') printf '%s\n' add list remove ;;
        'admin signing-key') printf '%s\n' list rotate retire ;;
        'admin audit') printf '%s\n' prune verify export sealed application ;;
    esac
}

_signet_server() {
    local words cur previous word at= selector= choice= index
    local -a account=() operands=() options=()
    COMPREPLY=()
    _signet_server_words
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
            ':--try') selector=${word%%=*} ;;
        esac
        case $word in
            --config | --audience | --devices | --commit | --biometrics | --passwords | \
                --keys | --secure-boot | --max-failures | --access-seconds | \
                --refresh-seconds | --roles | --scopes | --expires | --after | --limit | \
                --flags | --minutes | --account | --status | --purpose | --seconds | --device | \
                --factors | --since | --application | --event | --api-key | --before | --head | \
                --mac-tokens) ((index += 1)) ;;
            -*) ;;
            *)
                if ((${#operands[@]} == 0)) \
                    && [[ $'\n'$(_signet_server_next "$at")$'\n' == *$'\n'"$word"$'\n'* ]]; then
                    at+=${at:+ }$word
                else
                    operands+=("$word")
                fi
                ;;
        esac
    done
    case $at:${operands[0]-} in
    esac

    case $cur in
        --config=* | --audience=* | --devices=* | --commit=* | --biometrics=* | --passwords=* | \
            --keys=* | --secure-boot=* | --max-failures=* | --access-seconds=* | \
            --refresh-seconds=* | --roles=* | --scopes=* | --expires=* | --after=* | \
            --limit=* | --flags=* | --minutes=* | --account=* | --status=* | --purpose=* | \
            --seconds=* | --device=* | --factors=* | --since=* | --application=* | --event=* | \
            --api-key=* | --before=* | --head=* | --mac-tokens=*) previous=${cur%%=*} cur=${cur#*=} ;;
    esac
    case $at:$previous in
        *:--config)
            compopt -o default 2> /dev/null
            return
            ;;
        'admin application add':--devices | 'admin application set':--devices)
            _signet_server_offer "$cur" < <(printf '%s\n' one several)
            return
            ;;
        'admin application remove':--devices)
            _signet_server_offer "$cur" < <(printf '%s\n' refuse remove)
            return
            ;;
        *:--commit)
            _signet_server_offer "$cur" < <(printf '%s\n' yes no)
            return
            ;;
        *:--biometrics)
            _signet_server_offer "$cur" < <(printf '%s\n' yes no)
            return
            ;;
        *:--passwords)
            _signet_server_offer "$cur" < <(printf '%s\n' yes no)
            return
            ;;
        *:--keys)
            _signet_server_offer "$cur" < <(printf '%s\n' any tpm attested)
            return
            ;;
        *:--secure-boot)
            _signet_server_offer "$cur" < <(printf '%s\n' any on attested)
            return
            ;;
        *:--purpose)
            _signet_server_offer "$cur" < <(printf '%s\n' operation login)
            return
            ;;
        *:--device)
            _signet_server_offer "$cur" < <(printf '%s\n' any one)
            return
            ;;
        *:--factors)
            _signet_server_offer "$cur" < <(printf '%s\n' policy fingerprint password either both)
            return
            ;;
        *:--mac-tokens)
            _signet_server_offer "$cur" < <(printf '%s\n' revoke keep)
            return
            ;;
        *:--audience | *:--max-failures | *:--access-seconds | *:--refresh-seconds | *:--roles | \
        *:--scopes | *:--expires | *:--after | *:--limit | *:--flags | *:--minutes | *:--account | \
        *:--status | *:--seconds | *:--since | *:--application | *:--event | *:--api-key | \
        *:--before | *:--head) return ;;
    esac

    if [[ $cur == -* ]]; then
        case $at in
            '') options=(--config --new --try --version --help) ;;
            admin) options=(--config --json --help) ;;
            'admin application') options=(--config --json --help) ;;
            'admin application add') options=(--audience --devices --commit --biometrics
                --passwords --keys --secure-boot --max-failures --access-seconds --refresh-seconds
                --roles --config --json --help) ;;
            'admin application list') options=(--config --json --help) ;;
            'admin application set') options=(--devices --commit --biometrics --passwords --keys
                --secure-boot --max-failures --access-seconds --refresh-seconds --roles --config
                --json --help) ;;
            'admin application remove') options=(--devices --config --json --help) ;;
            'admin application pam-file') options=(--config --json --help) ;;
            'admin callback') options=(--config --json --help) ;;
            'admin callback set') options=(--config --json --help) ;;
            'admin callback show') options=(--config --json --help) ;;
            'admin callback remove') options=(--config --json --help) ;;
            'admin key') options=(--config --json --help) ;;
            'admin key add') options=(--scopes --expires --config --json --help) ;;
            'admin key list') options=(--config --json --help) ;;
            'admin key set') options=(--scopes --expires --config --json --help) ;;
            'admin key revoke') options=(--config --json --help) ;;
            'admin account') options=(--config --json --help) ;;
            'admin account list') options=(--after --limit --config --json --help) ;;
            'admin account set') options=(--flags --roles --config --json --help) ;;
            'admin account block') options=(--config --json --help) ;;
            'admin account unblock') options=(--config --json --help) ;;
            'admin activation') options=(--config --json --help) ;;
            'admin activation add') options=(--minutes --config --json --help) ;;
            'admin registration') options=(--config --json --help) ;;
            'admin registration list') options=(--account --status --limit --config --json --help) ;;
            'admin registration show') options=(--config --json --help) ;;
            'admin registration attestation') options=(--config --json --help) ;;
            'admin registration commit') options=(--config --json --help) ;;
            'admin registration set') options=(--flags --config --json --help) ;;
            'admin registration block') options=(--config --json --help) ;;
            'admin registration unblock') options=(--config --json --help) ;;
            'admin registration remove') options=(--config --json --help) ;;
            'admin template') options=(--config --json --help) ;;
            'admin template add') options=(--purpose --seconds --max-failures --device --factors
                --config --json --help) ;;
            'admin template list') options=(--config --json --help) ;;
            'admin template remove') options=(--config --json --help) ;;
            'admin signing-key') options=(--config --json --help) ;;
            'admin signing-key list') options=(--config --json --help) ;;
            'admin signing-key rotate') options=(--config --json --help) ;;
            'admin signing-key retire') options=(--config --json --help) ;;
            'admin audit') options=(--since --application --account --event --api-key --limit
                --config --json --help) ;;
            'admin audit prune') options=(--before --config --json --help) ;;
            'admin audit verify') options=(--head --config --json --help) ;;
            'admin audit export') options=(--since --application --config --json --help) ;;
            'admin audit sealed') options=(--after --since --application --limit --config --json
                --help) ;;
            'admin audit application') options=(--since --account --event --api-key --limit
                --config --json --help) ;;
            'admin registration evidence') options=(--config --json --help) ;;
            'admin migrate') options=(--config --json --help) ;;
            'admin check-database') options=(--config --json --help) ;;
            'admin check-config') options=(--config --json --help) ;;
            'admin check-certificate') options=(--config --json --help) ;;
            'admin after-restore') options=(--mac-tokens --config --json --help) ;;
        esac
        _signet_server_offer "$cur" < <(printf '%s\n' "${options[@]}")
        return
    fi
    ((${#operands[@]} > 0)) || [[ -n $choice ]] || _signet_server_offer "$cur" < <(_signet_server_next "$at")
    case "$at|$selector|$choice|${#operands[@]}" in
        '|--try||0') compopt -o dirnames 2> /dev/null ;;
        'admin signing-key rotate|||0') _signet_server_offer "$cur" < <(printf '%s\n' token verdict) ;;
    esac
}

complete -F _signet_server signet-server
