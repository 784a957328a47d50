#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A device of signet-server, for trying the server out. It knows docs/developer/SERVER-INTEGRATE.md and
docs/developer/PROTOCOL.md, and no code of Signet.

    device.py URL APPLICATION CODE [--approve] [--authority FILE]

It makes a key with ssh-keygen(1), registers it with an activation code, logs in, has PyJWT judge the
access token by the server's JWKS, and prints the account's name. Its signatures are ssh-keygen's own.

With --approve, it leaves PyJWT out, and then shows each operation and login that awaits the account and
asks whether to approve it, until the end of its input. There is no finger: whoever can start it has the
key, which is deleted when it ends.

--authority names a file with the certificate of the authority that the server's is from. Any refusal
ends the script with a text and status 1.
"""
import argparse
import base64
import hashlib
import json
import os
import select
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def escaped(text: str) -> str:
    """A line's value, for texts of printable characters: docs/developer/PROTOCOL.md has all rules."""
    return text.replace("%", "%25").replace("\n", "%0A")


class Refused(Exception):
    pass


class Server:
    def __init__(self, url, authority):
        self.url = url.rstrip("/")
        self.context = ssl.create_default_context(cafile=authority) if authority else None

    def call(self, method, path, body=None, authorization=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method)
        if data is not None:
            request.add_header("Content-Type", "application/json")
        if authorization is not None:
            request.add_header("Authorization", authorization)
        try:
            with urllib.request.urlopen(request, context=self.context, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refusal:
            problem = json.load(refusal)
            raise Refused(
                f"{method} {path}: {problem['status']} {problem['code']}: {problem['title']}"
            ) from None


class Key:
    def __init__(self, directory):
        self.path = os.path.join(directory, "key")
        make = ["ssh-keygen", "-q", "-t", "ecdsa", "-b", "256", "-N", "", "-f", self.path]
        subprocess.run(make, check=True)
        with open(self.path + ".pub") as public:
            blob = base64.b64decode(public.read().split()[1])
        self.point = blob[-65:]
        self.counter = 0

    def sign(self, text, namespace):
        signed = subprocess.run(
            ["ssh-keygen", "-q", "-Y", "sign", "-f", self.path, "-n", namespace,
             "-O", "hashalg=sha256"],
            input=text, capture_output=True, check=True).stdout.decode()
        return base64.b64decode("".join(signed.strip().splitlines()[1:-1]))


class Device:
    """What signs: docs/developer/PROTOCOL.md, texts for a server."""

    def __init__(self, key):
        self.key = key
        self.id = os.urandom(16).hex()
        self.credential = os.urandom(16).hex()

    def sign(self, kind, audience, account, lines, namespace):
        """A text with the lines of its kind between those that all kinds have, and its signature."""
        self.key.counter += 1
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        text = (
            f"{kind}: 1\naudience: {escaped(audience)}\naccount: {escaped(account)}\n"
            f"device: {self.id}\ncredential: {self.credential}\n"
            + "".join(f"{name}: {escaped(value)}\n" for name, value in lines.items())
            + "factor: fingerprint\nkey: file\nsecure-boot: unknown\nenrolment: 1\n"
            f"counter: {self.key.counter}\nissued: {now}\n"
        ).encode()
        return {"statement": encoded(text), "signature": encoded(self.key.sign(text, namespace))}

    def answer(self, audience, account, challenge, action, namespace):
        """The body of a signed challenge."""
        return self.sign("signet-login", audience, account, {
            "challenge": challenge, "action": action, "service": "judge", "terminal": "",
            "purpose": ""}, namespace)

    def request(self, audience, account, method, resource):
        """The header that authenticates a request without a body."""
        signed = self.sign("signet-request", audience, account, {
            "method": method, "resource": resource, "nonce": encoded(os.urandom(32)),
            "body": encoded(hashlib.sha256(b"").digest())}, "request@signet")
        return f'Signet statement="{signed["statement"]}", signature="{signed["signature"]}"'

    def decision(self, shown, decision):
        """The body that approves or rejects an operation, exactly as it is shown."""
        return self.sign("signet-operation", shown["audience"], shown["account"], {
            "operation": shown["operation"], "challenge": shown["challenge"],
            "template": shown["template"], "data": shown["data"], "decision": decision,
        }, "operation@signet")


def main():
    words = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
    words.add_argument("url")
    words.add_argument("application")
    words.add_argument("code")
    words.add_argument("--approve", action="store_true")
    words.add_argument("--authority")
    given = words.parse_args()
    server = Server(given.url, given.authority)
    with tempfile.TemporaryDirectory() as directory:
        device = Device(Key(directory))
        begun = server.call("POST", "/v1/registrations", {"code": given.code, "device": device.id})
        proof = device.answer(
            begun["audience"], begun["account"], begun["challenge"], "register",
            "registration@signet")
        proof["publicKey"] = encoded(device.key.point)
        state = server.call("POST", f"/v1/registrations/{begun['registration']}/proof", proof)
        if state["status"] != "ACTIVE":
            sys.exit(f"the registration is {state['status']}")
        asked = server.call("POST", "/v1/login/challenge", {
            "application": given.application, "account": begun["account"], "device": device.id})
        login = server.call("POST", "/v1/login", device.answer(
            asked["audience"], begun["account"], asked["challenge"], "login", "login@signet"))
        if given.approve:
            print(login["account"], flush=True)
            decide(server, device, asked["audience"], begun["account"])
        else:
            token = login["tokens"]["accessToken"]
            print(judge(token, server, asked["audience"])["sub"])


def decide(server, device, audience, account):
    """Asks about all that awaits the account, every second, until the end of the input."""
    path = urllib.parse.urlsplit(server.url).path + "/v1/device/operations"

    def read(resource):
        authorization = device.request(audience, account, "GET", path + resource)
        return server.call("GET", "/v1/device/operations" + resource, None, authorization)

    while True:
        for one in read("")["operations"]:
            shown = read("/" + one["operation"])
            print(f"{shown['data']}\napprove? [y/n] ", end="", flush=True)
            line = sys.stdin.readline()
            if not line:
                return
            decision = "approve" if line.strip().lower() == "y" else "reject"
            try:
                decided = server.call(
                    "POST", f"/v1/operations/{shown['operation']}/decision",
                    device.decision(shown, decision))
                print(decided["status"], flush=True)
            except Refused as refusal:  # It may have been cancelled, or its time is over.
                print(refusal, flush=True)
        # The input is looked at as well, so that its end ends the script while nothing is awaited.
        if select.select([sys.stdin], [], [], 1)[0] and not sys.stdin.readline():
            return


def judge(token, server, audience):
    """What PyJWT makes of an access token, by the keys that the server publishes."""
    import jwt
    keys = {key["kid"]: jwt.PyJWK(key).key for key in
            server.call("GET", "/.well-known/jwks.json")["keys"]}
    key = keys[jwt.get_unverified_header(token)["kid"]]
    # Clocks differ: a token that has just been issued may seem to be from the future.
    return jwt.decode(token, key, algorithms=["ES256"], audience=audience, leeway=10,
                      options={"require": ["exp", "iat", "jti", "sub", "aud", "iss"]})


if __name__ == "__main__":
    try:
        main()
    except (Refused, urllib.error.URLError) as refusal:
        sys.exit(str(refusal))
    except KeyboardInterrupt:
        sys.exit(1)
