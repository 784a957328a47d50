# SPDX-License-Identifier: Apache-2.0
"""What is seen in a whole machine, in this order: each case finds what those before it left."""

import re
import time

from machine import Failed, Reader, wait_for

PASSWORD = "correct horse"
ALL = []


class Case:
    """One row of the table."""

    def __init__(self, name, function, always, absent):
        self.name, self.function, self.always, self.absent = name, function, always, absent


def case(name, always=False, absent=()):
    """A row; `always` for what later ones need, `absent` where the release has no such thing."""
    def add(function):
        ALL.append(Case(name, function, always, absent))
        return function
    return add


def expect(condition, what):
    if not condition:
        raise Failed(what)


def reader_is_seen(machine):
    wait_for("the kernel does not see the reader", 60,
             lambda: "Played" in machine.root("cat /sys/bus/usb/devices/*/manufacturer; true"))


def recover(machine):
    """After a case that failed: alice at the first terminal's prompt, and the reader plugged in anew."""
    if machine.reader is not None:
        machine.reader.pull()
    machine.reader = Reader(machine.run, MODELS[machine.release])
    reader_is_seen(machine)
    # What a case has begun at the second terminal would take the keys of the next one.
    machine.root("systemctl stop getty@tty2; pkill -KILL -t tty2; true")
    machine.switch(1)
    for _ in range(2):
        machine.press("ctrl", "c")
    time.sleep(1)
    shown = machine.screen()
    if re.search(r"^alice\$ *$", shown, re.M):
        return
    machine.root("systemctl restart getty@tty1")
    machine.log_in("alice")


def enforced(machine):
    """Checks that the profiles are in force, as the packages have loaded them."""
    profiles = machine.root("cat /sys/kernel/security/apparmor/profiles")
    for name in ("signetd", "signet-reader"):
        expect(f"{name} (enforce)" in profiles, f"{name} is not enforced: {profiles}")


# goodixmoc's protocol is another one in the libfprint of Debian 13.
MODELS = {"bookworm": "goodixmoc", "trixie": "elanmoc"}
STAGES = {"goodixmoc": 12, "elanmoc": 9, "synaptics": 8, "fpcmoc": 12}


def enroll(machine, finger="alice-right", which="right-index", name="alice", compared=0):
    """Enrols a finger; `compared` is 1 if it is compared with those of other accounts first."""
    machine.begin(f"signet enroll {which}")
    machine.see(f"Password of {name}:")
    machine.type(PASSWORD + "\n")
    machine.see("touch the reader")
    for _ in range(compared + STAGES[MODELS[machine.release]]):
        machine.reader.touch(finger)
    return machine.end(0)


# What the screen shows once a finger is awaited; before that, the reader may still be made ready.
ASKED = r"touch the reader(.|\n)*or type the password:"


def sudo_with_touch(machine, finger="alice-right"):
    machine.begin("sudo -k; sudo id -un")
    machine.see(ASKED)
    machine.reader.touch(finger)
    shown = machine.end(0)
    expect(re.search("^root$", shown, re.M), f"sudo did not run the command:\n{shown}")


def expect_no_denials(machine):
    """Checks that no profile withheld anything since the machine was started."""
    said = machine.root("journalctl --no-pager -k -o cat --grep 'apparmor=.DENIED.' "
                        "| grep signet; true")
    expect(said == "", "\n".join(sorted(set(re.sub(r"^.*?apparmor", "apparmor", line)
                                           for line in said.splitlines()))[:20]))


def daemon(machine, unit="signetd"):
    return machine.root(f"systemctl show --property=MainPID --value {unit}.service").strip()


def readers(machine):
    """The process of the readers."""
    return daemon(machine, "signet-reader")


def as_readers(machine):
    """What runs a command as that process: as its user and group, in its mounts."""
    process = readers(machine)
    return (f"nsenter --mount --target {process} setpriv --reuid $(stat -c %u /proc/{process}) "
            f"--regid $(stat -c %g /proc/{process}) --clear-groups --no-new-privs")


