# SPDX-License-Identifier: Apache-2.0
"""Linux Mint's fingwit, from a copy of its sources: Debian has no package of it."""

import subprocess

from scenes import expect_order, scan, scene
from workstation import PASSWORD, expect, wait_for

SCENES = []
# Where its program expects its files.
PLACES = {
    "data/fingwit/fingwit.ui": "/usr/share/fingwit/fingwit.ui",
    "data/fingwit/fingwit.css": "/usr/share/fingwit/fingwit.css",
    "data/org.x.fingwit.gschema.xml": "/usr/share/glib-2.0/schemas/org.x.fingwit.gschema.xml",
    "fingwit": "/usr/bin/fingwit",
}


def start(workstation):
    """Puts its files in place and starts it."""
    for source, place in PLACES.items():
        text = subprocess.run(["git", "-C", workstation.fingwit, "show", f"HEAD:{source}"],
                              stdout=subprocess.PIPE, text=True, check=True).stdout
        workstation.write(place, text, 0o755 if source == "fingwit" else 0o644)
    workstation.root("glib-compile-schemas /usr/share/glib-2.0/schemas")
    workstation.begin("fingwit", "fingwit.log")


@scene(SCENES, "fingwit: without its own line in common-auth it shows no fingers",
       needs=lambda arguments: not arguments.fingwit)
def fingwit_off(workstation):
    start(workstation)
    workstation.screen("see", "Enable", "button")
    expect(workstation.calls() == ["GetDevices"], f"it called {workstation.calls()}")


@scene(SCENES, "fingwit: adds and deletes a finger with the password",
       needs=lambda arguments: not arguments.fingwit)
def fingwit_changes(workstation):
    # All that it looks for is the name of its module, in any line.
    workstation.root("echo '# pam_fingwit.so' >> /etc/pam.d/common-auth")
    workstation.answers("password " + PASSWORD)
    start(workstation)
    workstation.screen("press", "Left thumb", "button")
    workstation.screen("press", "Add a fingerprint", "button")
    scan(workstation, "left")
    wait_for("the finger is not added", 20, lambda: "left-thumb" in workstation.fingers())
    expect_order(workstation, "GetDevices", "Claim", "ListEnrolledFingers", "EnrollStart",
                 "EnrollStop")
    workstation.screen("press", "Left thumb", "button")
    workstation.screen("press", "Delete this fingerprint", "button")
    wait_for("the finger stays", 20, lambda: "left-thumb" not in workstation.fingers())
    # It claims again while it holds its claim, and goes on when that is refused.
    expect_order(workstation, "DeleteEnrolledFinger")
