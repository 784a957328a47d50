# SPDX-License-Identifier: Apache-2.0
"""A device that Examples/device.py plays, as a user at it sees it."""
import os
import pathlib
import subprocess
import sys

SCRIPT = pathlib.Path(__file__).parents[2] / "Examples/device.py"


class Device:
    def __init__(self, code, application="shop"):
        self.process = subprocess.Popen(
            [sys.executable, str(SCRIPT), os.environ["SIGNET_URL"], application, code, "--approve"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1)
        self.account = self.process.stdout.readline().rstrip("\n")

    def question(self):
        """The text of the next question, when it is there."""
        shown = ""
        while not shown.endswith("approve? [y/n] "):
            character = self.process.stdout.read(1)
            if not character:
                raise AssertionError(f"the device has ended: {shown}")
            shown += character
        return shown[: -len("\napprove? [y/n] ")]

    def answer(self, letter):
        """Answers the question; returns what became of it."""
        self.process.stdin.write(letter + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().rstrip("\n")

    def end(self):
        self.process.stdin.close()
        self.process.wait(timeout=30)
        self.process.stdout.close()
