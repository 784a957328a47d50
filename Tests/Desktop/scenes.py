# SPDX-License-Identifier: Apache-2.0
"""What a scene is, and what scenes share."""

from workstation import PASSWORD, expect, wait_for

BOTH = ("bookworm", "trixie")
MOST_SCANS = 10


class Scene:
    """One row of the table."""

    def __init__(self, name, function, releases, always, needs):
        self.name, self.function, self.releases = name, function, releases
        self.always, self.needs = always, needs


def scene(scenes, name, releases=BOTH, always=False, needs=lambda _: False):
    """Adds a row; `always` for what later ones need, `needs` tells what is missing for it."""
    def add(function):
        scenes.append(Scene(name, function, releases, always, needs))
        return function
    return add


def reports(workstation):
    """What the service has said of an enrolment: result and whether it is the last."""
    return [arguments for kind, name, arguments in workstation.traffic()
            if (kind, name) == ("signal", "EnrollStatus")]


def scan(workstation, finger):
    """Puts a finger on the reader as often as an enrolment asks for it."""
    for number in range(1, MOST_SCANS + 1):
        workstation.touch(finger)
        wait_for(f"touch {number} is not reported", 20,
                 lambda: len(reports(workstation)) >= number)
        result, is_done = reports(workstation)[-1]
        if is_done:
            expect(result == "enroll-completed", f"the enrolment ends with {result}")
            return
    expect(False, f"the enrolment does not end after {MOST_SCANS} touches")


def enrol(workstation, name, finger):
    """Enrols a finger over the bus, as a settings page would, without a window."""
    workstation.answers("password " + PASSWORD)
    workstation.begin(f"/srv/inside/client enroll {name}", "client.log")
    scan(workstation, finger)
    wait_for("the claim does not end", 20,
             lambda: "Release" in workstation.read("/run/desktop/client.log"))


def expect_order(workstation, *names):
    """Checks that the service was called so, in this order; other calls may come between."""
    calls = iter(workstation.calls())
    for name in names:
        expect(any(call == name for call in calls),
               f"{name} was not called in its turn: {workstation.calls()}")


def expect_no_errors(workstation):
    """Checks that the service refused nothing."""
    errors = [entry for entry in workstation.traffic()
              if entry[0] == "error" and "NoEnrolledPrints" not in entry[1]]
    expect(not errors, f"the service refused: {errors}")