@case("the packages install, and nothing runs until it is needed", always=True)
def install(machine):
    machine.reader = None
    machine.root("mkdir -p /srv/debs && mount -t 9p -o trans=virtio,ro debs /srv/debs")
    machine.root("apt-get -q -y install --no-install-recommends "
                 "/srv/debs/signet_*.deb /srv/debs/libpam-signet_*.deb")
    expect(machine.root("systemctl is-active signetd.socket").strip() == "active",
           "the socket is not open")
    expect(daemon(machine) == "0", "the daemon runs without a request")
    expect(readers(machine) == "0", "the process of the readers runs without a request")


@case("AppArmor: both profiles are enforced", always=True)
def apparmor(machine):
    enforced(machine)


@case("the reader and the TPM are found", always=True)
def devices(machine):
    machine.reader = Reader(machine.run, MODELS[machine.release])
    wait_for("the kernel does not see the reader", 30,
             lambda: "Played" in machine.root("cat /sys/bus/usb/devices/*/manufacturer; true"))
    # Who may use it, and its power settings, udev's rules say.
    machine.root("udevadm settle")
    said = machine.root("signet readers")
    expect(MODELS[machine.release] in said, f"no reader: {said}")
    said = machine.root("signet vault")
    expect("tpm" in said.lower(), f"no TPM: {said}")
    nodes = machine.root("stat -c '%G %a' /dev/bus/usb/*/* | sort | uniq -c")
    expect(nodes.count("signet-reader 660") == 1 and "1 signet-reader" in nodes,
           f"not one node is the readers' alone: {nodes}")
    # libfprint switches USB persist off when it meets a reader, and says so where it cannot. What the
    # file says afterwards is not for libfprint alone: a driver that resets its reader makes the kernel
    # switch it on again.
    said = machine.root("journalctl --no-pager -o cat -u signet-reader")
    expect("Failed to disable USB persist" not in said, said)
    persist = machine.root("dirname $(grep -l Played /sys/bus/usb/devices/*/manufacturer)").strip() \
        + "/power/persist"
    for value in "10":
        machine.root(f"{as_readers(machine)} sh -c 'echo {value} > {persist}'")
        expect(machine.root(f"cat {persist}").strip() == value, f"{persist} is not {value}")


@case("readers are driven by a process without root, capability, network or state")
def separate(machine):
    machine.root("signet readers")
    status = machine.root(f"cat /proc/{readers(machine)}/status")
    expect(re.search(r"^Uid:\s+[1-9]", status, re.M), f"it is root's: {status}")
    expect(re.search(r"^CapEff:\s+0+$", status, re.M), f"it has capabilities: {status}")
    for path in ("/var/lib/signet/private", "/etc/shadow", "/dev/tpmrm0"):
        refused, said = machine.status(f"{as_readers(machine)} cat {path}")
        expect(refused != 0, f"it reads {path}: {said[:200]}")
    loaded = machine.root(f"cat /proc/{daemon(machine)}/maps")
    for library in ("libfprint", "libgusb", "libusb"):
        expect(library not in loaded, f"signetd has loaded {library}")
    nodes = machine.root(f"ls -l /proc/{daemon(machine)}/fd")
    expect("/dev/bus" not in nodes, f"signetd has a reader open: {nodes}")


@case("enrolment on a console", always=True)
def enrolment(machine):
    machine.log_in("alice")
    shown = enroll(machine)
    expect("next, run as root: pam-auth-update --enable signet" in shown, shown)
    machine.root("pam-auth-update --enable signet")
    machine.begin("signet status")
    said = machine.end(0)
    expect("fingerprint login works for alice" in said, said)


@case("sudo with a touch", always=True)
def sudo(machine):
    sudo_with_touch(machine)


@case("sudo refuses another finger and accepts the password")
def stranger(machine):
    machine.begin("sudo -k; sudo id -un")
    machine.see(ASKED)
    machine.reader.touch("stranger")
    machine.see("did not match")
    machine.type(PASSWORD + "\n")
    shown = machine.end(0)
    expect(re.search("^root$", shown, re.M), shown)


