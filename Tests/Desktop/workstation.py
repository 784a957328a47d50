# SPDX-License-Identifier: Apache-2.0
"""A Debian with systemd, logind, polkit and a person's desktop session, and a finger for it."""

import json
import os
import secrets
import shlex
import shutil
import socket
import subprocess
import time

PASSWORD = "correct horse"
USER = "alice"
# As docs/admin/DESKTOPS.md advises: these have services for the finger beside them.
CONFIGURATION = "[login]\nservices = !kde, !gdm-password\n"
OURS = "net.reactivated.Fprint"


class Failed(Exception):
    """What a scene expected did not come."""


def expect(condition, what):
    """Fails unless the condition holds."""
    if not condition:
        raise Failed(what)


def wait_for(what, seconds, condition):
    """Waits until the condition gives something true, and gives that."""
    end = time.monotonic() + seconds
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end:
            raise Failed(f"waited {seconds} s in vain: {what}")
        time.sleep(0.1)


class Workstation:
    """A machine of a release, booted from its root, in which nothing is changed."""

    def __init__(self, work, release, pictures=None):
        self.work, self.release, self.pictures = work, release, pictures
        self.agent, self.read_of_dialogue, self.traced = None, 0, 0
        self.cgroup = f"{work}/run/hierarchy/signet-desktop.{secrets.token_hex(4)}"
        self.keeper = self.first = None
        self.begun = []

    # Its beginning and its end

    def start(self):
        """Boots it."""
        hierarchy = os.path.dirname(self.cgroup)
        if not os.path.isdir(hierarchy):
            os.mkdir(hierarchy)
            subprocess.run(["mount", "-t", "cgroup2", "cgroup2", hierarchy], check=True)
        os.mkdir(self.cgroup)
        self.keeper = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "Tests/Package/boot", self.cgroup,
             f"{self.work}/{self.release}"], stdout=subprocess.PIPE, text=True)
        said = self.keeper.stdout.readline()
        expect(said.startswith("PID "), f"the machine does not start: {said}")
        self.first = said.split()[1]
        # systemd takes the boot script's place; its root is the machine's from before that on.
        with open(self.path("/run/booted"), encoding="ascii") as booted:
            expect(booted.readline() == "booted\n", "systemd does not come up")

    def stop(self):
        """Ends the machine."""
        if self.first:
            try:
                os.kill(int(self.first), 9)
            except OSError:
                pass
        # The first process ends when all others have, and the keeper then.
        if self.keeper:
            self.keeper.wait(30)
        subprocess.run(["find", self.cgroup, "-depth", "-type", "d", "-exec", "rmdir", "{}", "+"],
                       stderr=subprocess.DEVNULL, check=False)

    def path(self, path):
        """Where a file of the machine's is, as this machine sees it."""
        return f"/proc/{self.first}/root{path}"

    def write(self, path, text, mode=0o644):
        """Writes a file of the machine's."""
        os.makedirs(os.path.dirname(self.path(path)), exist_ok=True)
        with open(self.path(path), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(path), mode)

    def read(self, path):
        """The text of a file of the machine's; empty if there is none."""
        try:
            with open(self.path(path), encoding="utf-8", errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    # Root's hands

    def root(self, command, check=True, typed=None, seconds=120):
        """What a shell command of root's says; outside of any session."""
        done = subprocess.run(
            ["nsenter", "--target", self.first, "--all", "env", "-i", "LC_ALL=C.UTF-8",
             "PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive",
             "sh", "-c", command], input=typed, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace", timeout=seconds, check=False)
        if check and done.returncode != 0:
            raise Failed(f"'{command}' ended with {done.returncode}: {done.stdout}")
        return done.stdout

    def install(self):
        """Installs our packages as they are; only the hardware is played."""
        shutil.copytree(f"{self.work}/run/debs", self.path("/srv/debs"))
        self.root("apt-get -q -y install --no-install-recommends /srv/debs/*.deb")
        shutil.copy("build/testreader", self.path("/srv/testreader"))
        # The reader process, under its own user, creates the socket at which a finger is simulated.
        self.write("/etc/systemd/system/signet-reader.service.d/played.conf", """\
[Service]
ExecStart=
ExecStart=/srv/testreader --storage /run/readers/reader
ReadWritePaths=/run/readers
""")
        os.makedirs(self.path("/run/desktop"))
        os.chmod(self.path("/run/desktop"), 0o1777)
        os.mkdir(self.path("/run/readers"))
        os.chmod(self.path("/run/readers"), 0o1777)
        self.root("systemctl daemon-reload")
        # GNOME's lock screen needs gdm. Its own login screen has no console here, and must not take the
        # seat from the person.
        self.write("/etc/pam.d/gdm-launch-environment", "".join(
            f"{group} required pam_deny.so\n" for group in ("auth", "account", "session")))
        self.root("systemctl start gdm3.service")
        self.root(f"useradd --create-home --shell /bin/bash {USER}")
        self.root("chpasswd", typed=f"{USER}:{PASSWORD}\n")
        self.root("pam-auth-update --enable signet")
        self.write("/etc/signet/signet.conf.d/desktop.conf", CONFIGURATION)
        self.name_our_module()
        self.root("systemd-run --quiet --unit=trace --property=StandardOutput=file:/run/desktop/trace "
                  "busctl monitor --json=short")

    def name_our_module(self):
        """Has the stacks that name fprintd's module use ours.

        Where the packages have a pam_fprintd.so of their own, the stacks are left as they are.
        """
        if self.root("ls /usr/lib/*/security/pam_fprintd.so", check=False).startswith("/usr"):
            return
        for service in ("gdm-fingerprint", "kde-fingerprint"):
            self.root(f"for file in /etc/pam.d/{service} /usr/lib/pam.d/{service}; do "
                      "if [ -e $file ]; then "
                      f"sed s/pam_fprintd.so/pam_signet.so/ $file > /run/{service}; "
                      f"cp /run/{service} /etc/pam.d/{service}; break; fi; done")

    # The person's session

    def log_in(self):
        """Begins a session of the person's at the seat, with a display, and what acts there."""
        shutil.copytree("Tests/Desktop/inside", self.path("/srv/inside"), dirs_exist_ok=True)
        self.write("/etc/systemd/system/desktop-session.service", f"""\
[Service]
User={USER}
PAMName=login
Environment=XDG_SEAT=seat0 XDG_SESSION_TYPE=x11 XDG_SESSION_CLASS=user
WorkingDirectory=~
ExecStart=/srv/inside/session
StandardOutput=file:/run/desktop/session.log
StandardError=inherit
""")
        self.root("systemctl daemon-reload; systemctl start desktop-session.service")
        wait_for("the session does not begin: " + self.read("/run/desktop/session.log"), 60,
                 lambda: os.path.exists(self.path("/run/desktop/hands")))

    def ask(self, request, seconds):
        """What the program in the session answers to a request."""
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(seconds + 10)
            line.connect(self.path("/run/desktop/hands"))
            line.sendall(json.dumps(request).encode())
            line.shutdown(socket.SHUT_WR)
            answer = b""
            while chunk := line.recv(65536):
                answer += chunk
        return json.loads(answer)

    def person(self, command, check=True, seconds=60):
        """What a shell command of the person's says, in the session."""
        answer = self.ask({"command": command, "seconds": seconds}, seconds)
        if check and answer["status"] != 0:
            raise Failed(f"'{command}' ended with {answer['status']}: {answer['said']}")
        return answer["said"]

    def begin(self, command, log):
        """Starts a program in the session that goes on; gives its pid there."""
        pid = self.ask({"begin": command, "log": f"/run/desktop/{log}"}, 10)["pid"]
        self.begun.append(pid)
        return pid

    def end(self, pid):
        """Ends a program that was started so."""
        self.begun.remove(pid)
        self.ask({"end": pid}, 10)

    # The reader

    def put_finger(self, words):
        """Says something to the virtual reader; false if no process has it open."""
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(20)
            try:
                line.connect(self.path("/run/readers/reader"))
                line.sendall(words.encode())
                line.shutdown(socket.SHUT_WR)
                return line.recv(1) == b""
            except OSError:
                return False

    def touch(self, finger, seconds=20):
        """Puts a finger on the reader as soon as that is open."""
        wait_for("no touch is asked for", seconds, lambda: self.put_finger(f"SCAN {finger}"))

    # The screen

    def screen(self, words, *names):
        """Has Tests/Desktop/inside/screen do something; gives what it says."""
        return self.person(" ".join(["/srv/inside/screen", words, *map(shlex.quote, names)]))

    def picture(self, name, change="-trim +repage"):
        """Takes a picture of the screen for the documentation, if one is wanted."""
        if not self.pictures:
            return
        # What fades in has then faded in.
        self.person("xdotool mousemove_relative 3 3; sleep 2; "
                    f"import -window root png:- | convert - {change} -strip -colors 128 "
                    "png8:/run/desktop/picture.png")
        shutil.copy(self.path("/run/desktop/picture.png"), f"{self.pictures}/{name}.png")

    # What can be known of Signet

    def fingers(self):
        """The fingers of the person's that are enrolled."""
        said = self.root(f"signet list --account {USER} --json", check=False)
        if not said.startswith("{"):
            return []
        return [finger["finger"] for finger in json.loads(said)["fingers"]]

    def receipts(self):
        """What `signet log` says of the person's touches, line by line."""
        return self.root(f"signet log --account {USER}").splitlines()

    def forget_traffic(self):
        """Begins a new trace of the bus."""
        self.traced = len(self.read("/run/desktop/trace"))

    def traffic(self):
        """The calls to the fingerprint service since then, its signals, and the errors that it gives:
        ("call" or "signal", its name, arguments) or ("error", its name, text)."""
        found, ours = [], set()
        for line in self.read("/run/desktop/trace")[self.traced:].splitlines():
            try:
                message = json.loads(line)
            except ValueError:
                continue
            interface, data = message.get("interface", ""), message.get("payload", {}).get("data", [])
            if message["type"] == "method_call" and interface.startswith(OURS):
                ours.add((message["sender"], message["cookie"]))
                found.append(("call", message["member"], data))
            elif message["type"] == "signal" and interface.startswith(OURS):
                found.append(("signal", message["member"], data))
            elif message["type"] == "error" \
                    and (message.get("destination"), message.get("reply_cookie")) in ours:
                found.append(("error", message.get("error_name"), data))
        return found

    def calls(self):
        """The names of the calls, without those that only look."""
        return [name for kind, name, _ in self.traffic() if kind == "call"]

    def wait_for_signal(self, name, result):
        """Waits for a result that the service reports."""
        wait_for(f"{name} does not report {result}", 20,
                 lambda: any(entry[:2] == ("signal", name) and entry[2][0] == result
                             for entry in self.traffic()))

    # The person at polkit's dialogue

    def answers(self, words):
        """What the person does when polkit asks for the password."""
        self.write("/run/desktop/answer.new", words + "\n", 0o644)
        os.rename(self.path("/run/desktop/answer.new"), self.path("/run/desktop/answer"))

    def dialogue(self):
        """What polkit's dialogue has said since forget_dialogue."""
        return self.read("/run/desktop/agent.log")[self.read_of_dialogue:].splitlines()

    def forget_dialogue(self):
        self.read_of_dialogue = len(self.read("/run/desktop/agent.log"))

    def start_agent(self):
        """Starts polkit's agent in the session."""
        self.agent = self.begin("/srv/inside/agent", "agent.log")
        self.read_of_dialogue = 0
        wait_for("polkit takes no agent", 20, lambda: "registered" in self.dialogue())

    def end_agent(self):
        """Ends polkit's agent: desktops bring their own."""
        if self.agent:
            self.end(self.agent)
            self.agent = None

    def end_all(self):
        """Ends what a scene has started, and starts polkit's agent anew if it has ended that."""
        for pid in list(self.begun):
            if pid != self.agent:
                self.end(pid)
        if not self.agent:
            self.start_agent()
