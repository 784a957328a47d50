# SPDX-License-Identifier: Apache-2.0
"""Lock screens unlock by a touch of the person's finger, and by no other."""

from scenes import expect_order, scene
from workstation import PASSWORD, expect, wait_for

SCENES = []
GREETER = "/usr/lib/x86_64-linux-gnu/libexec/kscreenlocker_greet"
# What the lockers' stacks are called: Plasma 5.27 has none for the finger alone.
KDE_SERVICE = {"bookworm": "kde", "trixie": "kde-fingerprint"}


def lock_kde(workstation):
    """KDE's lock screen with its password field, waiting for a finger."""
    workstation.begin(
        "env XDG_CURRENT_DESKTOP=KDE QT_LOGGING_RULES='kscreenlocker*=true' "
        f"QT_FORCE_STDERR_LOGGING=1 sh -c '{GREETER} --testing; echo ended $?'", "locker.log")
    wait_for("the lock screen does not show", 30,
             lambda: "Locked at" in workstation.read("/run/desktop/locker.log"))
    # It asks for nothing before somebody moves.
    workstation.person("xdotool mousemove 300 300 sleep 0.3 mousemove 400 400 sleep 0.3 "
                       "mousemove 500 500")
    wait_for_locker(workstation, "your finger")


def wait_for_locker(workstation, text):
    wait_for(f"the locker does not say '{text}'", 30,
             lambda: text in workstation.read("/run/desktop/locker.log"))


def wait_for_receipt(workstation, service):
    wait_for(f"there is no receipt of {service}", 20, lambda: any(
        line.startswith("#") and f" {service} fingerprint" in line
        for line in workstation.receipts()[-1:]))


@scene(SCENES, "KDE's lock screen: a wrong finger does not unlock, the person's does")
def kde_unlocks(workstation):
    service = KDE_SERVICE[workstation.release]
    if service == "kde":
        workstation.root("rm -f /etc/signet/signet.conf.d/desktop.conf; systemctl restart signetd")
    lock_kde(workstation)
    workstation.touch("stranger")
    wait_for_locker(workstation, "did not match")
    workstation.picture(f"kde-locker-{workstation.release}", "-gravity center -crop 700x560+0+90 "
                        "+repage -resize 60%")
    expect("ended" not in workstation.read("/run/desktop/locker.log"), "a stranger unlocks")
    workstation.touch("right")
    wait_for_locker(workstation, "ended 0")
    wait_for_receipt(workstation, service)


@scene(SCENES, "KDE's lock screen: the password unlocks while a finger is awaited",
       releases=("trixie",))
def kde_password(workstation):
    lock_kde(workstation)
    before = workstation.receipts()
    workstation.person(f"xdotool type --delay 30 '{PASSWORD}'; xdotool key Return")
    # At this word, the process that locks the screen unlocks it. The greeter ends only when the wait for
    # a finger is over.
    wait_for_locker(workstation, "Unlocked")
    expect([line for line in workstation.receipts() if line.startswith("#")]
           == [line for line in before if line.startswith("#")], "the password left a receipt")


@scene(SCENES, "KDE's lock screen: keeps the finger while the service restarts",
       releases=("trixie",))
def kde_keeps(workstation):
    lock_kde(workstation)
    wait_for("no finger is awaited", 20, lambda: workstation.put_finger("FINGER 0"))
    workstation.root("systemctl kill --signal=KILL signetd; systemctl restart signetd.socket")
    # The same call of PAM: the locker is told of nothing, and needs nobody to move.
    workstation.touch("right", 40)
    wait_for_locker(workstation, "ended 0")
    wait_for_receipt(workstation, "kde-fingerprint")


@scene(SCENES, "KDE's lock screen: after a time-out, Enter without a password has it ask again",
       releases=("trixie",))
def kde_times_out(workstation):
    # Debian has its stack below /usr; one in /etc takes its place.
    stack = "/etc/pam.d/kde-fingerprint"
    distributed = workstation.read("/usr/lib/pam.d/kde-fingerprint")
    expect("pam_fprintd.so" in distributed, "there is no stack of Debian's")
    workstation.write(stack, distributed.replace("pam_fprintd.so", "pam_fprintd.so timeout=5", 1))
    try:
        lock_kde(workstation)
        wait_for("no finger is awaited", 20, lambda: workstation.put_finger("FINGER 0"))
        wait_for("a finger is awaited without end", 20,
                 lambda: not workstation.put_finger("FINGER 0"))
        # Up to Plasma 6.7, a finger is asked for anew with the next password, after one that was wrong.
        workstation.person("xdotool mousemove 350 350 sleep 0.3 mousemove 450 450 sleep 1 key Return")
        workstation.touch("right")
        wait_for_locker(workstation, "ended 0")
        wait_for_receipt(workstation, "kde-fingerprint")
    finally:
        workstation.root(f"rm {stack}")


def evaluate(workstation, code):
    """What the shell's own code gives; --unsafe-mode allows it."""
    return workstation.person(
        "gdbus call --session --dest org.gnome.Shell --object-path /org/gnome/Shell "
        f"--method org.gnome.Shell.Eval '{code}'", check=False)