@case("su for the user's own account asks for a touch, for another one for the password")
def su(machine):
    machine.begin("su alice -c 'id -un'")
    machine.see(ASKED)
    machine.reader.touch()
    machine.end(0)
    machine.begin("su bob -c 'id -un'")
    shown = machine.see("Password:")
    expect("touch" not in shown, shown)
    machine.type(PASSWORD + "\n")
    machine.end(0)


@case("login on a console with a touch")
def login(machine):
    machine.type("exit\n")
    # The shell's end clears the console, and so does getty's beginning.
    wait_for("the session does not end", 30,
             lambda: "alice" not in machine.root("loginctl list-sessions --no-legend"))
    machine.give_name("alice")
    # login(1) gives up after 60 s: before that it shows what it waits in.
    machine.see(ASKED, 40)
    machine.reader.touch()
    machine.see(r"^alice\$")


@case("sshd asks for the password at once, without a touch")
def sshd(machine):
    machine.root("printf '#!/bin/sh\\necho correct horse\\n' > /srv/askpass; chmod 755 /srv/askpass")
    began = time.monotonic()
    said = machine.root(
        "SSH_ASKPASS=/srv/askpass SSH_ASKPASS_REQUIRE=force timeout 60 ssh -o BatchMode=no "
        "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null "
        "-o PreferredAuthentications=password alice@localhost 'id -un'")
    expect("alice" in said and "touch" not in said, said)
    expect(time.monotonic() - began < 12, "it took more than 12 s: a finger was awaited")


@case("kill -9 of the daemon during a scan: the password, and the next touch counts")
def killed(machine):
    machine.begin("sudo -k; sudo id -un")
    machine.see(ASKED)
    machine.root("kill -9 " + daemon(machine))
    machine.see("[Pp]assword for alice:|Password:")
    machine.type(PASSWORD + "\n")
    machine.end(0)
    sudo_with_touch(machine)


@case("a restart of the daemon during a scan: the password, and the next touch counts")
def restarted(machine):
    machine.begin("sudo -k; sudo id -un")
    machine.see(ASKED)
    machine.root("systemctl restart signetd")
    machine.see(r"[Pp]assword for alice:|^Password:")
    machine.type(PASSWORD + "\n")
    machine.end(0)
    sudo_with_touch(machine)


@case("the reader process killed during a scan: the next touch counts, at the same prompt")
def readers_killed(machine):
    machine.begin("sudo -k; sudo id -un")
    machine.see(ASKED)
    machine.root("kill -9 " + readers(machine))
    machine.see(r"had to be restarted(.|\n)*" + ASKED)
    machine.reader.touch()
    shown = machine.end(0)
    expect(re.search("^root$", shown, re.M), shown)


@case("the reader process stopped during a scan: killed, and the next touch counts at the "
      "same prompt")
def readers_hang(machine):
    machine.begin("sudo -k; sudo id -un")
    machine.see(ASKED)
    stopped = readers(machine)
    machine.root("kill -STOP " + stopped)
    machine.see(r"had to be restarted(.|\n)*" + ASKED)
    expect(readers(machine) != stopped, "the stopped process is still there")
    machine.reader.touch()
    shown = machine.end(0)
    expect(re.search("^root$", shown, re.M), shown)


@case("the reader process stopped during a scan: the password works at once")
def readers_stopped(machine):
    machine.begin("sudo -k; sudo id -un")
    machine.see(ASKED)
    stopped = readers(machine)
    machine.root("kill -STOP " + stopped)
    machine.type(PASSWORD + "\n")
    machine.end(0, 10)
    wait_for("the stopped process is not killed", 30, lambda: readers(machine) != stopped)
    sudo_with_touch(machine)


@case("unplugged during a scan and plugged in again: a touch at the same prompt")
def replugged(machine):
    machine.begin("sudo -k; sudo id -un")
    machine.see(ASKED)
    machine.reader.tell("UNPLUG")
    machine.see("unplugged: plug it in again")
    machine.reader.tell("PLUG")
    machine.see(r"plug it in again(.|\n)*" + ASKED)
    machine.reader.touch()
    shown = machine.end(0)
    expect(re.search("^root$", shown, re.M), shown)


