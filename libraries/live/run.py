#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs what needs a real server: the clients' calls in both languages, and docs/developer/WEB-LOGIN.md.

    libraries/live/run.py [build/signet-server]

It starts the server on 127.0.0.1 with a database in a temporary directory. Devices are played by
Examples/device.py.
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "libraries/vectors"))

import record  # noqa: E402


PYTHON = [sys.executable, "-W", "error", "-m", "unittest"]
# Each with a server of its own, at the same time: most of their time they wait.
RUNS = [
    [*PYTHON, "test_calls", "test_web_login.PageTests", "test_web_login.PythonTests"],
    [*PYTHON, "test_web_login.JavaScriptTests"],
    ["node", "--test", "calls.test.js"],
]


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "build/signet-server")
    with concurrent.futures.ThreadPoolExecutor(len(RUNS)) as pool:
        outcomes = list(pool.map(lambda command: run(command, program), RUNS))
    for outcome in outcomes:
        if outcome.returncode != 0:
            sys.exit(outcome.stdout)
    print("the clients and the page have been tried at a real server")


def run(command, program):
    # The server takes no configuration from below a directory that anyone may write to, as /tmp is.
    safe = "/run" if os.geteuid() == 0 else pathlib.Path.home()
    with tempfile.TemporaryDirectory(dir=safe) as home:
        server = record.Server(program, home)
        try:
            return subprocess.run(
                command, cwd=ROOT / "libraries/live", env=prepare(server, program), text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        finally:
            server.stop()


def prepare(server, program):
    """Makes what the tests need; returns their environment."""
    for name in ("shop", "bank", "console"):
        server.admin("application", "add", name)
    server.admin("template", "add", "shop", "sign-in",
                 "Sign in to the shop from {address}?\nThe page shows {code}.", "--purpose", "login")
    server.admin("template", "add", "shop", "pay", "Pay {amount} EUR\nto {payee}?")
    return os.environ | {
        "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(ROOT / "libraries/python"),
        "SIGNET_URL": server.address, "SIGNET_KEY": key(server, "shop", "live"),
        "SIGNET_OTHER_KEY": key(server, "bank", "live"),
        "SIGNET_LOGINS_KEY": key(server, "shop", "logins", "--scopes", "logins"),
        "SIGNET_SERVER_KEY": key(server, "console", "live", "--scopes", "server"),
        "SIGNET_PROGRAM": os.path.abspath(program), "SIGNET_CONFIG": str(server.config),
    }


def key(server, application, *words):
    return server.admin("key", "add", application, *words).strip()


if __name__ == "__main__":
    main()
