# SPDX-License-Identifier: Apache-2.0
"""Plays the scenes on a workstation of each release, and prints their table."""

import argparse
import os
import signal
import sys
import time

import lockers
import mint
import settings
from workstation import Failed, Workstation

NAMES = {"bookworm": "Debian 12", "trixie": "Debian 13"}
SCENES = settings.SCENES + lockers.SCENES + mint.SCENES


def explain(workstation, failed):
    """Says what was to be seen when a scene failed."""
    print(f"desktop: {workstation.release}: {failed}", flush=True)
    try:
        for entry in workstation.traffic()[-20:]:
            print("   ", *entry)
        print(workstation.read("/run/desktop/agent.log")[-500:])
        print(workstation.root("journalctl --no-pager -o cat -n 12 -t signetd -t signet-fprint",
                               check=False))
        workstation.person("import -window root /run/desktop/failed.png", check=False)
        with open(workstation.path("/run/desktop/failed.png"), "rb") as picture, \
                open(f"{workstation.work}/failed.png", "wb") as kept:
            kept.write(picture.read())
        print(f"the screen is in {workstation.work}/failed.png", flush=True)
    except (Failed, OSError, ValueError) as fault:
        print(f"desktop: {workstation.release}: lost: {fault}", flush=True)


def play(workstation, arguments):
    """The results of all scenes: name to "✓", "✗", or "–" for what does not exist there."""
    results = {}
    for scene in SCENES:
        if workstation.release not in scene.releases or scene.needs(arguments):
            results[scene.name] = "–"
            continue
        if arguments.only and arguments.only not in scene.name and not scene.always:
            continue
        began = time.monotonic()
        try:
            workstation.forget_traffic()
            workstation.forget_dialogue()
            scene.function(workstation)
            results[scene.name] = "✓"
        except (Failed, OSError, ValueError, KeyError) as failed:
            results[scene.name] = "✗"
            explain(workstation, failed)
        finally:
            workstation.end_all()
        print(f"desktop: {workstation.release}: {results[scene.name]} {scene.name} "
              f"({time.monotonic() - began:.0f} s)", flush=True)
    return results


def main():
    # The first process of its namespace is not ended by a signal that it does not take.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    parser = argparse.ArgumentParser()
    parser.add_argument("--only")
    parser.add_argument("--pictures", action="store_true")
    parser.add_argument("--fingwit")
    parser.add_argument("work")
    parser.add_argument("releases", nargs="+")
    arguments = parser.parse_args()
    pictures = os.path.abspath("docs/admin/desktops") if arguments.pictures else None
    tables = {}
    for release in arguments.releases:
        workstation = Workstation(arguments.work, release, pictures)
        workstation.fingwit = arguments.fingwit
        try:
            began = time.monotonic()
            workstation.start()
            workstation.install()
            workstation.log_in()
            workstation.start_agent()
            print(f"desktop: {release}: logged in ({time.monotonic() - began:.0f} s)", flush=True)
            tables[release] = play(workstation, arguments)
        finally:
            workstation.stop()
    print("\n| scene | " + " | ".join(NAMES[release] for release in tables) + " |")
    print("|---" * (len(tables) + 1) + "|")
    for scene in SCENES:
        cells = [table[scene.name] for table in tables.values() if scene.name in table]
        if cells:
            print(f"| {scene.name} | " + " | ".join(cells) + " |")
    marks = [mark for table in tables.values() for mark in table.values()]
    print(f"\n{marks.count('✓')} passed, {marks.count('✗')} failed")
    sys.exit(1 if "✗" in marks else 0)


main()
