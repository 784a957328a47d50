# SPDX-License-Identifier: Apache-2.0
"""A whole machine in QEMU, and hands, eyes and a finger for it."""

import base64
import json
import os
import re
import select
import shutil
import socket
import subprocess
import time


class Failed(Exception):
    """What a case expected did not come."""


def wait_for(what, seconds, condition):
    """Waits until the condition gives something true, and gives that."""
    end = time.monotonic() + seconds
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end:
            raise Failed(f"waited {seconds} s in vain: {what}")
        time.sleep(0.2)


def connect(path, seconds=20):
    """A connection to a socket that QEMU or a reader opens soon."""
    def attempt():
        line = socket.socket(socket.AF_UNIX)
        try:
            line.connect(path)
            return line
        except OSError:
            line.close()
            return None
    return wait_for(f"no socket {path}", seconds, attempt)


class Monitor:
    """QEMU's own: keys, waking up."""

    def __init__(self, path):
        self.file = connect(path).makefile("rw")
        self.file.readline()
        self.ask("qmp_capabilities")

    def ask(self, command, **arguments):
        self.file.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self.file.flush()
        while True:
            answer = json.loads(self.file.readline())
            if "return" in answer:
                return answer["return"]
            if "error" in answer:
                raise Failed(f"{command}: {answer['error']['desc']}")


KEYS = {
    " ": "spc", "-": "minus", "=": "equal", ";": "semicolon", "'": "apostrophe", ",": "comma",
    ".": "dot", "/": "slash", "\\": "backslash", "[": "bracket_left", "]": "bracket_right",
    "`": "grave_accent", "\n": "ret",
}
SHIFTED = dict(zip('!@#$%^&*()_+{}|:"<>?~', "1234567890-=[]\\;',./`"))


def keys_of(char):
    """The keys of an American keyboard for a character."""
    if char in SHIFTED:
        return ["shift"] + keys_of(SHIFTED[char])
    if char.isupper():
        return ["shift", char.lower()]
    return [KEYS.get(char, char)]


class Reader:
    """A played reader, plugged in for as long as its program runs."""

    def __init__(self, run, model):
        self.place = f"{run}/{model}"
        os.makedirs(self.place, exist_ok=True)
        environment = dict(os.environ, PLAYED_READER=model, PLAYED_PLACE=self.place)
        self.process = subprocess.Popen([f"{run}/reader-cable", f"{run}/reader"], env=environment)

    def tell(self, words, awaits=True):
        """Has something happen to it; returns when that is done, a touch when it was taken."""
        line = connect(f"{self.place}/control")
        line.sendall(words.encode())
        line.shutdown(socket.SHUT_WR)
        if awaits:
            line.recv(1)
        line.close()

    def touch(self, finger="alice-right"):
        self.tell(f"TOUCH {finger}")

    def pull(self):
        self.process.kill()
        self.process.wait()