@case("unplugged during a scan and not plugged in again: the password; plugged in later: a touch")
def unplugged(machine):
    machine.begin("sudo -k; sudo id -un")
    machine.see(ASKED)
    machine.reader.tell("UNPLUG")
    machine.see("unplugged: plug it in again")
    machine.type(PASSWORD + "\n")
    machine.end(0)
    machine.reader.tell("PLUG")
    reader_is_seen(machine)
    sudo_with_touch(machine)


@case("the idle daemon exits, and its socket starts it again")
def idle(machine):
    # Said, because by default it stays if the TPM is as slow as in a chip.
    machine.root("install -d /etc/signet/signet.conf.d; printf '[daemon]\\nidle-exit = 20s\\n' "
                 "> /etc/signet/signet.conf.d/idle.conf; systemctl restart signetd")
    wait_for("the daemon does not end", 90, lambda: daemon(machine) == "0")
    wait_for("the process of the readers does not end", 60, lambda: readers(machine) == "0")
    sudo_with_touch(machine)
    expect(daemon(machine) != "0", "no daemon after a touch")
    machine.root("rm /etc/signet/signet.conf.d/idle.conf; systemctl restart signetd")


@case("a daemon that gets 5 % of a processor: a touch counts")
def slow(machine):
    machine.root("systemctl set-property --runtime signetd.service CPUQuota=5%")
    try:
        for _ in range(2):
            machine.root("systemctl stop signetd")
            machine.begin("sudo -k; sudo id -un")
            machine.see("or type the password:")
            machine.see(ASKED, 300)
            machine.reader.touch()
            shown = machine.end(0, 150)
            expect(re.search("^root$", shown, re.M), shown)
        restarts = machine.root("systemctl show --property=NRestarts --value signetd").strip()
        expect(restarts == "0", f"systemd has ended it {restarts} times")
    finally:
        machine.root("systemctl revert signetd.service; systemctl restart signetd")


@case("doctor: no findings")
def doctor(machine):
    machine.root("signet doctor")


PLANTS = {
    "chmod 666 /var/lib/signet/keys/1000.pub": "chmod 644 /var/lib/signet/keys/1000.pub",
    "mv $(find /lib /usr/lib -name pam_signet.so | head -n 1) /root/":
        "mv /root/pam_signet.so /usr/lib/$(uname -m)-linux-gnu/security/",
    "systemctl stop signetd.socket signetd.service": "systemctl start signetd.socket",
    "sed -i '1i auth sufficient pam_permit.so' /etc/pam.d/sudo": "sed -i 1d /etc/pam.d/sudo",
}


@case("doctor: planted faults are found, and no longer reported once undone")
def planted(machine):
    for plant, undo in PLANTS.items():
        machine.root(plant)
        status, said = machine.status("signet doctor")
        machine.root(undo)
        expect(status in (6, 7), f"'{plant}' is not found ({status}): {said}")
    machine.root("signet doctor")


@case("lockout after five wrong fingers; the password lifts it")
def lockout(machine):
    left = 5
    while left > 0:
        machine.begin("sudo -k; sudo id -un")
        for _ in range(min(left, 3)):
            machine.see(ASKED + r" *\Z")
            machine.reader.touch("stranger")
            left -= 1
        machine.see(r"\[sudo\] password for alice: *\Z|^Password: *\Z")
        machine.press("ctrl", "c")
        machine.end(1)
    machine.begin("sudo -k; sudo id -un")
    shown = machine.see(r"\[sudo\] password for alice: *\Z|^Password: *\Z")
    expect("too many" in shown or "locked" in shown, f"not a word of the lockout:\n{shown}")
    machine.type(PASSWORD + "\n")
    machine.end(0)
    sudo_with_touch(machine)


def pkexec_begun(machine):
    """pkexec at the first terminal, and its agent in front, at the second: pkexec's own is refused by
    the polkit of Debian 12, whatever the password (polkit issue 17, mended in polkit 124)."""
    machine.root("cd ~alice; rm -f begun ready; runuser -u alice mkfifo ready")
    machine.begin("until [ -e begun ]; do sleep 0.2; done; pkexec --disable-internal-agent id -un")
    machine.switch(2)
    machine.log_in("alice")
    # The agent closes the descriptor when polkit knows it: pkexec would have no agent before.
    machine.type("clear; (cat ready; touch begun) & "
                 "pkttyagent --process $(pgrep -o -t tty1 -u alice) --notify-fd 9 9> ready\n")
    machine.see("touch the reader")


