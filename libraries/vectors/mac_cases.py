# SPDX-License-Identifier: Apache-2.0
"""Cases of `Authorization: SignetMAC`: requests that a MAC token authenticates."""
import hashlib

import forms
from forms import b64, mac, stamp
from request_cases import BODY


def header(world, token=None, nonce=None, issued=None, secret=None, **text):
    """A header; `text` is what its MAC is over, other than what it says."""
    token = token or world.token["token"]
    nonce = nonce or world.nonce()
    issued = stamp(world.now) if issued is None else issued
    body = text.pop("raw_body", BODY)
    values = {
        "audience": world.audience, "token": token, "method": "POST", "resource": "/v1/payments",
        "nonce": b64(nonce), "body": b64(hashlib.sha256(body).digest()), "issued": issued,
    } | text
    code = mac(secret or world.token["secret"], forms.lines("signet-mac", values))
    return (f'SignetMAC token="{token}", nonce="{b64(nonce)}", issued="{issued}", '
            f'mac="{b64(code)}"')


def case(world, name, expected, authorization=None, **other):
    token = world.token | {"secret": b64(world.token["secret"])} | other.pop("token", {})
    made = {
        "name": name, "kind": "request", "now": world.now,
        "input": {
            "authorization": authorization or header(world),
            "method": other.pop("method", "POST"),
            "resource": other.pop("resource", "/v1/payments"),
            "body": b64(other.pop("raw_body", BODY)),
        },
        "keys": {"audience": world.audience, "macTokens": [token]},
        "expected": expected,
    }
    issued = other.pop("issued", world.now)
    if expected == "valid":
        made["claims"] = {
            "account": token["account"], "device": token["device"],
            "registration": token["registration"], "factor": "possession",
            "issued": issued, "macToken": token["token"],
        }
    return made | other


def cases(world):
    return valid(world) + header_forms(world) + refusals(world) + times(world)


def valid(world):
    return [
        case(world, "a MAC of a POST", "valid"),
        case(world, "a MAC of a GET without a body", "valid",
             header(world, method="GET", raw_body=b""), method="GET", raw_body=b""),
        case(world, "a MAC of a resource with escapes and beyond ASCII", "valid",
             header(world, resource="/é?a=%20b"), resource="/é?a=%20b"),
        case(world, "a MAC of a resource of 2000 bytes", "valid",
             header(world, resource="/" + "x" * 1999), resource="/" + "x" * 1999),
    ]


def header_forms(world):
    right = header(world)
    parts = right.removeprefix("SignetMAC ").split(", ")

    def form(name, value, expected="malformed", **other):
        return case(world, f"MAC header: {name}", expected, value, **other)

    return [
        form("too long by a byte", "SignetMAC " + "x" * 247, "too-long"),
        form("of 256 bytes that is not the form", "SignetMAC " + "x" * 246),
        form("the scheme in lower case", right.replace("SignetMAC", "signetmac"), "wrong-scheme",
             server=None),
        form("the parameters of a signed code", right.replace("SignetMAC", "Signet"),
             "wrong-scheme", server=None),
        form("the parameters in another order", "SignetMAC " + ", ".join(reversed(parts))),
        form("a parameter that is missing", "SignetMAC " + ", ".join(parts[:3])),
        form("a parameter twice", right + ", " + parts[3]),
        form("no space after a comma", "SignetMAC " + ",".join(parts)),
        form("a space at the end", right + " "),
        form("a token in upper case",
             right.replace(world.token["token"], world.token["token"].upper())),
        form("a token of 15 bytes", right.replace(world.token["token"], world.token["token"][2:])),
        form("a nonce of 31 bytes", header(world, nonce=bytes(31))),
        form("a nonce with padding", right.replace('", issued', '=", issued')),
        form("a MAC of 31 bytes", right[: right.rindex('mac="')] + f'mac="{b64(bytes(31))}"'),
        form("an empty MAC", right[: right.rindex('mac="')] + 'mac=""'),
        form("a time with an offset", header(world, issued=stamp(world.now)[:-1] + "+00:00")),
        form("an empty time", header(world, issued="")),
        form("a day that does not exist", header(world, issued="2026-04-31T00:00:00Z")),
    ]


def refusals(world):
    right = header(world)
    start = right.rindex('mac="') + 5
    altered = right[:start] + ("A" if right[start] != "A" else "B") + right[start + 1 :]
    other = "ff" + world.token["token"][2:]
    return [
        case(world, "a MAC with one character altered", "bad-mac", altered),
        case(world, "a MAC of zeros", "bad-mac", right[:start] + b64(bytes(32)) + '"'),
        case(world, "a MAC by another secret", "bad-mac", header(world, secret=bytes(32))),
        case(world, "a MAC of another method", "bad-mac", header(world, method="PUT")),
        case(world, "a MAC of another resource", "bad-mac", header(world, resource="/v1/refunds")),
        case(world, "a MAC of another body", "bad-mac", header(world, raw_body=b"")),
        case(world, "a MAC for another application", "bad-mac", header(world, audience="bank")),
        case(world, "a MAC of another time", "bad-mac",
             right.replace(stamp(world.now), stamp(world.now + 1))),
        case(world, "a MAC that names another token inside", "bad-mac",
             header(world, token=other).replace(other, world.token["token"])),
        case(world, "a resource that would add a line", "bad-mac",
             header(world, resource="/\nnonce: x"), resource="/", server=None),
        case(world, "a MAC token that does not exist", "unknown-key", header(world, token=other)),
        case(world, "a MAC where only signed codes are accepted", "wrong-scheme",
             keys=world.keys(), server=None),
    ]


def times(world):
    now = world.now
    nonce = bytes(range(32, 64))
    used = [{"key": f"{world.token['token']}:{b64(nonce)}:{now}", "issued": now}]

    def timed(name, expected, seconds):
        return case(world, f"MAC: {name}", expected, header(world, issued=stamp(now + seconds)),
                    issued=now + seconds, server=None)

    def ending(name, expected, seconds, issued=0):
        return case(world, name, expected, header(world, issued=stamp(now + issued)),
                    token={"expires": now + seconds}, server=None)

    return [
        timed("issued 30 s ago", "valid", -30), timed("issued 31 s ago", "clock", -31),
        timed("issued in 30 s", "valid", 30), timed("issued in 31 s", "clock", 31),
        case(world, "MAC: issued an hour ago", "clock", header(world, issued=stamp(now - 3600))),
        case(world, "a MAC that was used", "replayed", header(world, nonce=nonce), seen=used,
             server=None),
        ending("a MAC token in its last second", "valid", 1),
        ending("a MAC token at the second at which it expires", "expired", 0),
        ending("a MAC token that has expired, with a stale code", "expired", -1, -3600),
    ]
