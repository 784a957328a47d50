#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A client of signet-server that knows docs/developer/SERVER-INTEGRATE.md and docs/developer/PROTOCOL.md, and no code of Signet.

It makes a key with ssh-keygen(1), registers it with an activation code, logs in, and has PyJWT judge
the access token by the server's JWKS. Its signatures are ssh-keygen's own.

    client.py URL APPLICATION CODE [CA]

Prints the account's name; any refusal ends it with a text and status 1.
"""
import base64
import json
import os
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Server:
    def __init__(self, url, authority):
        self.url = url
        self.context = ssl.create_default_context(cafile=authority) if authority else None

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method)
        if data is not None:
            request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, context=self.context, timeout=20) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refusal:
            problem = json.load(refusal)
            sys.exit(f"{method} {path}: {problem['status']} {problem['code']}: {problem['title']}")


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
    def __init__(self, key):
        self.key = key
        self.id = os.urandom(16).hex()
        self.credential = os.urandom(16).hex()

    def answer(self, audience, account, challenge, action, namespace):
        """The body of a signed challenge: docs/developer/PROTOCOL.md, the login statement."""
        self.key.counter += 1
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        text = (
            "signet-login: 1\n"
            f"audience: {audience}\n"
            f"account: {account}\n"
            f"device: {self.id}\n"
            f"credential: {self.credential}\n"
            f"challenge: {challenge}\n"
            f"action: {action}\n"
            "service: judge\n"
            "terminal: \n"
            "purpose: \n"
            "factor: fingerprint\n"
            "key: file\n"
            "secure-boot: unknown\n"
            "enrolment: 1\n"
            f"counter: {self.key.counter}\n"
            f"issued: {now}\n"
        ).encode()
        return {"statement": encoded(text), "signature": encoded(self.key.sign(text, namespace))}


def main():
    url, application, code = sys.argv[1:4]
    server = Server(url, sys.argv[4] if len(sys.argv) > 4 else None)
    with tempfile.TemporaryDirectory() as directory:
        device = Device(Key(directory))
        begun = server.call("POST", "/v1/registrations", {"code": code, "device": device.id})
        proof = device.answer(
            begun["audience"], begun["account"], begun["challenge"], "register",
            "registration@signet")
        proof["publicKey"] = encoded(device.key.point)
        state = server.call("POST", f"/v1/registrations/{begun['registration']}/proof", proof)
        if state["status"] != "ACTIVE":
            sys.exit(f"the registration is {state['status']}")
        asked = server.call("POST", "/v1/login/challenge", {
            "application": application, "account": begun["account"], "device": device.id})
        login = server.call("POST", "/v1/login", device.answer(
            asked["audience"], begun["account"], asked["challenge"], "login", "login@signet"))
    token = login["tokens"]["accessToken"]
    print(judge(token, server, asked["audience"])["sub"])


def judge(token, server, audience):
    """What PyJWT makes of an access token, by the keys that the server publishes."""
    import jwt
    keys = {key["kid"]: jwt.PyJWK(key).key for key in
            server.call("GET", "/.well-known/jwks.json")["keys"]}
    key = keys[jwt.get_unverified_header(token)["kid"]]
    return jwt.decode(token, key, algorithms=["ES256"], audience=audience,
                      options={"require": ["exp", "iat", "jti", "sub", "aud", "iss"]})


if __name__ == "__main__":
    main()