class Machine:
    """Debian of a release, booted from its disk, of which nothing is changed."""

    def __init__(self, work, release, accelerator):
        self.release, self.run = release, f"{work}/run"
        self.disk = f"{work}/{release}"
        self.accelerator = accelerator
        self.terminal = 1
        self.reader = None
        self.processes = []
        self.boots = 0

    def start(self):
        run = self.run
        for name in ("monitor", "hands", "reader", "tpm"):
            if os.path.exists(f"{run}/{name}"):
                os.unlink(f"{run}/{name}")
        shutil.rmtree(f"{run}/tpm-state", ignore_errors=True)
        os.makedirs(f"{run}/tpm-state")
        self.processes.append(subprocess.Popen([
            "swtpm", "socket", "--tpm2", "--tpmstate", f"dir={run}/tpm-state",
            "--ctrl", f"type=unixio,path={run}/tpm"], stdout=subprocess.DEVNULL))
        wait_for("the TPM does not start", 10, lambda: os.path.exists(f"{run}/tpm"))
        self.processes.append(subprocess.Popen(
            ["qemu-system-x86_64", "-M", "q35", *self.accelerator, "-smp", "2", "-m", "1536",
             "-nodefaults", "-no-user-config", "-display", "none", "-vga", "std",
             "-drive", f"file={self.disk}/disk,format=raw,if=virtio,snapshot=on,cache=unsafe",
             "-kernel", f"{self.disk}/kernel", "-initrd", f"{self.disk}/initrd",
             "-append", "root=/dev/vda rw console=ttyS0 console=tty0 quiet loglevel=1",
             "-serial", f"file:{run}/console",
             "-chardev", f"socket,id=monitor,path={run}/monitor,server=on,wait=off",
             "-mon", "chardev=monitor,mode=control",
             "-chardev", f"socket,id=tpm,path={run}/tpm",
             "-tpmdev", "emulator,id=tpm,chardev=tpm", "-device", "tpm-tis,tpmdev=tpm",
             "-device", "qemu-xhci",
             "-chardev", f"socket,id=reader,path={run}/reader,server=on,wait=off",
             "-device", "usb-redir,chardev=reader",
             "-device", "virtio-serial-pci",
             "-chardev", f"socket,id=hands,path={run}/hands,server=on,wait=off",
             "-device", "virtserialport,chardev=hands,name=hands",
             "-virtfs", f"local,path={run}/debs,mount_tag=debs,security_model=none,readonly=on"],
            # Where the snapshot lies: QEMU deletes its name at once.
            env=dict(os.environ, TMPDIR=os.path.dirname(self.disk))))
        self.monitor = Monitor(f"{run}/monitor")
        self.take_hands()
        self.booted()

    def take_hands(self):
        hands = connect(f"{self.run}/hands")
        # No command takes that long: a machine that hangs is reset.
        hands.settimeout(600)
        self.line, self.hands = hands, hands.makefile("rw")

    def reset(self):
        """Starts the machine anew as its button does, with the disk as it is."""
        self.hands.close()
        self.line.close()
        self.monitor.ask("system_reset")
        self.take_hands()

    def booted(self):
        """Waits until all services of the boot are up."""
        while True:
            line = self.hands.readline()
            if not line:
                raise Failed("QEMU has ended: " + self.console())
            if line.strip() == "ready":
                break
        # What was asked before, and never answered, may be answered first.
        self.boots += 1
        self.send(f"echo boot {self.boots}")
        while f"boot {self.boots}" not in self.answer()[1]:
            pass
        # Not with --wait, which hears nothing before the bus is there.
        state = wait_for("the machine does not come up", 300, self.state)
        if state != "running":
            raise Failed(f"the machine is {state}: {self.root('systemctl --failed', check=False)}")
        self.terminal = 1

    def state(self):
        said = self.root("systemctl is-system-running", check=False).strip()
        return None if said in ("", "initializing", "starting") else said

    def console(self):
        with open(f"{self.run}/console", errors="replace") as file:
            return file.read()[-2000:]

    def stop(self):
        for process in reversed(self.processes):
            process.kill()
            process.wait()
        self.processes = []

    # As root, outside of any session.

    def send(self, command):
        self.hands.write(base64.b64encode(command.encode()).decode() + "\n")
        self.hands.flush()

    def status(self, command):
        """The exit status of a command and what it said."""
        self.send("export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive; " + command)
        return self.answer()

    def answers(self, seconds):
        """Whether the machine does so soon what it is told."""
        self.send("true")
        if not select.select([self.line], [], [], seconds)[0]:
            return False
        return self.answer()[0] == 0

    def answer(self):
        """The exit status of what was asked, and what it said."""
        while True:
            line = self.hands.readline()
            if not line:
                raise Failed("QEMU has ended: " + self.console())
            if re.match(r"\d+ ", line) or line.strip().isdigit():
                break
        status, _, said = line.strip().partition(" ")
        return int(status), base64.b64decode(said).decode(errors="replace")

    def root(self, command, check=True):
        status, said = self.status(command)
        if check and status != 0:
            raise Failed(f"'{command}' ended with {status}: {said}")
        return said

    # At the keyboard and the screen.

    def press(self, *keys):
        for down in (True, False):
            self.monitor.ask("input-send-event", events=[
                {"type": "key", "data": {"down": down, "key": {"type": "qcode", "data": key}}}
                for key in (keys if down else reversed(keys))])
        time.sleep(0.03)

    def type(self, text):
        for index, char in enumerate(text):
            self.press(*keys_of(char))
            # The keyboard keeps 16 bytes for a machine that is busy, about 5 keys, and loses the rest.
            if index % 4 == 3:
                self.root("true")

    def switch(self, terminal):
        """To another virtual terminal, as its keys do."""
        self.press("ctrl", "alt", f"f{terminal}")
        wait_for(f"terminal {terminal} is not in front", 20,
                 lambda: self.root("cat /sys/class/tty/tty0/active").strip() == f"tty{terminal}")
        self.terminal = terminal

    def screen(self):
        said = self.root(f"head -c 2 /dev/vcsa{self.terminal} | od -An -tu1; "
                         f"cat /dev/vcs{self.terminal}")
        sizes, _, text = said.partition("\n")
        columns = int(sizes.split()[1])
        lines = [text[i:i + columns].rstrip() for i in range(0, len(text), columns)]
        return "\n".join(lines).rstrip()

    def see(self, pattern, seconds=60):
        """Waits until the screen shows it, and gives the screen."""
        shown = ""

        def look():
            nonlocal shown
            shown = self.screen()
            return re.search(pattern, shown, re.M)
        try:
            wait_for(pattern, seconds, look)
        except Failed:
            raise Failed(f"the screen does not show '{pattern}' in {seconds} s:\n{shown}") from None
        return shown

    def begin(self, line):
        """Types a line at the shell's prompt, on an empty screen."""
        self.type(f"clear; {line}; echo en''ded $?.\n")

    def end(self, status=0, seconds=60):
        """Waits for the end of what was begun, and gives the screen."""
        shown = self.see(r"ended \d+\.", seconds)
        if f"ended {status}." not in shown:
            raise Failed(f"it did not end with {status}:\n{shown}")
        return shown

    def give_name(self, name):
        """Types a name at getty's prompt, and again where it was typed before getty listened."""
        for _ in range(4):
            try:
                self.see("login: ?$", 30)
                self.type(name + "\n")
                self.see(rf"login: {name}$", 10)
                return
            except Failed:
                self.press("ret")
        raise Failed(f"getty does not take '{name}'")

    def log_in(self, name, password="correct horse"):
        if re.search(rf"^{name}\$ *\Z", self.screen(), re.M):
            return
        self.give_name(name)
        self.see("[Pp]assword")
        self.type(password + "\n")
        self.see(rf"^{name}\$")
