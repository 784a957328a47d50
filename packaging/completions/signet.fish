# SPDX-License-Identifier: Apache-2.0
# Completion of signet for fish; found in share/fish/vendor_completions.d.
# Written by 'make generated' from the declarations of the commands: do not edit it.
#
# What the program answers is printed as it is, one per line, and fish quotes it; it is never
# evaluated. Nothing here asks for a password or a touch.

# The words that may follow the beginning of a command's name.
function __signet_next
    switch "$argv"
        case ''
            printf '%s\n' status enroll list delete verify enable disable unlock readers vault log \
                config doctor notify login sign operations sessions ssh mac-token import-fprintd \
                secret help
        case 'secret'
            printf '%s\n' set get list delete
    end
end

# What the words before the cursor select, in global variables: command, the option and the
# word that select a form, operands, and the account that is named.
function __signet_read
    set -l words (commandline -opc)
    test "$__signet_line" = "$words"; and return
    set -g __signet_line "$words"
    set -g __signet_at
    set -g __signet_selector
    set -g __signet_choice
    set -g __signet_operands
    set -g __signet_account
    set -l isValue
    for word in $words[2..]
        if test -n "$isValue"
            test $isValue = --account; and set -g __signet_account --account=$word
            set isValue
            continue
        end
        string match -q -- '--account=*' $word; and set -g __signet_account $word
        switch "$__signet_at:"(string replace -r '=.*' '' -- $word)
            case 'delete:--all' 'enable:--signing' 'enable:--server' 'enable:--keyring' \
                'enable:--no-keyring' 'disable:--signing' 'disable:--server' 'readers:--watch' \
                'readers:--prints' 'readers:--delete-foreign' 'readers:--clear' 'log:--verify' \
                'log:--export' 'log:--signers' 'config:--check' 'login:--secret' \
                'sign:--challenge' 'sign:--request' 'sign:--public-key'
                set -g __signet_selector (string replace -r '=.*' '' -- $word)
        end
        switch $word
            case '--account' '--reader' '--reason' '--server' '--name' '--export' '--to' \
                '--secret' '--challenge' '--audience' '--request' '--body' '--signatures' \
                '--seconds'
                set isValue $word
            case '-*'
            case '*'
                if test (count $__signet_operands) = 0; and contains -- $word (__signet_next $__signet_at)
                    set -g __signet_at (string trim "$__signet_at $word")
                else
                    set -ga __signet_operands $word
                end
        end
    end
    switch "$__signet_at:$__signet_operands[1]"
        case 'vault:migrate' 'vault:trust' 'operations:list' 'operations:show' \
            'operations:approve' 'operations:reject' 'operations:watch' 'sessions:list' \
            'sessions:end' 'ssh:list' 'ssh:new' 'ssh:public' 'ssh:remove' 'ssh:allow' \
            'mac-token:add' 'mac-token:list' 'mac-token:remove' 'mac-token:header'
            set -g __signet_choice $__signet_operands[1]
            set -e __signet_operands[1]
    end
end

# Whether the line's command is one of these.
function __signet_is
    __signet_read
    contains -- "$__signet_at" $argv
end

# Whether the next word may belong to the command's name, behind this beginning.
function __signet_begins
    __signet_is "$argv"; and test -z "$__signet_choice" -a (count $__signet_operands) = 0
end

# Whether the next word is the operand at this place.
function __signet_operand
    __signet_read
    string match -q -- $argv[1] "$__signet_at|$__signet_selector|$__signet_choice|"(count $__signet_operands)
end

# Prints the strings of one member of a command's JSON answer: MEMBER COMMAND…
function __signet_strings
    # No answer means no candidates. A silent service costs two seconds at most.
    # Control characters come as \uXXXX; a name with one has to be typed.
    command timeout 2 signet $argv[2..] --json </dev/null 2>/dev/null \
        | string match -ra --groups-only '"'$argv[1]'":"((?:[^"\\\\]|\\\\.)*)"' \
        | string match -rv '\\\\u' \
        | string replace -a '\\"' '"' \
        | string replace -a '\\\\' '\\'
end

