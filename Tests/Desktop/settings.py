# SPDX-License-Identifier: Apache-2.0
"""GNOME's and KDE's settings add and delete fingers: with the password, and only with it."""

from scenes import enrol, expect_no_errors, expect_order, scan, scene
from workstation import PASSWORD, expect, wait_for

SCENES = []
# GTK 4.8 in Debian 12 does not show this dialogue to assistive technology, nor does Qt 5 KDE's page:
# there is nothing to drive them by.
DRIVABLE = ("trixie",)
DECLINED = "a finger is being added or deleted: use the password"


def open_gnome(workstation):
    """GNOME Settings at the dialogue about fingerprints."""
    workstation.begin("env XDG_CURRENT_DESKTOP=GNOME gnome-control-center system users", "gnome.log")
    workstation.screen("press", "Fingerprint Login", "button")
    workstation.screen("see", "Scan new fingerprint", "table cell")


def begin_in_gnome(workstation, finger):
    """Chooses a finger to add."""
    workstation.screen("press", "Scan new fingerprint", "table cell")
    workstation.screen("press", finger, "button")


def wait_for_dialogue(workstation, text):
    wait_for(f"polkit's dialogue does not say '{text}'", 20,
             lambda: any(text in line for line in workstation.dialogue()))


def wait_for_refusal(workstation, call):
    """Waits until the service refuses the call because polkit did."""
    wait_for(f"{call} is not refused", 20, lambda: any(
        entry[0] == "error" and "PermissionDenied" in entry[1] for entry in workstation.traffic()))
    expect(call in workstation.calls(), f"{call} was not called: {workstation.calls()}")


@scene(SCENES, "GNOME Settings: polkit's dialogue is closed, and no finger is added",
       releases=DRIVABLE)
def gnome_dismissed(workstation):
    workstation.answers("dismiss")
    open_gnome(workstation)
    begin_in_gnome(workstation, "Right index finger")
    wait_for_refusal(workstation, "EnrollStart")
    expect("dismissed" in workstation.dialogue(), f"nobody was asked: {workstation.dialogue()}")
    expect(not workstation.put_finger("SCAN right"), "the reader waits for a finger")
    expect(workstation.fingers() == [], f"a finger was added: {workstation.fingers()}")


@scene(SCENES, "GNOME Settings: a wrong password, and no finger is added", releases=DRIVABLE)
def gnome_wrong_password(workstation):
    workstation.answers("password wrong horse")
    open_gnome(workstation)
    begin_in_gnome(workstation, "Right index finger")
    wait_for_refusal(workstation, "EnrollStart")
    expect("FAILURE" in workstation.dialogue(), f"it was not checked: {workstation.dialogue()}")
    expect(workstation.fingers() == [], f"a finger was added: {workstation.fingers()}")


@scene(SCENES, "GNOME Settings: adds a finger with the password", releases=DRIVABLE)
def gnome_adds(workstation):
    workstation.answers("password " + PASSWORD)
    open_gnome(workstation)
    begin_in_gnome(workstation, "Right index finger")
    scan(workstation, "right")
    workstation.wait_for_signal("EnrollStatus", "enroll-completed")
    workstation.screen("see", "Complete")
    workstation.picture("gnome-settings", "-trim +repage -resize 75%")
    workstation.screen("press", "Done", "button")
    workstation.screen("see", "Delete Fingerprints", "button")
    expect_order(workstation, "GetDevices", "ListEnrolledFingers", "Claim", "EnrollStart",
                 "EnrollStop")
    expect_no_errors(workstation)
    expect(workstation.fingers() == ["right-index"], f"enrolled are {workstation.fingers()}")


@scene(SCENES, "GNOME Settings: while polkit asks, a touch adds nothing", releases=DRIVABLE)
def gnome_touched(workstation):
    expect(workstation.fingers() == ["right-index"], "there is no finger to touch with")
    workstation.answers("hold")
    open_gnome(workstation)
    begin_in_gnome(workstation, "Left index finger")
    # polkit's own stack has our module, which would take a touch for the password.
    wait_for_dialogue(workstation, DECLINED)
    wait_for_dialogue(workstation, "PAM_PROMPT_ECHO_OFF")
    expect(not workstation.put_finger("SCAN right"), "the reader waits for a finger")
    workstation.answers("dismiss")
    wait_for_refusal(workstation, "EnrollStart")
    expect("SUCCESS" not in workstation.dialogue(), f"{workstation.dialogue()}")
    expect(workstation.fingers() == ["right-index"], f"enrolled are {workstation.fingers()}")


@scene(SCENES, "GNOME Settings: deletes the fingers with the password", releases=DRIVABLE)
def gnome_deletes(workstation):
    workstation.answers("password " + PASSWORD)
    open_gnome(workstation)
    workstation.screen("press", "Delete Fingerprints", "button")
    workstation.screen("press", "Delete All", "button")
    wait_for("the finger stays", 20, lambda: workstation.fingers() == [])
    wait_for_dialogue(workstation, "SUCCESS")
    expect_order(workstation, "Claim", "DeleteEnrolledFingers2")
    expect_no_errors(workstation)


def open_kde(workstation):
    """KDE's settings at the dialogue about fingerprints."""
    workstation.begin("env XDG_CURRENT_DESKTOP=KDE systemsettings kcm_users", "kde.log")
    workstation.screen("press", "Configure Fingerprint Authentication…", "button")
    workstation.screen("see", "Configure Fingerprints", "dialog")


@scene(SCENES, "KDE's settings: polkit's dialogue is closed, and no finger is added",
       releases=DRIVABLE)
def kde_dismissed(workstation):
    workstation.answers("dismiss")
    open_kde(workstation)
    workstation.screen("press", "Add", "button")
    workstation.screen("press", "Right index finger", "radio button")
    wait_for_refusal(workstation, "EnrollStart")
    expect(not workstation.put_finger("SCAN right"), "the reader waits for a finger")
    expect(workstation.fingers() == [], f"a finger was added: {workstation.fingers()}")


@scene(SCENES, "KDE's settings: adds a finger with the password", releases=DRIVABLE)
def kde_adds(workstation):
    workstation.answers("password " + PASSWORD)
    open_kde(workstation)
    workstation.screen("press", "Add", "button")
    workstation.screen("press", "Right index finger", "radio button")
    scan(workstation, "right")
    workstation.screen("see", "Finger enrolled")
    workstation.picture("kde-settings", "-trim +repage -resize 75%")
    workstation.screen("press", "Done", "button")
    workstation.screen("see", "Delete fingerprint", "button")
    expect_order(workstation, "GetDefaultDevice", "Claim", "EnrollStart",
                 "EnrollStop")
    # The page asks for the same list dozens of times at once.
    expect_no_errors(workstation)
    expect(workstation.fingers() == ["right-index"], f"enrolled are {workstation.fingers()}")


@scene(SCENES, "KDE's settings: deletes a finger with the password", releases=DRIVABLE)
def kde_deletes(workstation):
    workstation.answers("password " + PASSWORD)
    open_kde(workstation)
    workstation.screen("press", "Delete fingerprint", "button")
    workstation.screen("see", "No fingerprints added")
    expect_order(workstation, "Claim", "DeleteEnrolledFinger")
    expect_no_errors(workstation)
    expect(workstation.fingers() == [], f"enrolled are {workstation.fingers()}")


@scene(SCENES, "a finger is added over the bus, for what follows", always=True)
def finger_for_lockers(workstation):
    if "right-index" not in workstation.fingers():
        enrol(workstation, "right-index-finger", "right")
    expect(workstation.fingers() == ["right-index"], f"enrolled are {workstation.fingers()}")
