# SPDX-License-Identifier: Apache-2.0
# Completion of signet(1) for fish; found in share/fish/vendor_completions.d.
#
# What the service tells (names of secrets, readers, fingers) is printed as it is, a line each, and
# fish quotes it; it is never evaluated. Nothing here asks for a password or a touch.

# Whether the line's command is one of these; those of two words are given as one.
function __signet_is
    set -l words (commandline -opc)
    set -l command $words[2]
    test "$command" = secret; and set command "secret $words[3]"
    contains -- "$command" $argv
end

# Whether no command, or only `secret`, stands there yet.
function __signet_wants
    set -l words (commandline -opc)
    test "$words[2..]" = "$argv"
end

# Whose, as it stands on the line: for what the service is asked.
function __signet_account
    set -l words (commandline -opc)
    for index in (seq 2 (count $words))
        switch $words[$index]
            case --account
                set -q words[(math $index + 1)]
                and printf '%s\n' "--account="$words[(math $index + 1)]
            case '--account=*'
                printf '%s\n' $words[$index]
        end
    end
end

# The strings of one name in what a command answers: __signet_strings MEMBER COMMAND…
function __signet_strings
    # No answer is no candidate. A service that does not answer holds nobody up for longer.
    # Controls come as \uXXXX; a name with one is left to be typed.
    command timeout 2 signet $argv[2..] --json </dev/null 2>/dev/null \
        | string match -ra --groups-only '"'$argv[1]'":"((?:[^"\\\\]|\\\\.)*)"' \
        | string match -rv '\\\\u' \
        | string replace -a '\\"' '"' \
        | string replace -a '\\\\' '\\'
end

complete -c signet -f

complete -c signet -n '__signet_wants' -a status \
    -d 'show what works, what does not, and what to do now'
complete -c signet -n '__signet_wants' -a enroll -d 'add a finger'
complete -c signet -n '__signet_wants' -a list -d 'list the fingers of an account'
complete -c signet -n '__signet_wants' -a delete -d 'delete one finger, or all'
complete -c signet -n '__signet_wants' -a verify -d 'check whether the reader recognises the finger'
complete -c signet -n '__signet_wants' -a enable -d 'turn fingerprint login on'
complete -c signet -n '__signet_wants' -a disable -d 'turn fingerprint login off'
complete -c signet -n '__signet_wants' -a unlock -d 'end the lockout'
complete -c signet -n '__signet_wants' -a readers -d 'list the fingerprint readers of this machine'
complete -c signet -n '__signet_wants' -a vault -d 'show where the keys are stored, or move a key'
complete -c signet -n '__signet_wants' -a log -d 'list the receipts of logins'
complete -c signet -n '__signet_wants' -a config -d 'show the settings in force'
complete -c signet -n '__signet_wants' -a doctor \
    -d 'report what is wrong with this machine, and how to fix it'
complete -c signet -n '__signet_wants' -a import-fprintd \
    -d 'import the fingers that fprintd has stored'
complete -c signet -n '__signet_wants' -a notify \
    -d 'show a desktop notice for a touch'
complete -c signet -n '__signet_wants' -a login -d 'log in to a server with a touch'
complete -c signet -n '__signet_wants' -a sign -d 'sign with a touch'
complete -c signet -n '__signet_wants' -a operations -d 'review what servers ask you to approve'
complete -c signet -n '__signet_wants' -a mac-token \
    -d 'manage tokens that identify this device to servers'
complete -c signet -n '__signet_wants' -a secret -d 'store and release secrets'
complete -c signet -n '__signet_wants' -a help -d 'show the commands'
complete -c signet -n '__signet_wants' -l version -d 'show the version'
complete -c signet -n '__signet_wants secret; or __signet_wants help secret' \
    -a 'set get list delete'
complete -c signet -n '__signet_wants help' -a 'status enroll list delete verify enable disable
    unlock readers vault log config doctor import-fprintd notify login sign operations mac-token
    secret help'

complete -c signet -s h -l help -d 'show what the command takes'
complete -c signet -l json -d 'print JSON' -n '__signet_is status enroll list delete verify \
    enable disable unlock readers vault log config doctor import-fprintd login sign operations \
    mac-token "secret set" \
    "secret list" "secret delete" help'
