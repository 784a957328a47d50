#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The fixture: a machine of its own for a test, made of private copies and read-only views.
#
#   unshare --mount --pid --uts --fork --kill-child --propagation private \
#       /bin/sh host.sh [over=DIRECTORY] [directory seen as it is …]
#
# What is in DIRECTORY/usr and DIRECTORY/etc is seen as if it were installed.
# Runs as PID 1. Reads accounts ("name uid password", up to an empty line) from standard input,
# prints "ready PID GROUP" (its pid as the machine sees it, and its control group below /.cgroups), and
# ends with standard input. Whatever runs here then ends too, and with it every mount. The control
# group is left: who started this removes it, or else the next fixture does.
set -eu
umask 022
PATH=/usr/sbin:/usr/bin:/sbin:/bin
export PATH

if [ "${1:-}" != --inside ]; then
    # /proc is still the machine's, so this is the pid that the machine sees.
    read -r init rest </proc/self/stat

    # Hidden by the new root while it is built; nothing of the machine's /run is needed.
    mount -t tmpfs -o mode=755 fixture /run
    cd /run

    # A control group below our own, which is the root of all groups in the fixture.
    mkdir -m 700 .cgroups
    mount -t cgroup2 cgroup2 .cgroups
    own=.cgroups$(sed -n 's/^0:://p' /proc/self/cgroup)
    own=${own%/}
    # Held until this fixture's group has a process, by which it is told from those that are left over.
    exec 9<"$own"
    flock 9
    for stale in "$own"/signet-fixture.*; do
        if grep -qsx 'populated 0' "$stale/cgroup.events"; then
            find "$stale" -depth -type d -exec rmdir {} + 2>/dev/null || true
        fi
    done
    group=$(mktemp -d "$own/signet-fixture.XXXXXX")
    chmod 755 "$group"
    echo 0 >"$group/cgroup.procs"
    exec 9<&-
    exec unshare --cgroup /bin/sh "$0" --inside "$init" "$group" "$@"
fi
init=$2
group=$3
shift 3
cd /run

# see DIRECTORY: the machine's, read-only, at the same path.
see() {
    [ -d ".$1" ] || mkdir -p ".$1"
    mount -o rbind,ro "$1" ".$1"
}

over=
case ${1:-} in over=*)
    over=${1#over=}
    shift
    ;;
esac
if [ -z "$over" ]; then
    see /usr
else
    mkdir usr
    mount -t overlay -o "ro,lowerdir=$over/usr:/usr" programs usr
fi
for entry in /bin /sbin /lib /lib32 /lib64 /libx32; do
    if [ -L "$entry" ]; then cp -a "$entry" .; elif [ -d "$entry" ]; then see "$entry"; fi
done
mkdir -p sys dev/pts dev/shm etc .etc/ours .etc/work
mount -o bind,ro /sys sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mkdir sys/fs/cgroup/init.scope
echo 0 >sys/fs/cgroup/init.scope/cgroup.procs

# PAM's modules and /usr/local can be added to.
for module in /usr/lib/*/security/pam_unix.so /lib/*/security/pam_unix.so; do
    security=${module%/*}
    if [ -e "$module" ]; then break; fi
done
mount -t tmpfs -o mode=755 modules ".$security"
cp -a "$security/." ".$security"
if [ -n "$over" ] && [ -d "$over$security" ]; then cp -a "$over$security/." ".$security"; fi
mount -t tmpfs -o mode=755 local usr/local
mkdir usr/local/bin usr/local/sbin usr/local/lib usr/local/libexec usr/local/share

for directory in "$@"; do
    case $directory in
    /usr/local/*) see "$directory" ;;
    /usr/*) ;;
    *) see "$directory" ;;
    esac
done

# The machine's terminals: a test opens them outside, programs use them inside.
mount --bind /dev/pts dev/pts
mount -t tmpfs -o mode=1777 shm dev/shm
cp -a /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty dev
mknod -m 666 dev/ptmx c 5 2

# Laid over the machine's, or a copy where that cannot be.
chmod 700 .etc
if ! mount -t overlay -o "lowerdir=${over:+$over/etc:}/etc,upperdir=.etc/ours,workdir=.etc/work" \
    etc etc 2>/dev/null; then
    cp -a /etc .
    if [ -n "$over" ]; then cp -a "$over/etc/." etc; fi
fi
mkdir -p proc home run/lock run/sudo run/signet run/dbus run/systemd/journal \
    run/systemd/sessions run/systemd/seats run/systemd/users \
    var/log var/mail var/cache var/lib/sudo var/lib/dbus var/lib/signet var/tmp tmp root old
chmod 1777 tmp var/tmp
ln -s /run /run/lock var
for file in run/utmp var/log/wtmp var/log/btmp var/log/lastlog; do : >"$file"; done
perl "${0%/*}/accounts.pl" # reads the accounts
# Which virtual console the screen shows, where the kernel has any.
echo tty1 >run/console
if [ -e sys/class/tty/tty0/active ]; then
    mount --bind run/console sys/class/tty/tty0/active
fi

mount -t proc proc proc
pivot_root . old
cd /
umount -l /old
rmdir /old
rm -rf /mount # mount(8)'s notes
echo linux >/proc/sys/kernel/hostname

# /etc, as we want it.
cd /etc
mv pam.d pam.debian
# Without a locale, a fixture speaks English if nothing else is said.
rm -rf sudoers sudoers.d signet ssh profile.d nologin shadow- gshadow- passwd- group- locale.conf \
    default/locale
mkdir -m 755 pam.d signet
mkdir -m 750 sudoers.d
echo linux >hostname
echo '127.0.0.1 localhost linux' >hosts
printf '%s: files\n' passwd group shadow gshadow hosts >nsswitch.conf

printf '%s\n' \
    'Defaults env_reset, use_pty, !mail_badpass' \
    'Defaults secure_path="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"' \
    'Defaults timestamp_timeout=0, lecture=never' \
    'root ALL=(ALL:ALL) ALL' \
    'alice ALL=(ALL:ALL) ALL' \
    >sudoers
chmod 440 sudoers

printf '%s\n' \
    'auth [success=1 default=ignore] pam_unix.so nodelay try_first_pass' \
    'auth requisite pam_deny.so' \
    'auth required pam_permit.so' \
    >pam.d/common-auth
echo 'account required pam_unix.so' >pam.d/common-account
echo 'password required pam_unix.so sha512' >pam.d/common-password
for name in common-session common-session-noninteractive; do
    echo 'session required pam_unix.so' >pam.d/$name
done
printf '%s\n' \
    '@include common-auth' \
    '@include common-account' \
    '@include common-session-noninteractive' \
    >pam.d/sudo
printf '%s\n' \
    '@include common-auth' \
    '@include common-account' \
    '@include common-session' \
    '@include common-password' \
    >pam.d/login
{
    echo 'auth sufficient pam_rootok.so'
    while read -r line; do echo "$line"; done <pam.d/login
} >pam.d/su
for type in auth account password session; do echo "$type required pam_deny.so"; done >pam.d/other

cd /
exec 3<&0
echo "ready $init $group"
exec >/dev/null 2>&1
# `wait` also reaps what was orphaned here.
cat <&3 &
wait
