# SPDX-License-Identifier: Apache-2.0
"""Cases of verdicts: the server's signed answers to a PAM module."""
import base64

import forms
from forms import N, Key, b64, blob, key_blob, sshsig, stamp

AUDIENCE = "https://id.example.org/shop"
DEVICE = "000102030405060708090a0b0c0d0e0f"
CHALLENGE = bytes(range(32))
MODULE = bytes(range(32, 64))


class Verdicts:
    def __init__(self, now):
        self.now = now
        self.key = Key("verdict")
        self.stranger = Key("stranger")

    def values(self, **other):
        return {
            "audience": AUDIENCE, "account": "alice", "local": "al", "device": DEVICE,
            "challenge": b64(CHALLENGE), "module": b64(MODULE), "decision": "allow",
            "issued": stamp(self.now), "expires": stamp(self.now + 60),
        } | other

    def case(
        self, name, expected, values=None, *, change=None, expect=None, later=0, signature=None,
        by=None, key=None, signed_as="verdict@signet", audience=AUDIENCE,
    ):
        values = self.values(**(values or {}))
        text = forms.lines("signet-verdict", values)
        text = change(text) if change else text
        made = sshsig(by or self.key, text, signed_as) if signature is None else signature(text)
        case = {
            "name": name, "kind": "verdict", "now": self.now + later,
            "input": {"statement": b64(text), "signature": b64(made)},
            "keys": {"key": self.key.line if key is None else key, "audience": audience},
            "expect": expect or {}, "expected": expected,
        }
        if expected == "valid":
            case["claims"] = {
                "audience": values["audience"], "account": values["account"],
                "local": values["local"], "device": values["device"],
                "challenge": values["challenge"], "module": values["module"],
                "issued": self.now, "expires": self.now + 60,
            }
        return case


def cases(now):
    verdicts = Verdicts(now)
    return valid(verdicts) + texts(verdicts) + signatures(verdicts) + contents(verdicts)


def valid(verdicts):
    names = {"account": "Zoë", "local": "zoë"}
    return [
        verdicts.case("a verdict before it expires", "valid"),
        verdicts.case("a verdict in its last second", "valid", later=59),
        verdicts.case("an answer to the module's challenge, long after", "valid",
                      expect={"module": b64(MODULE)}, later=10**6),
        verdicts.case("an answer to the module's challenge, by a clock that is behind", "valid",
                      expect={"module": b64(MODULE)}, later=-10**6),
        verdicts.case("a verdict of the age that is allowed", "valid", expect={"maxAge": 3600},
                      later=3600),
        verdicts.case("a server's clock that is 300 s ahead", "valid", later=-300),
        verdicts.case("all names, as expected", "valid", names, expect={
            "account": "Zoë", "local": "zoë", "device": DEVICE, "challenge": b64(CHALLENGE)}),
        verdicts.case("an audience with a percent sign", "valid", {"audience": "a%b"},
                      audience="a%b"),
        verdicts.case("a verdict with a high s", "valid",
                      signature=lambda text: sshsig(
                          verdicts.key, text, "verdict@signet", low=False)),
    ]


def texts(verdicts):
    def form(name, change, expected="malformed"):
        return verdicts.case(name, expected, change=change)

    def replaced(old, new):
        return lambda text: text.replace(old.encode(), new.encode(), 1)

    issued = stamp(verdicts.now)
    return [
        form("version 2 of a verdict", replaced("verdict: 1", "verdict: 2")),
        form("a login's text", replaced("signet-verdict", "signet-login")),
        form("a verdict that is cut off", lambda text: text[:-1]),
        form("a line after the last", lambda text: text + b"x: y\n"),
        form("a line of a verdict twice", replaced("local: al\n", "local: al\nlocal: al\n")),
        form("a line of a verdict that is missing", replaced("local: al\n", "")),
        form("lines in the other order",
             replaced("account: alice\nlocal: al\n", "local: al\naccount: alice\n")),
        form("CR in a verdict", replaced("al\n", "al\r\n")),
        form("a decision in upper case", replaced("allow", "ALLOW")),
        form("a decision that is not known", replaced("allow", "maybe")),
        form("no decision", replaced("allow", "")),
        form("a device in upper case", replaced("0a0b0c", "0A0B0C")),
        form("a challenge of 31 bytes", replaced(b64(CHALLENGE), b64(CHALLENGE[1:]))),
        form("a challenge with unused bits that are set", replaced("Hh8\n", "Hh9\n")),
        form("a verdict that expires before it was issued", replaced(
            stamp(verdicts.now + 60), stamp(verdicts.now - 1))),
        form("a time in lower case", replaced(issued, issued.lower())),
        form("an escape that is not needed", replaced("alice", "%61lice")),
        form("a name of 257 bytes", replaced("alice", "a" * 257)),
        form("a text of 4097 bytes", lambda text: text + b"x" * (4097 - len(text)), "too-long"),
    ]


