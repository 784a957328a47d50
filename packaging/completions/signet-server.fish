# SPDX-License-Identifier: Apache-2.0
# Completion of signet-server for fish; found in share/fish/vendor_completions.d.
# Written by 'make generated' from the declarations of the commands: do not edit it.
#
# What the program answers is printed as it is, one per line, and fish quotes it; it is never
# evaluated. Nothing here asks for a password or a touch.

# The words that may follow the beginning of a command's name.
function __signet_server_next
    switch "$argv"
        case ''
            printf '%s\n' admin
        case 'admin'
            printf '%s\n' application callback key account activation registration template \
                signing-key audit migrate check-database check-config check-certificate \
                after-restore
        case 'admin application'
            printf '%s\n' add list set remove pam-file
        case 'admin callback'
            printf '%s\n' set show remove
        case 'admin key'
            printf '%s\n' add list set revoke
        case 'admin account'
            printf '%s\n' list set block unblock
        case 'admin activation'
            printf '%s\n' add
        case 'admin registration'
            printf '%s\n' list show attestation commit set block unblock remove evidence
        case 'admin template'
            printf '%s\n' add list remove
        case 'admin signing-key'
            printf '%s\n' list rotate retire
        case 'admin audit'
            printf '%s\n' prune verify export sealed application
    end
end

# What the words before the cursor select, in global variables: command, the option and the
# word that select a form, operands, and the account that is named.
function __signet_server_read
    set -l words (commandline -opc)
    test "$__signet_server_line" = "$words"; and return
    set -g __signet_server_line "$words"
    set -g __signet_server_at
    set -g __signet_server_selector
    set -g __signet_server_choice
    set -g __signet_server_operands
    set -g __signet_server_account
    set -l isValue
    for word in $words[2..]
        if test -n "$isValue"
            test $isValue = --account; and set -g __signet_server_account --account=$word
            set isValue
            continue
        end
        string match -q -- '--account=*' $word; and set -g __signet_server_account $word
        switch "$__signet_server_at:"(string replace -r '=.*' '' -- $word)
            case ':--try'
                set -g __signet_server_selector (string replace -r '=.*' '' -- $word)
        end
        switch $word
            case '--config' '--audience' '--devices' '--commit' '--biometrics' '--passwords' \
                '--keys' '--secure-boot' '--max-failures' '--access-seconds' '--refresh-seconds' \
                '--roles' '--scopes' '--expires' '--after' '--limit' '--flags' '--minutes' \
                '--account' '--status' '--purpose' '--seconds' '--device' '--factors' '--since' \
                '--application' '--event' '--api-key' '--before' '--head' '--mac-tokens'
                set isValue $word
            case '-*'
            case '*'
                if test (count $__signet_server_operands) = 0; and contains -- $word (__signet_server_next $__signet_server_at)
                    set -g __signet_server_at (string trim "$__signet_server_at $word")
                else
                    set -ga __signet_server_operands $word
                end
        end
    end
    switch "$__signet_server_at:$__signet_server_operands[1]"
    end
end

# Whether the line's command is one of these.
function __signet_server_is
    __signet_server_read
    contains -- "$__signet_server_at" $argv
end

# Whether the next word may belong to the command's name, behind this beginning.
function __signet_server_begins
    __signet_server_is "$argv"; and test -z "$__signet_server_choice" -a (count $__signet_server_operands) = 0
end

# Whether the next word is the operand at this place.
function __signet_server_operand
    __signet_server_read
    string match -q -- $argv[1] "$__signet_server_at|$__signet_server_selector|$__signet_server_choice|"(count $__signet_server_operands)
end