def pkexec_ended(machine):
    machine.terminal = 1
    shown = machine.end(0, 15)
    expect(re.search("^root$", shown, re.M), shown)
    machine.terminal = 2
    machine.press("ctrl", "c")
    machine.type("exit\n")
    machine.switch(1)


@case("pkexec with its agent on another console")
def pkexec(machine):
    pkexec_begun(machine)
    machine.reader.touch()
    pkexec_ended(machine)


@case("pkexec without a touch: the password is asked for, and the command runs at once")
def pkexec_password(machine):
    pkexec_begun(machine)
    machine.see(r"Password: *\Z", 90)
    machine.type(PASSWORD + "\n")
    pkexec_ended(machine)


@case("run0 on the console", absent=("bookworm",))
def run0(machine):
    machine.begin("run0 id -un")
    machine.see("touch the reader")
    machine.reader.touch()
    shown = machine.end(0)
    expect(re.search("root", shown, re.M), shown)


def by_user_manager(machine):
    """What `signet verify` says under alice's service manager."""
    machine.root("rm -f /home/alice/said; runuser -u alice -- env XDG_RUNTIME_DIR=/run/user/1000 "
                 "systemd-run --quiet --user --collect "
                 "sh -c 'signet verify > ~/saying 2>&1; mv ~/saying ~/said'")
    wait_for("nothing is said", 60, lambda: machine.status("test -e /home/alice/said")[0] == 0)
    return machine.root("cat /home/alice/said")


@case("another user's console is active: no touch for the user in the background")
def switched(machine):
    machine.begin("until [ -e /run/go ]; do sleep 0.2; done; sudo -k; sudo id -un")
    machine.switch(2)
    machine.log_in("bob", PASSWORD)
    machine.root("touch /run/go")
    machine.terminal = 1
    shown = machine.see(r"[Pp]assword( for alice)?: *\Z")
    expect("touch" not in shown, shown)
    said = by_user_manager(machine)
    expect("this session is not the active one" in said, said)
    machine.terminal = 2
    machine.type("exit\n")
    machine.switch(1)
    machine.root("rm /run/go")
    machine.type(PASSWORD + "\n")
    machine.end(0)
    sudo_with_touch(machine)


@case("a lingering service gets no touch")
def lingering(machine):
    machine.root("loginctl enable-linger alice")
    machine.type("exit\n")
    machine.see("login: ?$", 90)
    said = by_user_manager(machine)
    expect("no active session at a seat" in said, said)
    machine.root("loginctl disable-linger alice")
    machine.log_in("alice")


@case("a deleted account: its successor gets no touch, and userdel's hook deletes its fingers")
def successor(machine):
    hook = "/etc/shadow-maint/userdel-post.d/signet"
    make = (f"useradd -m -u 1777 -s /bin/bash carol && echo 'carol:{PASSWORD}' | chpasswd "
            "&& cp ~alice/.bashrc ~carol/ && sed -i s/alice/carol/ ~carol/.bashrc")
    left = "ls /var/lib/signet/private/accounts/1777 /var/lib/signet/keys/1777.pub"
    machine.root(make)
    for is_hooked in (False, True):
        machine.type("exit\n")
        machine.see("login: ?$", 90)
        machine.log_in("carol", PASSWORD)
        enroll(machine, finger="carol-right", name="carol", compared=1)
        machine.begin("su carol -c 'id -un'")
        machine.see(ASKED)
        machine.reader.touch("carol-right")
        machine.end(0)
        machine.type("exit\n")
        machine.see("login: ?$", 90)
        wait_for("carol's processes do not end", 90,
                 lambda: machine.root("pgrep -u carol; true") == "")
        if not is_hooked:
            machine.root(f"mv {hook} /srv/hook")
        machine.root("userdel -r carol")
        if is_hooked:
            expect(machine.status(left)[0] != 0, "userdel's hook deleted nothing")
            break
        machine.root(f"mv /srv/hook {hook}; {make}")
        machine.log_in("carol", PASSWORD)
        expect("renamed or replaced" in machine.screen(), machine.screen())
        machine.begin("su carol -c 'id -un'")
        shown = machine.see("Password:")
        expect("touch the reader" not in shown, shown)
        machine.type(PASSWORD + "\n")
        machine.end(0)
        machine.root("signet delete --all --account carol")
        expect(machine.status(left)[0] != 0, "'signet delete --all' left something")
    machine.log_in("alice")


