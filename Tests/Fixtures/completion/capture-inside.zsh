# SPDX-License-Identifier: Apache-2.0
# What capture.zsh has the interactive shell do.
compadd() {
    local -a matches
    # Where the caller wants the matches for itself, they are not on offer yet.
    if [[ ${argv[1,(i)(-|--)]} != *' '-(O|A|D)* && ${argv[1]} != -(O|A|D) ]]; then
        builtin compadd -O matches "$@"
        (($#matches)) && print -rl -- $matches >> $answers
    fi
    builtin compadd "$@"
}
answer() {
    local line
    for line in "${(@f)$(<$questions)}"; do
        print -r -- "> $line" >> $answers
        BUFFER=$line
        CURSOR=$#BUFFER
        zle list-choices
    done
    exit
}
zle -N answer
bindkey '^T' answer
zle-line-init() { zle answer }
zle -N zle-line-init
