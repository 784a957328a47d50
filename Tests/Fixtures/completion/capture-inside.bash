# SPDX-License-Identifier: Apache-2.0
# What capture.bash has the interactive shell do.
HISTFILE=
PS1=
source "$CAPTURE_SCRIPT"
answer() {
    _signet "$@"
    {
        printf '> %s\n' "$COMP_LINE"
        ((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}"
    } >> "$CAPTURE_ANSWERS"
}
complete -F answer signet
# What is typed before readline listens, or between two lines, is kept for it byte by byte.
stty -icanon -echo
PROMPT_COMMAND='unset PROMPT_COMMAND; echo > "$CAPTURE_READY"'