@case("fprintd alongside: one touch at sudo, Signet's")
def fprintd(machine):
    machine.root("apt-get -q -y install --no-install-recommends fprintd libpam-fprintd")
    said = machine.root("fprintd-list alice; true")
    expect("no fingers" in said or "found 1 devices" in said.lower(), said)
    sudo_with_touch(machine)
    machine.root("apt-get -q -y purge fprintd libpam-fprintd")


@case("an upgrade of a running daemon while a login waits")
def upgrade(machine):
    machine.begin("sudo -k; sudo id -un")
    machine.see(ASKED)
    before = daemon(machine)
    machine.root("apt-get -q -y install --no-install-recommends /srv/debs/next/*.deb")
    machine.see(r"[Pp]assword( for alice)?: *\Z")
    machine.type(PASSWORD + "\n")
    machine.end(0)
    expect(daemon(machine) != before, "the daemon is the old one")
    enforced(machine)
    sudo_with_touch(machine)


@case("signet-server and signet-relay under systemd: a login at the server")
def server(machine):
    try:
        log_in_at_server(machine)
    except Failed as failed:
        said = machine.root("journalctl --no-pager -b -u signet-server -u signet-relay", check=False)
        raise Failed(f"{failed}\n{said[-4000:]}") from None


def log_in_at_server(machine):
    machine.root("apt-get -q -y install --no-install-recommends /srv/debs/signet-server_*.deb")
    machine.root("install -d /etc/signet/tls /etc/signet/server.conf.d /etc/signet/signet.conf.d; "
                 "install -o signet-server -m 600 /srv/debs/tls/* /etc/signet/tls; "
                 "install -m 644 /srv/debs/tls/chain.pem /etc/signet/authority; "
                 "printf '[server]\\nurl = https://localhost:8443\\n[listen]\\n"
                 "certificate = /etc/signet/tls/chain.pem\\nkey = /etc/signet/tls/key.pem\\n' "
                 "> /etc/signet/server.conf.d/machine.conf; "
                 "printf '[relay]\\nca-file = /etc/signet/authority\\n' "
                 "> /etc/signet/signet.conf.d/machine.conf; "
                 "systemctl enable --now signet-server.service")
    admin = "runuser -u signet-server -- signet-server admin "
    machine.root(admin + "application add shop")
    code = machine.root(admin + "activation add shop alice").strip()
    machine.begin("signet enable --server https://localhost:8443")
    machine.see("Activation code for")
    machine.type(code + "\n")
    machine.see("Password of alice:")
    machine.type(PASSWORD + "\n")
    machine.see("touch the reader")
    machine.reader.touch()
    machine.end(0)
    machine.begin("signet login https://localhost:8443")
    machine.see("touch the reader")
    machine.reader.touch()
    machine.end(0)
    said = machine.root("journalctl --unit=signet-server --no-pager -b")
    expect("Failed to set thread priority" not in said, said[-1500:])


@case("reboot: a login with a touch, from the same fingers")
def reboot(machine):
    expect_no_denials(machine)
    machine.root("systemctl reboot --no-block")
    machine.booted()
    machine.root("mount -t 9p -o trans=virtio,ro debs /srv/debs")
    enforced(machine)
    machine.give_name("alice")
    machine.see(ASKED)
    machine.reader.touch()
    machine.see(r"^alice\$")
    sudo_with_touch(machine)


def asleep(machine):
    machine.root("systemctl suspend --no-block")
    wait_for("the machine does not sleep", 60,
             lambda: machine.monitor.ask("query-status")["status"] == "suspended")


