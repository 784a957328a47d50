# SPDX-License-Identifier: Apache-2.0
"""Runs the cases in a machine of each release, and prints their table."""

import signal
import subprocess
import sys
import time

import cases
import table
from machine import Failed, Machine

TCG = ["-accel", "tcg,thread=multi", "-cpu", "max"]
KVM = ["-accel", "kvm", "-cpu", "host,-arch-capabilities"]
SECONDS_FOR_KVM = 8


def accelerator(work, release):
    """KVM where it runs this kernel, which a device node does not promise."""
    disk = f"{work}/{release}"
    try:
        said = subprocess.run(
            ["qemu-system-x86_64", "-M", "q35", *KVM, "-m", "512", "-nodefaults", "-display",
             "none", "-no-reboot", "-kernel", f"{disk}/kernel", "-append",
             "console=ttyS0 earlyprintk=serial panic=-1", "-serial", "stdio"],
            stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS_FOR_KVM).stdout
    except subprocess.TimeoutExpired as expired:
        said = expired.stdout or b""
    return KVM if b"Linux version" in said else TCG


def run(machine, only):
    """The results of all cases: name to "✓", "✗", or "–" for what does not exist there."""
    results = {}
    for case in cases.ALL:
        if machine.release in case.absent:
            results[case.name] = "–"
            continue
        if only and only not in case.name and not case.always:
            continue
        began = time.monotonic()
        try:
            case.function(machine)
            results[case.name] = "✓"
        except (Failed, OSError, ValueError) as failed:
            results[case.name] = "✗"
            print(f"machine: {machine.release}: {case.name}: {failed}", flush=True)
            try:
                print(machine.root("journalctl --no-pager -b -n 25 -o short-monotonic "
                                   "-t signetd -t verify-password -t login -t systemd; "
                                   "journalctl --no-pager -b -k -o cat -n 5 -g apparmor=.DENIED; "
                                   "ps -t tty1,tty2 -o pid,tty,stat,wchan:20,args", check=False),
                      flush=True)
                cases.recover(machine)
            except (Failed, OSError, ValueError) as lost:
                print(f"machine: {machine.release}: reset: {lost}", flush=True)
                try:
                    machine.reset()
                    cases.begin_anew(machine)
                    cases.recover(machine)
                except (Failed, OSError, ValueError) as lost:
                    print(f"machine: {machine.release}: lost: {lost}", flush=True)
                    break
        print(f"machine: {machine.release}: {results[case.name]} {case.name} "
              f"({time.monotonic() - began:.0f} s)", flush=True)
    return results


def main():
    # The first process of its namespace is not ended by a signal that it does not take.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    arguments = sys.argv[1:]
    only = None
    if arguments[0] == "--only":
        only, arguments = arguments[1], arguments[2:]
    work, releases = arguments[0], arguments[1:]
    tested = table.sources()
    kind = accelerator(work, releases[0])
    print(f"machine: {'KVM' if kind is KVM else 'no KVM that runs this kernel: TCG'}", flush=True)
    tables = {}
    beginning = time.monotonic()
    for release in releases:
        machine = Machine(work, release, kind)
        try:
            began = time.monotonic()
            machine.start()
            print(f"machine: {release}: booted ({time.monotonic() - began:.0f} s)", flush=True)
            tables[release] = run(machine, only)
        finally:
            machine.stop()
    print(f"machine: {(time.monotonic() - beginning) / 60:.0f} minutes in all", flush=True)
    if not only:
        table.write([case.name for case in cases.ALL], tables, tested)
    print("\n| case | " + " | ".join(table.NAMES.get(release, release) for release in releases) + " |")
    print("|---" * (len(releases) + 1) + "|")
    for case in cases.ALL:
        cells = [tables[release].get(case.name, "not reached") for release in releases]
        if not only or any(cell != "not reached" for cell in cells):
            print(f"| {case.name} | " + " | ".join(cells) + " |")
    if any(cell == "✗" for table in tables.values() for cell in table.values()):
        sys.exit(1)
    if not only and any(len(table) < len(cases.ALL) for table in tables.values()):
        sys.exit(1)


main()
