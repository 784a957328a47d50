# SPDX-License-Identifier: Apache-2.0
# Says what zsh offers for each line of standard input: zsh -f capture.zsh DIRECTORY DUMP
#
# A line `> LINE`, then the candidates, a line each, as they would stand in the table. A real
# interactive zsh on a pseudo-terminal completes them; what reaches compadd is written down.
zmodload zsh/zpty
directory=$1 dump=$2
lines=("${(@f)$(cat)}")
answers=$(mktemp)
questions=$(mktemp)
print -rl -- $lines > $questions

zpty shell "zsh -f -i"
zpty -w shell "PS1= PS2= fpath=(${(q)directory} \$fpath) questions=${(q)questions} answers=${(q)answers}"
zpty -w shell "autoload -Uz compinit && compinit -u -d ${(q)dump} && source ${(q)0:A:h}/capture-inside.zsh"
# The shell ends when it has answered, and with it the reading.
while zpty -r shell discarded; do :; done
zpty -d shell
cat $answers
rm -f $answers $questions
