# SPDX-License-Identifier: Apache-2.0
# Says what bash offers for each line of standard input: bash capture.bash SCRIPT
#
# A line `> LINE`, then the candidates, a line each, as they would be put on the line. A real
# interactive bash on a pseudo-terminal completes them, so that readline breaks the words. A line
# that begins with `!` is completed and run instead.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkfifo "$work/ready"
export CAPTURE_SCRIPT=$1 CAPTURE_ANSWERS=$work/answers CAPTURE_READY=$work/ready
mapfile -t lines

keys() {
    local line ready
    read -r -t 30 ready <> "$work/ready"
    for line in "${lines[@]}"; do
        case $line in
            !*) printf '%s\t\n' "${line#!}" ;;
            # To the beginning, and away with it: neither key means anything to the terminal.
            *) printf '%s\t\001\013' "$line" ;;
        esac
    done
    printf 'exit\n'
}
: > "$work/answers"
keys | script -q -e -c "bash --noprofile --rcfile '$here/capture-inside.bash' -i" /dev/null > "$work/screen" 2>&1
cat "$work/answers"