def signatures(verdicts):
    point = verdicts.key.point
    usual = "verdict@signet"

    def signed(name, expected, make, **other):
        return verdicts.case(name, expected, signature=make, **other)

    def assembled(name, expected, assemble):
        def make(text):
            return assemble(*verdicts.key.sign(forms.signed_data(text, usual)))

        return signed(name, expected, make)

    off_curve = point[:-1] + bytes([point[-1] ^ 1])
    return [
        verdicts.case("another server's key", "bad-signature", by=verdicts.stranger),
        signed("another key's signature under the pinned key", "bad-signature",
               lambda text: blob(point, usual, *verdicts.stranger.sign(
                   forms.signed_data(text, usual)))),
        verdicts.case("a signature in the namespace of logins", "bad-signature",
                      signed_as="login@signet"),
        signed("a signature over another text", "bad-signature",
               lambda text: sshsig(verdicts.key, text + b" ", usual)),
        assembled("a verdict with r = n", "bad-signature", lambda r, s: blob(point, usual, N, s)),
        assembled("a verdict with s of 2^256 - 1", "bad-signature",
                  lambda r, s: blob(point, usual, r, 2**256 - 1)),
        assembled("a byte after the signature", "malformed",
                  lambda r, s: blob(point, usual, r, s) + b"\0"),
        assembled("a signature that is cut off", "malformed",
                  lambda r, s: blob(point, usual, r, s)[:-1]),
        assembled("a signature with SHA-512", "malformed",
                  lambda r, s: blob(point, usual, r, s, hash_name="sha512")),
        signed("an empty signature", "malformed", lambda text: b""),
        signed("a signature of 513 bytes", "too-long", lambda text: b"x" * 513),
        verdicts.case("a pinned key that is not on the curve", "invalid-key", key=line(off_curve)),
        verdicts.case("a pinned key of another algorithm", "invalid-key",
                      key=verdicts.key.line.replace("nistp256", "nistp384")),
        verdicts.case("a pinned key with a comment", "invalid-key", key=verdicts.key.line + " me"),
        verdicts.case("a pinned key that is cut off", "invalid-key", key=verdicts.key.line[:-8]),
        verdicts.case("no pinned key", "invalid-key", key=""),
    ]


def line(point):
    return "ecdsa-sha2-nistp256 " + base64.b64encode(key_blob(point)).decode()


def contents(verdicts):
    other = b64(bytes(32))
    return [
        verdicts.case("about another application", "wrong-audience",
                      {"audience": "https://id.example.org/bank"}),
        verdicts.case("about another account", "wrong-account", expect={"account": "bob"}),
        verdicts.case("about another local account", "wrong-account", expect={"local": "alice"}),
        verdicts.case("about a name that is not UTF-8", "wrong-account", {"local": b"\xff"}),
        verdicts.case("about another device", "wrong-device", expect={"device": "f" * 32}),
        verdicts.case("a verdict that says no", "denied", {"decision": "deny"}),
        verdicts.case("a verdict that says no to the module's challenge", "denied",
                      {"decision": "deny"}, expect={"module": b64(MODULE)}),
        verdicts.case("about another challenge of the server", "wrong-challenge",
                      expect={"challenge": other}),
        verdicts.case("an answer to another module", "wrong-challenge", expect={"module": other}),
        verdicts.case("an answer to another module, and of now", "wrong-challenge",
                      {"module": other}, expect={"module": b64(MODULE)}),
        verdicts.case("a verdict at the second at which it expires", "expired", later=60),
        verdicts.case("a verdict one second older than is allowed", "expired",
                      expect={"maxAge": 3600}, later=3601),
        verdicts.case("a verdict where none of any age is allowed", "expired",
                      expect={"maxAge": 0}),
        verdicts.case("a server's clock that is 301 s ahead", "not-yet-valid", later=-301),
    ]