def lock_gnome(workstation):
    """GNOME's lock screen in a window, with its password field."""
    # The shell is polkit's agent itself.
    workstation.end_agent()
    workstation.begin("env MUTTER_DEBUG_DUMMY_MODE_SPECS=1024x768 "
                      "gnome-shell --nested --wayland --unsafe-mode", "shell.log")
    wait_for("GNOME does not start", 60,
             lambda: "GNOME Shell started" in workstation.read("/run/desktop/shell.log"))
    wait_for("GNOME cannot lock", 20, lambda: "true" in evaluate(
        workstation, "Main.screenShield !== null && !Main.layoutManager._startingUp"))
    evaluate(workstation, "Main.screenShield.lock(false)")
    wait_for("GNOME does not lock", 20,
             lambda: "unlock-dialog" in evaluate(workstation, "Main.sessionMode.currentMode"))
    workstation.person("xdotool mousemove 640 520 click 1")


@scene(SCENES, "GNOME's lock screen: a wrong finger does not unlock, the person's does",
       releases=("trixie",))
def gnome_unlocks(workstation):
    lock_gnome(workstation)
    wait_for("gdm does not start the stack for fingers", 30,
             lambda: "gdm-fingerprint" in workstation.root("ps ax", check=False))
    expect_order(workstation, "GetDefaultDevice")
    workstation.touch("stranger")
    wait_for("the reader does not ask again", 20, lambda: workstation.put_finger("FINGER 0"))
    workstation.picture("gnome-locker", "-trim +repage -gravity center -crop 600x480+0+40 +repage "
                        "-resize 70%")
    expect("true" in evaluate(workstation, "Main.screenShield.locked"), "a stranger unlocks")
    workstation.touch("right")
    wait_for("GNOME stays locked", 20,
             lambda: "false" in evaluate(workstation, "Main.screenShield.locked"))
    wait_for_receipt(workstation, "gdm-fingerprint")


def hyprlock(workstation):
    workstation.begin("/srv/inside/client hyprlock", "hyprlock.log")


def wait_for_hyprlock(workstation, text):
    wait_for(f"hyprlock's calls do not come to '{text}'", 20,
             lambda: text in workstation.read("/run/desktop/hyprlock.log"))


@scene(SCENES, "hyprlock's calls: a wrong finger does not unlock, the person's does")
def hyprlock_unlocks(workstation):
    hyprlock(workstation)
    workstation.touch("stranger")
    wait_for_hyprlock(workstation, "started 1")
    workstation.touch("right")
    wait_for_hyprlock(workstation, "unlocked")
    expect(workstation.calls() == ["GetDefaultDevice", "Claim", "VerifyStart", "VerifyStop",
                                   "VerifyStart", "VerifyStop", "Release"],
           f"the calls were {workstation.calls()}")
    expect_order(workstation, "Claim", "VerifyStart", "VerifyStop")
    # No login was made of it: the receipt is the desktop's.
    expect("a desktop verification" in workstation.receipts()[-1],
           f"the receipt is {workstation.receipts()[-1]}")


@scene(SCENES, "hyprlock's calls: a touch for another program comes first, and then it waits again")
def hyprlock_yields(workstation):
    hyprlock(workstation)
    wait_for_hyprlock(workstation, "started 0")
    wait_for("no finger is awaited", 20, lambda: workstation.put_finger("FINGER 0"))
    workstation.begin("signet verify", "verify.log")
    wait_for_hyprlock(workstation, "started 1")
    expect("verify-no-match" in workstation.read("/run/desktop/hyprlock.log"), "it was told otherwise")
    workstation.touch("right")
    wait_for("the other program gets no touch", 20,
             lambda: "right-index" in workstation.read("/run/desktop/verify.log"))
    expect("unlocked" not in workstation.read("/run/desktop/hyprlock.log"),
           "the touch for another program unlocks")
    workstation.touch("right")
    wait_for_hyprlock(workstation, "unlocked")


@scene(SCENES, "hyprlock's calls: it waits longer than the time for a finger")
def hyprlock_outlasts(workstation):
    workstation.write("/etc/signet/signet.conf.d/time.conf", "[touch]\ntimeout = 2s\n")
    workstation.root("systemctl restart signetd")
    try:
        hyprlock(workstation)
        wait_for_hyprlock(workstation, "started 0")
        wait_for("no finger is awaited", 20, lambda: workstation.put_finger("FINGER 0"))
        wait_for("the reader does not rest", 20, lambda: not workstation.put_finger("FINGER 0"))
        workstation.touch("right", 40)
        wait_for_hyprlock(workstation, "unlocked")
        expect(workstation.calls().count("VerifyStart") == 1,
               f"the calls were {workstation.calls()}")
    finally:
        workstation.root("rm /etc/signet/signet.conf.d/time.conf; systemctl restart signetd")


@scene(SCENES, "hyprlock's calls: four wrong fingers, and it stays locked")
def hyprlock_stays(workstation):
    hyprlock(workstation)
    for number in range(4):
        workstation.touch("stranger")
        wait_for_hyprlock(workstation, f"started {number + 1}" if number < 3 else "Release")
    wait_for_hyprlock(workstation, "still locked")
    expect("verify-match" not in workstation.read("/run/desktop/hyprlock.log"), "a stranger matches")
    expect(not workstation.put_finger("SCAN right"), "the reader still waits for a finger")