def wakes(machine):
    """Whether the machine comes back from sleep, into which it is sent while a finger is awaited.

    QEMU's own processor (version 7.2) sometimes has flags after it that no program has set, the one for
    single steps among them, and the kernel goes no further: then the machine is started anew."""
    machine.begin("sudo -k; sudo id -un")
    machine.see(ASKED)
    machine.root("sync")
    machine.root("systemctl suspend --no-block")
    wait_for("the machine does not sleep", 60,
             lambda: machine.monitor.ask("query-status")["status"] == "suspended")
    machine.monitor.ask("system_wakeup")
    if machine.answers(45):
        return True
    print(f"machine: {machine.release}: it did not come back from sleep: once more", flush=True)
    machine.monitor.ask("system_reset")
    begin_anew(machine)
    return False


@case("suspend and resume (ACPI S3): the prompt ends, and the next touch counts")
def suspended(machine):
    expect(any(wakes(machine) for _ in range(5)), "it came back from sleep not once in five times")
    machine.see("going to sleep")
    machine.type(PASSWORD + "\n")
    machine.end(0)
    sudo_with_touch(machine)
    restart(machine)


def begin_anew(machine):
    """Waits for the machine's start, and logs alice in."""
    machine.booted()
    machine.root("mount -t 9p -o trans=virtio,ro debs /srv/debs")
    machine.log_in("alice")


def restart(machine):
    """Starts the machine anew with a clean disk and nothing else: after S3, QEMU's own processor wakes
    no sleeper any more."""
    expect_no_denials(machine)
    machine.send("sync; echo u > /proc/sysrq-trigger; "
                 "until grep -q ' / ext4 ro' /proc/mounts; do :; done; "
                 "echo b > /proc/sysrq-trigger")
    begin_anew(machine)


@case("cleared TPM: the password works, and doctor's advice makes touches work again")
def cleared(machine):
    machine.root("tpm2_clear -c l")
    machine.begin("sudo -k; sudo id -un")
    shown = machine.see(r"or type the password: *\Z|[Pp]assword( for alice)?: *\Z")
    if "or type the password" in shown:
        machine.reader.touch()
        machine.see(r"\[sudo\] password for alice: *\Z|^Password: *\Z")
    machine.type(PASSWORD + "\n")
    machine.end(0)
    status, said = machine.status("signet doctor")
    expect(status != 0 and "signet vault trust" in said, f"doctor does not say what to do: {said}")
    said = machine.root("signet vault trust")
    for command in ("signet delete --all", "signet enroll"):
        expect(command in said, f"the next step is not told: {said}")
    machine.begin("signet delete --all")
    machine.see("Password of alice:")
    machine.type(PASSWORD + "\n")
    machine.end(0)
    enroll(machine)
    sudo_with_touch(machine)


@case("AppArmor denied nothing in any of these cases")
def denials(machine):
    expect_no_denials(machine)


@case("purge: no state, no module in a stack, no profile in the kernel, and the password works")
def purge(machine):
    machine.root("apt-get -q -y purge signet libpam-signet")
    said = machine.root("grep -l pam_signet /etc/pam.d/*; ls -d /var/lib/signet /run/signet "
                        "2> /dev/null; ps --no-headers -C signetd,signet-reader; "
                        "grep signet /sys/kernel/security/apparmor/profiles; true")
    expect(said == "", f"left: {said}")
    machine.begin("sudo -k; sudo id -un")
    machine.see(r"password for alice: *\Z")
    machine.type(PASSWORD + "\n")
    machine.end(0)


@case("reinstalled after the purge: a finger still stored on the reader can be enrolled")
def enrolled_again(machine):
    machine.root("apt-get -q -y install --no-install-recommends "
                 "/srv/debs/signet_*.deb /srv/debs/libpam-signet_*.deb")
    machine.root("pam-auth-update --enable signet")
    machine.begin("signet enroll right-index")
    machine.see("Password of alice:")
    machine.type(PASSWORD + "\n")
    machine.see("touch the reader")
    machine.reader.touch()
    shown = machine.end(1)
    expect("signet readers --delete-foreign" in shown, shown)
    machine.root("signet readers --delete-foreign")
    enroll(machine)
    sudo_with_touch(machine)
