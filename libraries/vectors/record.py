#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Has a real signet-server judge the made-up requests, and records what it issues and accepts.

    libraries/vectors/record.py [--check] [build/signet-server]

It starts the server on 127.0.0.1 with a database in a temporary directory, registers two devices
whose keys are in keys/, and asks the server about each case of request_cases.py and mac_cases.py
that a server can judge now. It fails if the server disagrees with one. Then it writes
recorded.json: the tokens, JWKS and verdicts that the server issued, and the requests that it
accepted, with some that it refused.
"""
import calendar
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import forms
import generate
import mac_cases
import request_cases
from forms import b64, sshsig, stamp, unb64

URL = "https://id.example.org"
REFUSED = ("wrong-request", "wrong-audience", "unknown-key", "bad-signature", "bad-mac")
# What the server answers for a failure code of the libraries.
ANSWERS = {code: "refused" for code in REFUSED} | {"too-long": "malformed"}


class Server:
    def __init__(self, program, home):
        self.program = program
        self.config = pathlib.Path(home) / "server.conf"
        self.config.write_text(
            f"[server]\nurl = {URL}\n[database]\npath = {home}/server.db\n"
            f"[keys]\nmaster = {home}/master-secret\n[listen]\nport = 0\nrate = 1000000\n")
        self.process = subprocess.Popen(
            [program, "--config", str(self.config)], stderr=subprocess.PIPE, text=True)
        port = None
        for line in self.process.stderr:
            if found := re.search(r" on port ([0-9]+)", line):
                port = found[1]
                break
        if port is None:
            sys.exit(f"the server does not start: {line}")
        # Its log is not read any further, but must not fill the pipe.
        self.drain = threading.Thread(target=self.process.stderr.read)
        self.drain.start()
        self.address = f"http://127.0.0.1:{port}"
        self.key = None

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.drain.join()
        self.process.stderr.close()

    def admin(self, *words):
        return subprocess.run(
            [self.program, "admin", "--config", str(self.config), *words], check=True,
            capture_output=True, text=True).stdout

    def call(self, method, path, body=None, with_key=False):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data=data, method=method)
        if data is not None:
            request.add_header("Content-Type", "application/json")
        if with_key:
            request.add_header("Authorization", f"Bearer {self.key}")
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refusal:
            sys.exit(f"{method} {path}: {refusal.read().decode()}")


class Person:
    """An account with its registered device."""

    def __init__(self, server, world, entry, protection):
        self.server = server
        self.world = world
        self.entry = entry
        self.protection = protection
        self.counter = 0
        self.register()

    def answer(self, challenge, action, namespace, purpose=""):
        self.counter += 1
        text = forms.lines("signet-login", {
            "audience": self.world.audience, "account": self.entry["account"],
            "device": self.entry["device"], "credential": self.entry["credential"],
            "challenge": challenge, "action": action, "service": "signet", "terminal": "",
            "purpose": purpose, "factor": "fingerprint", "key": self.protection,
            "secure-boot": "on", "enrolment": "1", "counter": str(self.counter),
            "issued": stamp(int(time.time())),
        })
        signature = sshsig(self.entry["key"], text, namespace)
        return {"statement": b64(text), "signature": b64(signature)}

    def register(self):
        account = {"account": self.entry["account"]}
        code = self.server.call("POST", "/v1/activations", account, with_key=True)["code"]
        begun = self.server.call(
            "POST", "/v1/registrations", {"code": code, "device": self.entry["device"]})
        self.entry["registration"] = begun["registration"]
        proof = self.answer(begun["challenge"], "register", "registration@signet")
        proof["publicKey"] = b64(self.entry["key"].point)
        state = self.server.call("POST", f"/v1/registrations/{begun['registration']}/proof", proof)
        assert state["status"] == "ACTIVE", state
        assert state["fingerprint"] == self.entry["key"].fingerprint, state

    def challenge(self, action):
        return self.server.call("POST", "/v1/login/challenge", {
            "application": "shop", "account": self.entry["account"],
            "device": self.entry["device"], "action": action})["challenge"]

    def log_in(self, module=None, local=None):
        purpose = "" if module is None else f"module {b64(module)} {local}"
        body = self.answer(self.challenge("login"), "login", "login@signet", purpose)
        if module is not None:
            body["module"] = {"challenge": b64(module), "account": local}
        return self.server.call("POST", "/v1/login", body)

    def mac_token(self):
        made = self.server.call("POST", "/v1/mac-tokens", self.answer(
            self.challenge("mac-token"), "mac-token", "login@signet", "recorded"))
        return {
            "token": made["token"], "secret": unb64(made["secret"]),
            "account": self.entry["account"], "device": self.entry["device"],
            "registration": self.entry["registration"], "expires": made["expires"],
        }


def judge(server, case):
    """What the server says of a request: `valid` or the code of its refusal."""
    given = case["input"]
    answer = server.call("POST", "/v1/authentication/verify", {
        "authorization": given["authorization"], "method": given["method"],
        "resource": given["resource"],
        "body": b64(hashlib.sha256(unb64(given["body"])).digest())}, with_key=True)
    if answer["valid"]:
        said = {name: answer[name] for name in ("account", "device", "registration", "factor")}
        if "claims" in case:
            assert said == {name: case["claims"][name] for name in said}, (case["name"], answer)
        return "valid"
    return answer["code"]


def requests(server, world):
    """Has the server judge all cases that it can; returns those that are to be recorded."""
    cases = request_cases.cases(world) + mac_cases.cases(world)
    kept, refusals = [], {}
    count = 0
    for case in cases:
        expected = case.pop("server", ANSWERS.get(case["expected"], case["expected"]))
        if expected is None:
            continue
        said = judge(server, case)
        if said != expected:
            sys.exit(f"{case['name']}: the server says {said}, not {expected}")
        count += 1
        case["server"] = said
        refusals[case["expected"]] = refusals.get(case["expected"], 0) + 1
        if said == "valid":
            kept.append(case)
        elif refusals[case["expected"]] == 1:
            kept.append(case)
    used = next(case for case in kept if case["server"] == "valid")
    again = {name: value for name, value in used.items() if name != "claims"}
    assert judge(server, used) == "replayed"
    statement = unb64(used["input"]["authorization"].split('"')[1]).decode()
    nonce = re.search(r"\nnonce: (.*)\n", statement)[1]
    key = f"{world.alice['credential']}:{nonce}:{world.now}"
    kept.append(again | {
        "name": "sent twice", "expected": "replayed", "server": "replayed",
        "seen": [{"key": key, "issued": world.now}]})
    print(f"the server has judged {count} requests as the vectors say")
    return kept


def claims_of(token):
    said = json.loads(unb64(token.split(".")[1]))
    names = {
        "sub": "account", "iss": "issuer", "aud": "audience", "iat": "issued", "exp": "expires",
        "jti": "id", "sid": "session", "reg": "registration", "amr": "methods", "roles": "roles",
        "flags": "flags",
    }
    return {name: said[short] for short, name in names.items()}


def tokens(server, world, people, now):
    logins = [(f"a login of {person.entry['account']}", person.log_in()["tokens"])
              for person in people]
    refreshed = server.call(
        "POST", "/v1/token/refresh", {"refreshToken": logins[0][1]["refreshToken"]})
    logins.append(("a token that was refreshed", refreshed))
    before = jwks(server)
    server.admin("signing-key", "rotate", "token")
    end = time.monotonic() + 10
    while (after := jwks(server)) == before:
        assert time.monotonic() < end, "the new key is not published"
        time.sleep(0.2)
    logins.append(("a login after a new key was made", people[0].log_in()["tokens"]))
    cases = []
    for name, pair in logins:
        token = pair["accessToken"]
        said = server.call("POST", "/v1/token/introspect", {"token": token}, with_key=True)
        for about, keys in (("", before), (", with two keys", after)):
            cases.append({
                "name": name + about, "kind": "token", "now": now, "input": {"token": token},
                "keys": {"issuer": URL, "audience": world.audience, "jwks": keys},
                "expected": "valid", "claims": claims_of(token), "server": "valid",
            })
        assert said["active"], said
    return cases


def jwks(server):
    with urllib.request.urlopen(server.address + "/.well-known/jwks.json", timeout=20) as answer:
        return answer.read().decode()


def verdicts(server, world, people, now):
    printed = server.admin("application", "pam-file", "shop")
    key = re.search(r"^key = (.*)$", printed, re.MULTILINE)[1]
    cases = []
    for person, local in zip(people + people[:1], ("al", "zoë", "alice")):
        module = world.nonce()
        verdict = person.log_in(module, local)["verdict"]
        text = unb64(verdict["statement"]).decode()
        said = dict(line.split(": ", 1) for line in text.splitlines())
        issued = calendar.timegm(time.strptime(said["issued"], "%Y-%m-%dT%H:%M:%SZ"))
        base = {
            "kind": "verdict", "now": now, "input": verdict,
            "keys": {"key": key, "audience": world.audience}, "server": "valid",
            "expect": {"local": local, "device": person.entry["device"], "module": b64(module)},
        }
        cases.append(base | {
            "name": f"a verdict about {local}", "expected": "valid",
            "claims": {
                "audience": world.audience, "account": person.entry["account"], "local": local,
                "device": person.entry["device"], "challenge": said["challenge"],
                "module": b64(module), "issued": issued, "expires": issued + 60,
            }})
        cases.append(base | {
            "name": f"a verdict about {local}, for another module", "expected": "wrong-challenge",
            "server": None, "expect": base["expect"] | {"module": b64(bytes(32))}})
    return cases


def record(server):
    server.admin("application", "add", "shop")
    server.key = server.admin("key", "add", "shop", "recorder").strip()
    world = request_cases.World(int(time.time()))
    people = [Person(server, world, world.alice, "tpm"), Person(server, world, world.zoe, "file")]
    server.admin("account", "set", "shop", "alice", "--roles", "admin,teller", "--flags", "vip")
    world.token = people[0].mac_token()
    world.now = int(time.time())
    now = world.now + 2
    cases = tokens(server, world, people, now) + verdicts(server, world, people, now)
    world.now = int(time.time())
    cases += requests(server, world)
    listed = [
        entry
        for person in people
        for entry in server.call(
            "GET", f"/v1/accounts/{urllib.parse.quote(person.entry['account'])}/registrations",
            with_key=True)["registrations"]
    ]
    return cases, listed


def main():
    root = pathlib.Path(__file__).parents[2]
    words = [word for word in sys.argv[1:] if word != "--check"]
    program = words[0] if words else str(root / "build/signet-server")
    # The server takes no configuration from below a directory that anyone may write to, as /tmp is.
    safe = "/run" if os.geteuid() == 0 else pathlib.Path.home()
    with tempfile.TemporaryDirectory(dir=safe) as home:
        server = Server(program, home)
        try:
            cases, registrations = record(server)
        finally:
            server.stop()
    if "--check" in sys.argv:
        return
    # The answers of the server are recorded as well, and are `null` where it was not asked.
    generate.write("recorded", "what a server issued and judged", cases, keep="server",
                   registrations=registrations)


if __name__ == "__main__":
    main()
