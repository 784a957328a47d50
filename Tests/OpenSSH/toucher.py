#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Plays the person at a virtual reader.

usage: toucher.py SOCKET FINGER [COMMAND...]

Without a command, puts the finger on the reader again and again, whenever it is open: nothing says to
an observer when it waits, and what comes too early is lost. With a command, which is `signet enroll
--json`, puts the finger on it each time that the command says so, and exits as the command does.
"""

import json
import socket
import subprocess
import sys
import time

PATH, FINGER, *COMMAND = sys.argv[1:]


def touch(limit):
    """Puts the finger on the reader as soon as it is open; false if it is not within the limit."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as reader:
                reader.settimeout(5)
                reader.connect(PATH)
                reader.sendall(b"SCAN " + FINGER.encode())
                reader.shutdown(socket.SHUT_WR)
                # It closes once it has read everything.
                while reader.recv(64):
                    pass
                return True
        except OSError:
            # Closed, and nothing reports when it listens again.
            time.sleep(0.005)
    return False


if COMMAND:
    with subprocess.Popen(COMMAND, stdout=subprocess.PIPE, text=True) as command:
        for line in command.stdout:
            event = json.loads(line)
            kind = event.get("event")
            if kind == "touch" or kind == "stage" and event["done"] != event["total"]:
                touch(10)
    sys.exit(command.returncode)

# Until it is killed, with everything else in its namespace.
while True:
    touch(1)
    time.sleep(0.05)
