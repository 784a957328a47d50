# SPDX-License-Identifier: Apache-2.0
# For checks/package: a machine to install on, and alice at its terminal.

failed() {
    echo "package: $*" >&2
    [ -z "${transcript:-}" ] || printf '%s\n' '--- the terminal:' "$transcript" >&2
    [ -z "${keeper:-}" ] || in_machine journalctl --no-pager --lines=20 --unit=signetd >&2 || true
    exit 1
}

# boot ROOT: starts the machine, and waits until services can be used; end_machine ends it.
boot() {
    local hierarchy=$scratch/hierarchy
    mkdir "$hierarchy"
    mount -t cgroup2 cgroup2 "$hierarchy"
    cgroup=$hierarchy/signet-package.$$
    mkdir "$cgroup"
    local said= saying
    # It dies with this script, whatever ends that.
    exec {saying}< <(exec setpriv --pdeathsig KILL Tests/Package/boot "$cgroup" "$1" 2>&1)
    keeper=$!
    read -r -t 30 -u "$saying" said || true
    [[ $said == "PID "* ]] || failed "the machine does not start: $said"
    first=${said#PID }
    root=/proc/$first/root
    # systemd takes this script's place; its root is the machine's from before that on.
    local booted=
    exec {fifo}<> "$root/run/booted"
    read -r -t 60 -u "$fifo" booted || true
    exec {fifo}>&-
    [ "$booted" = booted ] || failed "systemd does not come up"
    # A touch is for who is at a seat, in front: sessions of login(1) are at this one, which has no
    # virtual consoles here, so that the newest session is in front.
    echo XDG_SEAT=seat0 >> "$root/etc/environment"
    # script(1) under the name of a terminal emulator is one that works without a screen.
    install "$root/usr/bin/script" "$root/srv/xterm"
}

end_machine() {
    [ -n "${keeper:-}" ] || return 0
    # The first process ends when all others have, and unshare then.
    kill -KILL "${first:-$keeper}" 2> /dev/null || true
    wait "$keeper" 2> /dev/null || true
    keeper=
    find "$cgroup" -depth -type d -exec rmdir {} + 2> /dev/null || true
    umount "$scratch/hierarchy" || true
}

# in_machine COMMAND…: as root there, outside of any session.
in_machine() {
    nsenter --target "$first" --all env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C \
        DEBIAN_FRONTEND=noninteractive "$@"
}

# quietly COMMAND…: the same, and what it says counts only if it fails; it is in $said then.
quietly() {
    said=$(in_machine "$@" 2>&1) || failed "'$*' failed: $said"
}

# A terminal, and alice logged in there by login(1), in a session of logind's at the seat, with a
# terminal emulator of her own in it.
log_in() {
    coproc terminal {
        exec nsenter --target "$first" --all env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin \
            systemd-run --quiet --pipe --wait --collect --setenv=TERM=dumb \
            script --quiet --return --command 'login -f alice' /dev/null 2>&1
    }
    transcript=
    hear 'alice$ '
    type_line 'exec /srv/xterm --quiet /dev/null'
    hear 'alice$ '
}

log_out() {
    local pid=$terminal_PID
    type_line exit
    wait "$pid" || true
}

# type_line TEXT: a line that alice types.
type_line() {
    printf '%s\n' "$1" >&"${terminal[1]}"
}

# type_command LINE: the same, to the shell; hear_end STATUS waits for its end, and what was shown
# until then is in $shown. The shell's echo of the line is not taken for the end.
type_command() {
    before=${#transcript}
    type_line "$1; echo 'en''ded' \$?."
}

hear_end() {
    hear 'ended '
    hear '.'
    local ended=${transcript##*ended }
    hear 'alice$ '
    shown=${transcript:before}
    [ "$ended" = "$1." ] || failed "ended with $ended not $1"
}

# hear TEXT: waits until the terminal shows it.
hear() {
    local heard= char deadline=$((SECONDS + 60))
    while ((SECONDS < deadline)) && IFS= read -r -d '' -N 1 -t 60 -u "${terminal[0]}" char; do
        transcript+=$char
        heard+=$char
        [[ $heard == *"$1" ]] && return
    done
    failed "the terminal does not show '$1'"
}

# run LINE [PASSWORD]: alice types the line, her password where sudo asks, and it must succeed.
run() {
    type_command "$1"
    if [ $# -gt 1 ]; then
        hear 'password for alice: '
        type_line "$2"
    fi
    hear_end 0
}

# touch_reader FINGER: puts a finger on the reader, as soon as that is open.
touch_reader() {
    build/testfixture touch "$root/run/readers/reader" "$1" || failed "no touch is asked for"
}