complete -c signet -l account -x -a '(__fish_complete_users)' -d 'the account to use' \
    -n '__signet_is status \
    enroll list delete verify enable disable unlock vault log import-fprintd login sign operations \
    mac-token "secret set" "secret get" \
    "secret list" "secret delete"'
complete -c signet -l password-stdin -d 'read the password from standard input' \
    -n '__signet_is enroll delete enable disable unlock vault import-fprintd'
complete -c signet -l reader -x -a '(__signet_strings id readers)' -d 'the reader to use' \
    -n '__signet_is enroll readers'
complete -c signet -l watch -d 'show what a reader reports' -n '__signet_is readers'
complete -c signet -l prints -d 'list what the readers store' -n '__signet_is readers'
complete -c signet -l delete-foreign -d 'delete what belongs to no account here' \
    -n '__signet_is readers'
complete -c signet -l clear -d 'delete all fingerprints' -n '__signet_is readers'
complete -c signet -l all -d 'all fingers' -n '__signet_is delete'
complete -c signet -l server -x -d 'for this server only' -n '__signet_is enable disable sign \
    operations mac-token'
complete -c signet -l signing -d 'the key that signs' -n '__signet_is enable disable'
complete -c signet -l challenge -x -d 'a text from a party that asks for proof' \
    -n '__signet_is sign'
complete -c signet -l audience -x -d 'the party that asks' -n '__signet_is sign'
complete -c signet -l request -x -a 'GET POST PUT PATCH DELETE' -d 'a request with this method' \
    -n '__signet_is sign'
complete -c signet -l body -r -F -d 'the body of the request' -n '__signet_is sign mac-token'
complete -c signet -l public-key -d 'print the public key' -n '__signet_is sign'
complete -c signet -F -n '__signet_is sign; and not string match -qr -- \
    "^--(challenge|request|public-key)" (commandline -opc)'
complete -c signet -l secret -x -a '(__signet_strings name secret list (__signet_account))' \
    -d 'store the token as this secret' -n '__signet_is login'
complete -c signet -l keyring -d 'store the login password for the keyring' -n '__signet_is enable'
complete -c signet -l no-keyring -d 'no longer store the login password' -n '__signet_is enable'
complete -c signet -l reason -x -d 'what the touch is for, in your own words' -n '__signet_is verify'
complete -c signet -l verify -d 'check the receipts' -n '__signet_is log'
complete -c signet -l signers -d 'print the public keys' -n '__signet_is log'
complete -c signet -l export -x -d 'write a receipt to files' -n '__signet_is log'
complete -c signet -l to -x -a '(__fish_complete_directories)' -d 'the directory for them' \
    -n '__signet_is log'
complete -c signet -l check -F -d 'check the files' -n '__signet_is config'
complete -c signet -F -n '__signet_is config; and contains -- --check (commandline -opc)'
complete -c signet -l replace -d 'replace the secret of this name' \
    -n '__signet_is "secret set" login'
complete -c signet -s n -l no-newline -d 'add no newline' -n '__signet_is "secret get"'
complete -c signet -l force -d 'do it anyway' -n '__signet_is "secret get" sign readers'

complete -c signet -n '__signet_wants enroll' -a 'left-thumb left-index left-middle left-ring
    left-little right-thumb right-index right-middle right-ring right-little'
complete -c signet -n '__signet_is delete' -a '(__signet_strings finger list (__signet_account))'
complete -c signet -n '__signet_wants vault' -a 'migrate trust'
complete -c signet -n '__signet_wants vault migrate' -a 'tpm file'
# No ids of operations: to list them may take a touch.
complete -c signet -n '__signet_wants operations' -a 'list show approve reject watch'
complete -c signet -n '__signet_wants mac-token' -a 'add list remove header'
complete -c signet -n '__signet_wants mac-token remove; or __signet_wants mac-token header' \
    -a '(__signet_strings name mac-token list (__signet_account))'
complete -c signet -n '__signet_is "secret set" "secret get" "secret delete"' \
    -a '(__signet_strings name secret list (__signet_account))'