complete -c signet -f
complete -c signet -n '__signet_begins ""' -a status -d 'show what works, what does not, and what to do now'
complete -c signet -n '__signet_begins ""' -a enroll -d 'add a finger: right-index, or the next free one'
complete -c signet -n '__signet_begins ""' -a list -d 'list the fingers of an account'
complete -c signet -n '__signet_begins ""' -a delete -d 'delete one finger, or all'
complete -c signet -n '__signet_begins ""' -a verify -d 'check whether the reader recognises the finger'
complete -c signet -n '__signet_begins ""' -a enable -d 'turn fingerprint login on for the fingers enrolled now'
complete -c signet -n '__signet_begins ""' -a disable -d 'turn fingerprint login off; the fingers stay enrolled'
complete -c signet -n '__signet_begins ""' -a unlock -d 'end the lockout after too many failed scans'
complete -c signet -n '__signet_begins ""' -a readers -d 'list the fingerprint readers of this machine'
complete -c signet -n '__signet_begins ""' -a vault -d 'show where the keys are stored, or move an account\'s key to the other vault'
complete -c signet -n '__signet_begins ""' -a log -d 'list the receipts of an account\'s logins'
complete -c signet -n '__signet_begins ""' -a config -d 'show the settings in force, and where they come from'
complete -c signet -n '__signet_begins ""' -a doctor -d 'report what is wrong with this machine\'s stacks, files and service, and how to fix it'
complete -c signet -n '__signet_begins ""' -a notify -d 'show a desktop notice for a touch that no terminal announces'
complete -c signet -n '__signet_begins ""' -a login -d 'log in to a server with a touch, and print its token; without a URL: list the servers'
complete -c signet -n '__signet_begins ""' -a sign -d 'sign files, a challenge or an HTTP request with a touch'
complete -c signet -n '__signet_begins ""' -a operations -d 'review what servers ask you to approve: list, show, approve or reject with a touch, watch'
complete -c signet -n '__signet_begins ""' -a sessions -d 'list your sessions at servers, and end them'
complete -c signet -n '__signet_begins ""' -a ssh -d 'manage the keys for ssh that a touch unlocks: new, list, public, remove, allow'
complete -c signet -n '__signet_begins ""' -a mac-token -d 'manage tokens that identify this device to servers without a touch: add, list, remove, header'
complete -c signet -n '__signet_begins ""' -a import-fprintd -d 'import the fingers that fprintd has stored, without a new scan'
complete -c signet -n '__signet_begins ""' -a secret -d 'store secrets that a touch releases'
complete -c signet -n '__signet_begins ""' -a help -d 'show this text'
complete -c signet -n '__signet_begins secret' -a set -d 'store a secret that a touch releases: from standard input, or typed without echo'
complete -c signet -n '__signet_begins secret' -a get -d 'write a secret to standard output after a touch'
complete -c signet -n '__signet_begins secret' -a list -d 'list the names of the secrets, and whether they can be opened'
complete -c signet -n '__signet_begins secret' -a delete -d 'delete a secret'
complete -c signet -n '__signet_is ""' -l version -d 'show the version of this program'
complete -c signet -n '__signet_is "" status enroll list delete verify enable disable unlock readers vault log config doctor notify login sign operations sessions ssh mac-token import-fprintd secret "secret set" "secret get" "secret list" "secret delete" help' -s h -l help -d 'show what the command takes'
complete -c signet -n '__signet_is status enroll list delete verify enable disable unlock vault log login sign operations sessions ssh mac-token import-fprintd "secret set" "secret get" "secret list" "secret delete"' -l account -x -a '(__fish_complete_users)' -d 'the account to use; the default is your own. Root must name one'
complete -c signet -n '__signet_is status enroll list delete verify enable disable unlock readers vault log config doctor login sign operations sessions ssh mac-token import-fprintd "secret set" "secret list" "secret delete" help' -l json -d 'print JSON; each document has a version and a kind'
complete -c signet -n '__signet_is enroll readers' -l reader -x -a '(__signet_strings id readers)' -d 'the ID of the reader to use, as \'signet readers\' shows it'
complete -c signet -n '__signet_is enroll delete enable disable unlock vault login operations sessions ssh import-fprintd' -l password-stdin -d 'read the password from standard input, up to the end of the line'
complete -c signet -n '__signet_is delete' -l all -d 'all fingers'
complete -c signet -n '__signet_is verify' -l reason -x -d 'what the touch is for, in your own words'
complete -c signet -n '__signet_is enable disable' -l signing -d 'create, or destroy, the key that signs files and challenges'
complete -c signet -n '__signet_is enable' -l server -x -d 'only register this device at this server'
complete -c signet -n '__signet_is enable' -l name -x -d 'what the server calls this device; the default is the machine\'s name'
complete -c signet -n '__signet_is enable login operations sessions' -l password -d 'confirm with your password instead of a touch, where the server accepts that'
complete -c signet -n '__signet_is enable' -l password-key -d 'create a new key for your password there (needed after a password change)'
complete -c signet -n '__signet_is enable' -l keyring -d 'store the login password for the keyring, to be released by a touch at login'
complete -c signet -n '__signet_is enable' -l no-keyring -d 'no longer store the login password for the keyring'
complete -c signet -n '__signet_is disable' -l server -x -d 'remove the registration at this server only'
complete -c signet -n '__signet_is readers' -l watch -d 'show what a reader reports while you try fingers on it; root only'
complete -c signet -n '__signet_is readers' -l prints -d 'list the fingerprints on the readers, and their owners; root only'
complete -c signet -n '__signet_is readers' -l delete-foreign -d 'delete fingerprints that belong to no account here from the readers; root only'
complete -c signet -n '__signet_is readers' -l clear -d 'delete all fingerprints from the readers, including those of accounts here; root only'
complete -c signet -n '__signet_is readers' -l force -d 'with --clear: confirm that all are deleted'
complete -c signet -n '__signet_is log' -l verify -d 'check signatures, counters and the chain of receipts'
complete -c signet -n '__signet_is log' -l export -x -d 'write receipt N to files that ssh-keygen -Y verify accepts'
complete -c signet -n '__signet_is log' -l to -x -a '(__fish_complete_directories)' -d 'the directory for --export; created if it does not exist'
complete -c signet -n '__signet_is log' -l signers -d 'print the public keys as an allowed_signers file'
complete -c signet -n '__signet_is config' -l check -d 'check the files, or those named, and report mistakes'
complete -c signet -n '__signet_is login' -l secret -x -a '(__signet_strings name secret list $__signet_account)' -d 'store the token as this secret, and do not print it'
complete -c signet -n '__signet_is login "secret set"' -l replace -d 'replace an existing secret of this name'
complete -c signet -n '__signet_is sign' -l force -d 'replace an existing signature'
complete -c signet -n '__signet_is sign' -l challenge -x -d 'sign this text, chosen by a party that asks for proof'
complete -c signet -n '__signet_is sign' -l audience -x -d 'the party that asks, with --challenge'
complete -c signet -n '__signet_is sign' -l request -x -a 'GET POST PUT PATCH DELETE' -d 'print the header for a request with this method'
complete -c signet -n '__signet_is sign mac-token' -l body -r -F -d 'the file with the body of the request'
complete -c signet -n '__signet_is sign' -l server -x -d 'use the key for this server, if there are several'
complete -c signet -n '__signet_is sign' -l public-key -d 'print the public key, and a line for allowed_signers'
complete -c signet -n '__signet_is operations sessions mac-token' -l server -x -d 'for this server only'
complete -c signet -n '__signet_is sessions' -l all -d 'end all sessions at the server, including this device\'s'
complete -c signet -n '__signet_is ssh' -l agent -d 'make a plain key for signet-agent, without a file'
complete -c signet -n '__signet_is ssh' -l signatures -x -d 'how many signatures one touch allows, by default 10'
complete -c signet -n '__signet_is ssh' -l seconds -x -d 'for how many seconds, at most and by default 60'
complete -c signet -n '__signet_is "secret get"' -s n -l no-newline -d 'do not add a newline on a terminal; short form: -n'
complete -c signet -n '__signet_is "secret get"' -l force -d 'show it on a terminal even if it is not text'
complete -c signet -n '__signet_operand "enroll|||0"' -a 'left-thumb left-index left-middle left-ring left-little right-thumb right-index right-middle right-ring right-little'
complete -c signet -n '__signet_operand "delete|||0"' -a '(__signet_strings finger list $__signet_account)'
complete -c signet -n '__signet_operand "vault|||0"' -a 'migrate trust'
complete -c signet -n '__signet_operand "vault||migrate|0"' -a 'tpm file'
complete -c signet -n '__signet_operand "config|--check||*"' -F
complete -c signet -n '__signet_operand "sign|||*"' -F
complete -c signet -n '__signet_operand "operations|||0"' -a 'list show approve reject watch'
complete -c signet -n '__signet_operand "sessions|||0"' -a 'list end'
complete -c signet -n '__signet_operand "ssh|||0"' -a 'list new public remove allow'
complete -c signet -n '__signet_operand "ssh||public|0"' -a '(__signet_strings name ssh list)'
complete -c signet -n '__signet_operand "ssh||remove|0"' -a '(__signet_strings name ssh list)'
complete -c signet -n '__signet_operand "ssh||allow|0"' -a '(__signet_strings name ssh list)'
complete -c signet -n '__signet_operand "mac-token|||0"' -a 'add list remove header'
complete -c signet -n '__signet_operand "mac-token||remove|0"' -a '(__signet_strings name mac-token list $__signet_account)'
complete -c signet -n '__signet_operand "mac-token||header|0"' -a '(__signet_strings name mac-token list $__signet_account)'
complete -c signet -n '__signet_operand "mac-token||header|1"' -a 'GET POST PUT PATCH DELETE'
complete -c signet -n '__signet_operand "secret set|||0"' -a '(__signet_strings name secret list $__signet_account)'
complete -c signet -n '__signet_operand "secret get|||0"' -a '(__signet_strings name secret list $__signet_account)'
complete -c signet -n '__signet_operand "secret delete|||0"' -a '(__signet_strings name secret list $__signet_account)'
complete -c signet -n '__signet_operand "help|||0"' -a '(__signet_next $__signet_operands)'
complete -c signet -n '__signet_operand "help|||1"' -a '(__signet_next $__signet_operands)'