complete -c signet-server -f
complete -c signet-server -n '__signet_server_begins ""' -a admin -d 'administer applications, accounts, devices and keys'
complete -c signet-server -n '__signet_server_begins admin' -a application -d ''
complete -c signet-server -n '__signet_server_begins admin' -a callback -d ''
complete -c signet-server -n '__signet_server_begins admin' -a key -d ''
complete -c signet-server -n '__signet_server_begins admin' -a account -d ''
complete -c signet-server -n '__signet_server_begins admin' -a activation -d ''
complete -c signet-server -n '__signet_server_begins admin' -a registration -d ''
complete -c signet-server -n '__signet_server_begins admin' -a template -d ''
complete -c signet-server -n '__signet_server_begins admin' -a signing-key -d ''
complete -c signet-server -n '__signet_server_begins admin' -a audit -d 'show the audit trail, newest line last'
complete -c signet-server -n '__signet_server_begins admin' -a migrate -d 'convert the database to the format of this program, as the server does at its start'
complete -c signet-server -n '__signet_server_begins admin' -a check-database -d 'check the whole database for damage, and report what is damaged'
complete -c signet-server -n '__signet_server_begins admin' -a check-config -d 'check the configuration and the files that it names, and show each setting'
complete -c signet-server -n '__signet_server_begins admin' -a check-certificate -d 'check whether a reload of the server would use the present certificate'
complete -c signet-server -n '__signet_server_begins admin' -a after-restore -d 'end everything in a restored backup that may have been used since it was made'
complete -c signet-server -n '__signet_server_begins "admin application"' -a add -d 'create an application'
complete -c signet-server -n '__signet_server_begins "admin application"' -a list -d 'list all applications with their policies'
complete -c signet-server -n '__signet_server_begins "admin application"' -a set -d 'change the policy of an application; existing registrations stay'
complete -c signet-server -n '__signet_server_begins "admin application"' -a remove -d 'remove an application permanently; its audit trail stays'
complete -c signet-server -n '__signet_server_begins "admin application"' -a pam-file -d 'print the file for machines that ask this server when users log in'
complete -c signet-server -n '__signet_server_begins "admin callback"' -a set -d 'notify an application at a URL of operations, registrations and blocks'
complete -c signet-server -n '__signet_server_begins "admin callback"' -a show -d 'show an application\'s URL, what waits to be sent, and the last failure'
complete -c signet-server -n '__signet_server_begins "admin callback"' -a remove -d 'stop notifying an application, and drop what waits to be sent'
complete -c signet-server -n '__signet_server_begins "admin key"' -a add -d 'create an API key for an application and show it once'
complete -c signet-server -n '__signet_server_begins "admin key"' -a list -d 'list an application\'s API keys: names, scopes, and last use'
complete -c signet-server -n '__signet_server_begins "admin key"' -a set -d 'change the scopes or the expiry of an API key'
complete -c signet-server -n '__signet_server_begins "admin key"' -a revoke -d 'revoke an API key at once'
complete -c signet-server -n '__signet_server_begins "admin account"' -a list -d 'list the accounts of an application by name'
complete -c signet-server -n '__signet_server_begins "admin account"' -a set -d 'replace the flags or roles of an account'
complete -c signet-server -n '__signet_server_begins "admin account"' -a block -d 'block an account and end its sessions'
complete -c signet-server -n '__signet_server_begins "admin account"' -a unblock -d 'unblock an account'
complete -c signet-server -n '__signet_server_begins "admin activation"' -a add -d 'create an activation code for an account and show it once'
complete -c signet-server -n '__signet_server_begins "admin registration"' -a list -d 'list the registrations of an application, newest first'
complete -c signet-server -n '__signet_server_begins "admin registration"' -a show -d 'show all data of a registration'
complete -c signet-server -n '__signet_server_begins "admin registration"' -a attestation -d 'show what proves an attested key, as JSON'
complete -c signet-server -n '__signet_server_begins "admin registration"' -a commit -d 'confirm that someone has compared the key\'s fingerprint, SHA256:…'
complete -c signet-server -n '__signet_server_begins "admin registration"' -a set -d 'replace the flags of a registration'
complete -c signet-server -n '__signet_server_begins "admin registration"' -a block -d 'block a device and end its sessions'
complete -c signet-server -n '__signet_server_begins "admin registration"' -a unblock -d 'unblock a device and clear its failures'
complete -c signet-server -n '__signet_server_begins "admin registration"' -a remove -d 'remove a registration permanently; the device destroys its key when it learns of it'
complete -c signet-server -n '__signet_server_begins "admin registration"' -a evidence -d 'write what proves an attested key to files in a new directory'
complete -c signet-server -n '__signet_server_begins "admin template"' -a add -d 'create the text that a user is asked to approve, with {name} in place of a value'
complete -c signet-server -n '__signet_server_begins "admin template"' -a list -d 'list an application\'s templates'
complete -c signet-server -n '__signet_server_begins "admin template"' -a remove -d 'remove a template; operations created from it stay as they are'
complete -c signet-server -n '__signet_server_begins "admin signing-key"' -a list -d 'list the keys that sign tokens and verdicts'
complete -c signet-server -n '__signet_server_begins "admin signing-key"' -a rotate -d 'create a new key; signatures of the old one remain valid'
complete -c signet-server -n '__signet_server_begins "admin signing-key"' -a retire -d 'remove a key that has been replaced; its signatures are refused from then on'
complete -c signet-server -n '__signet_server_begins "admin audit"' -a prune -d 'permanently delete old lines of the audit trail'
complete -c signet-server -n '__signet_server_begins "admin audit"' -a verify -d 'check that no line of the audit trail was removed or altered'
complete -c signet-server -n '__signet_server_begins "admin audit"' -a export -d 'print the audit trail as JSON, one object per line'
complete -c signet-server -n '__signet_server_begins "admin audit"' -a sealed -d 'list sealed lines of the audit trail with their hashes, oldest first'
complete -c signet-server -n '__signet_server_begins "admin audit"' -a application -d 'show the audit trail of one application, newest line last'
complete -c signet-server -n '__signet_server_is "" admin "admin application" "admin application add" "admin application list" "admin application set" "admin application remove" "admin application pam-file" "admin callback" "admin callback set" "admin callback show" "admin callback remove" "admin key" "admin key add" "admin key list" "admin key set" "admin key revoke" "admin account" "admin account list" "admin account set" "admin account block" "admin account unblock" "admin activation" "admin activation add" "admin registration" "admin registration list" "admin registration show" "admin registration attestation" "admin registration commit" "admin registration set" "admin registration block" "admin registration unblock" "admin registration remove" "admin template" "admin template add" "admin template list" "admin template remove" "admin signing-key" "admin signing-key list" "admin signing-key rotate" "admin signing-key retire" "admin audit" "admin audit prune" "admin audit verify" "admin audit export" "admin audit sealed" "admin audit application" "admin registration evidence" "admin migrate" "admin check-database" "admin check-config" "admin check-certificate" "admin after-restore"' -l config -r -F -d 'the settings, instead of /etc/signet/server.conf'
complete -c signet-server -n '__signet_server_is ""' -l new -d 'begin with an empty database although there is a master secret, once'
complete -c signet-server -n '__signet_server_is ""' -l try -d 'try a server out, without root, for this machine alone'
complete -c signet-server -n '__signet_server_is ""' -l version -d 'show the version of this program'
complete -c signet-server -n '__signet_server_is "" admin "admin application" "admin application add" "admin application list" "admin application set" "admin application remove" "admin application pam-file" "admin callback" "admin callback set" "admin callback show" "admin callback remove" "admin key" "admin key add" "admin key list" "admin key set" "admin key revoke" "admin account" "admin account list" "admin account set" "admin account block" "admin account unblock" "admin activation" "admin activation add" "admin registration" "admin registration list" "admin registration show" "admin registration attestation" "admin registration commit" "admin registration set" "admin registration block" "admin registration unblock" "admin registration remove" "admin template" "admin template add" "admin template list" "admin template remove" "admin signing-key" "admin signing-key list" "admin signing-key rotate" "admin signing-key retire" "admin audit" "admin audit prune" "admin audit verify" "admin audit export" "admin audit sealed" "admin audit application" "admin registration evidence" "admin migrate" "admin check-database" "admin check-config" "admin check-certificate" "admin after-restore"' -s h -l help -d 'show what the command takes'
complete -c signet-server -n '__signet_server_is admin "admin application" "admin application add" "admin application list" "admin application set" "admin application remove" "admin application pam-file" "admin callback" "admin callback set" "admin callback show" "admin callback remove" "admin key" "admin key add" "admin key list" "admin key set" "admin key revoke" "admin account" "admin account list" "admin account set" "admin account block" "admin account unblock" "admin activation" "admin activation add" "admin registration" "admin registration list" "admin registration show" "admin registration attestation" "admin registration commit" "admin registration set" "admin registration block" "admin registration unblock" "admin registration remove" "admin template" "admin template add" "admin template list" "admin template remove" "admin signing-key" "admin signing-key list" "admin signing-key rotate" "admin signing-key retire" "admin audit" "admin audit prune" "admin audit verify" "admin audit export" "admin audit sealed" "admin audit application" "admin registration evidence" "admin migrate" "admin check-database" "admin check-config" "admin check-certificate" "admin after-restore"' -l json -d 'print lists and answers as JSON'
complete -c signet-server -n '__signet_server_is "admin application add"' -l audience -x -d 'the name that each signed statement for it contains'
complete -c signet-server -n '__signet_server_is "admin application add" "admin application set"' -l devices -x -a 'one several' -d 'whether a new device replaces the old one of an account'
complete -c signet-server -n '__signet_server_is "admin application add" "admin application set"' -l commit -x -a 'yes no' -d 'whether someone must compare the fingerprint of a new key'
complete -c signet-server -n '__signet_server_is "admin application add" "admin application set"' -l biometrics -x -a 'yes no' -d 'whether touches are accepted'
complete -c signet-server -n '__signet_server_is "admin application add" "admin application set"' -l passwords -x -a 'yes no' -d 'whether the account\'s password on the device is accepted in place of a touch'
complete -c signet-server -n '__signet_server_is "admin application add" "admin application set"' -l keys -x -a 'any tpm attested' -d 'whether keys must be in a TPM, by the device\'s word or proven'
complete -c signet-server -n '__signet_server_is "admin application add" "admin application set"' -l secure-boot -x -a 'any on attested' -d 'whether Secure Boot must be on, by the device\'s word or proven'
complete -c signet-server -n '__signet_server_is "admin application add" "admin application set"' -l max-failures -x -d 'how many logins in a row with an old counter block a device'
complete -c signet-server -n '__signet_server_is "admin application add" "admin application set"' -l access-seconds -x -d 'the lifetime of an access token'
complete -c signet-server -n '__signet_server_is "admin application add" "admin application set"' -l refresh-seconds -x -d 'the lifetime of its session'
complete -c signet-server -n '__signet_server_is "admin application add" "admin application set"' -l roles -x -d 'what the application itself is, separated by commas; verifications state it'
complete -c signet-server -n '__signet_server_is "admin application remove"' -l devices -x -a 'refuse remove' -d 'what happens if it has registrations; the default is refuse'
complete -c signet-server -n '__signet_server_is "admin key add" "admin key set"' -l scopes -x -d 'what it may be used for, with commas between; the default is all but admin and server'
complete -c signet-server -n '__signet_server_is "admin key add" "admin key set"' -l expires -x -d 'when it ends, for example 2027-01-01 or 90d; the default is never'
complete -c signet-server -n '__signet_server_is "admin account list"' -l after -x -d 'start after this name'
complete -c signet-server -n '__signet_server_is "admin account list" "admin registration list" "admin audit" "admin audit sealed" "admin audit application"' -l limit -x -d 'show at most this many rows; the default is 1000'
complete -c signet-server -n '__signet_server_is "admin account set" "admin registration set"' -l flags -x -d 'the flags, separated by commas; empty for none'
complete -c signet-server -n '__signet_server_is "admin account set"' -l roles -x -d 'the roles, separated by commas; empty for none'
complete -c signet-server -n '__signet_server_is "admin activation add"' -l minutes -x -d 'how long the code can be used; the default is 10'
complete -c signet-server -n '__signet_server_is "admin registration list" "admin audit" "admin audit application"' -l account -x -d 'only those of this account'
complete -c signet-server -n '__signet_server_is "admin registration list"' -l status -x -d 'only those in this state'
complete -c signet-server -n '__signet_server_is "admin template add"' -l purpose -x -a 'operation login' -d 'what is approved; the default is operation'
complete -c signet-server -n '__signet_server_is "admin template add"' -l seconds -x -d 'how long the user may take to decide; the default is 300'
complete -c signet-server -n '__signet_server_is "admin template add"' -l max-failures -x -d 'how many wrong signatures end an operation; the default is 5'
complete -c signet-server -n '__signet_server_is "admin template add"' -l device -x -a 'any one' -d 'whether an operation names the device that may decide; the default is any'
complete -c signet-server -n '__signet_server_is "admin template add"' -l factors -x -a 'policy fingerprint password either both' -d 'what approves an operation; the default is what the application\'s policy accepts'
complete -c signet-server -n '__signet_server_is "admin audit" "admin audit export" "admin audit sealed" "admin audit application"' -l since -x -d 'only lines since then, for example 7d or 2026-11-20'
complete -c signet-server -n '__signet_server_is "admin audit" "admin audit export" "admin audit sealed"' -l application -x -d 'only those of this application'
complete -c signet-server -n '__signet_server_is "admin audit" "admin audit application"' -l event -x -d 'only events of this kind'
complete -c signet-server -n '__signet_server_is "admin audit" "admin audit application"' -l api-key -x -d 'only calls with an API key of this name'
complete -c signet-server -n '__signet_server_is "admin audit prune"' -l before -x -d 'delete lines older than this time'
complete -c signet-server -n '__signet_server_is "admin audit verify"' -l head -x -d 'check that this position, noted earlier, is part of the trail'
complete -c signet-server -n '__signet_server_is "admin audit sealed"' -l after -x -d 'only lines behind this position; the default is 0'
complete -c signet-server -n '__signet_server_is "admin after-restore"' -l mac-tokens -x -a 'revoke keep' -d 'what happens to MAC tokens; the default is revoke'
complete -c signet-server -n '__signet_server_operand "|--try||0"' -a '(__fish_complete_directories)'
complete -c signet-server -n '__signet_server_operand "admin signing-key rotate|||0"' -a 'token verdict'
