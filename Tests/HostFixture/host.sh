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
    mkdir -p ".$1"
    mount --rbind "$1" ".$1"
    mount -o remount,bind,ro ".$1"
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
mkdir sys && mount --bind /sys sys && mount -o remount,bind,ro sys
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
mkdir -p dev/pts dev/shm
mount --bind /dev/pts dev/pts
mount -t tmpfs -o mode=1777 shm dev/shm
mknod -m 666 dev/null c 1 3
mknod -m 666 dev/zero c 1 5
mknod -m 666 dev/full c 1 7
mknod -m 666 dev/random c 1 8
mknod -m 666 dev/urandom c 1 9
mknod -m 666 dev/tty c 5 0
mknod -m 666 dev/ptmx c 5 2
ln -s /proc/self/fd dev/fd
ln -s /proc/self/fd/0 dev/stdin
ln -s /proc/self/fd/1 dev/stdout
ln -s /proc/self/fd/2 dev/stderr

# Laid over the machine's, or a copy where that cannot be.
mkdir -m 700 .etc
mkdir etc .etc/ours .etc/work
if ! mount -t overlay -o "lowerdir=${over:+$over/etc:}/etc,upperdir=.etc/ours,workdir=.etc/work" \
    etc etc 2>/dev/null; then
    cp -a /etc .
    if [ -n "$over" ]; then cp -a "$over/etc/." etc; fi
fi
mkdir -p proc home run/lock run/sudo run/signet run/dbus run/systemd/journal \
    run/systemd/sessions run/systemd/seats run/systemd/users \
    var/log var/mail var/cache var/lib/sudo var/lib/dbus old
mkdir -p root tmp var/tmp var/lib/signet
# Others pass through /root, where a directory that is seen may be.
chmod 711 root
chmod 700 var/lib/signet
chmod 1777 tmp var/tmp
ln -s /run var/run
ln -s /run/lock var/lock
touch run/utmp var/log/wtmp var/log/btmp var/log/lastlog
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
rm -rf sudoers sudoers.d signet ssh profile.d nologin shadow- gshadow- passwd- group-
# A fixture speaks English if nothing else is said.
rm -f locale.conf default/locale
mkdir -m 755 pam.d signet
mkdir -m 750 sudoers.d
echo linux >hostname
echo '127.0.0.1 localhost linux' >hosts
printf '%s: files\n' passwd group shadow gshadow hosts >nsswitch.conf

passwords=
homes=
while read -r name uid password && [ -n "$name" ]; do
    passwords="$passwords$name:$password
"
    if [ "$uid" = 0 ]; then continue; fi
    for table in passwd group; do
        awk -F: -v name="$name" -v id="$uid" '$1 != name && $3 != id' $table >$table.new
        mv $table.new $table
    done
    echo "$name:x:$uid:$uid:$name of the fixture:/home/$name:/bin/bash" >>passwd
    echo "$name:x:$uid:" >>group
    homes="$homes $name"
done
awk -F: '{ print $1 ":*:19000:0:99999:7:::" }' passwd >shadow
awk -F: '{ print $1 ":*::" }' group >gshadow
chown root:shadow shadow gshadow
chmod 640 shadow gshadow
printf '%s' "$passwords" | chpasswd -c SHA512 -s 1000
rm -f passwd- group- shadow- gshadow-
passwords=

for name in root $homes; do
    home=/home/$name
    if [ "$name" = root ]; then home=/root; fi
    mkdir -p "$home"
    echo "PS1='\\u@linux\\$ '" >"$home/.bashrc"
    echo '. ~/.bashrc' >"$home/.profile"
    touch "$home/.hushlogin"
    chown "$name:" "$home" "$home/.bashrc" "$home/.profile" "$home/.hushlogin"
done

cat >sudoers <<'EOF'
Defaults env_reset, use_pty, !mail_badpass
Defaults secure_path="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
Defaults timestamp_timeout=0, lecture=never
root ALL=(ALL:ALL) ALL
alice ALL=(ALL:ALL) ALL
EOF
chmod 440 sudoers

cat >pam.d/common-auth <<'EOF'
auth [success=1 default=ignore] pam_unix.so nodelay try_first_pass
auth requisite pam_deny.so
auth required pam_permit.so
EOF
echo 'account required pam_unix.so' >pam.d/common-account
echo 'password required pam_unix.so sha512' >pam.d/common-password
echo 'session required pam_unix.so' >pam.d/common-session
cp pam.d/common-session pam.d/common-session-noninteractive
cat >pam.d/sudo <<'EOF'
@include common-auth
@include common-account
@include common-session-noninteractive
EOF
cat >pam.d/login <<'EOF'
@include common-auth
@include common-account
@include common-session
@include common-password
EOF
{ echo 'auth sufficient pam_rootok.so'; cat pam.d/login; } >pam.d/su
for type in auth account password session; do echo "$type required pam_deny.so"; done >pam.d/other

cd /
exec 3<&0
echo "ready $init $group"
exec >/dev/null 2>&1
# `wait` also reaps what was orphaned here.
cat <&3 &
wait
