# SPDX-License-Identifier: Apache-2.0
"""Cases of `Authorization: Signet`: requests that a touch signed."""
import base64
import hashlib

import forms
from forms import N, Key, b64, blob, key_blob, mpint, sshsig, stamp, string, unb64

BODY = b'{"to":"bob","amount":10}'
NONCE = bytes(range(32))


class World:
    """The devices, tokens and names that cases are about, and the time.

    `generate.py` makes one up; `record.py` has one that a real server knows.
    """

    def __init__(self, now, audience="https://id.example.org/shop"):
        self.now = now
        self.audience = audience
        self.key = Key("device")
        self.second_key = Key("second")
        self.stranger = Key("stranger")
        self.alice = {
            "account": "alice", "device": "000102030405060708090a0b0c0d0e0f",
            "credential": "101112131415161718191a1b1c1d1e1f",
            "registration": "202122232425262728292a2b2c2d2e2f", "key": self.key,
        }
        self.zoe = {
            "account": "Zoë Ødegård", "device": "303132333435363738393a3b3c3d3e3f",
            "credential": "404142434445464748494a4b4c4d4e4f",
            "registration": "505152535455565758595a5b5c5d5e5f", "key": self.second_key,
        }
        self.token = {
            "token": "606162636465666768696a6b6c6d6e6f", "secret": bytes(range(100, 132)),
            "account": "alice", "device": self.alice["device"],
            "registration": self.alice["registration"], "expires": now + 3600,
        }
        self.made = 0

    def nonce(self):
        """32 bytes that no other case has."""
        self.made += 1
        return hashlib.sha256(f"nonce {self.made}".encode()).digest()

    def keys(self, **other):
        devices = [
            {name: entry[name] for name in ("account", "device", "credential", "registration")}
            | {"fingerprint": entry["key"].fingerprint, "publicKey": b64(entry["key"].point)}
            for entry in (self.alice, self.zoe)
        ]
        return {"audience": self.audience, "devices": devices} | other


def statement(world, person=None, **other):
    """The lines of a statement, some of them other than the usual ones."""
    person = person or world.alice
    body = other.pop("raw_body", BODY)
    values = {
        "audience": world.audience, "account": person["account"], "device": person["device"],
        "credential": person["credential"], "method": "POST", "resource": "/v1/payments?draft=1",
        "nonce": b64(world.nonce()), "body": b64(hashlib.sha256(body).digest()),
        "factor": "fingerprint", "key": "tpm", "secure-boot": "on", "enrolment": "7",
        "counter": "42", "issued": stamp(world.now),
    }
    return values | {name.replace("_", "-"): value for name, value in other.items()}


def header(text, signature):
    return f'Signet statement="{b64(text)}", signature="{b64(signature)}"'


def request(world, name, authorization, expected, values=None, **other):
    """A case; what the request is follows from the usual statement unless it is given."""
    case = {
        "name": name, "kind": "request", "now": world.now + other.pop("later", 0),
        "input": {
            "authorization": authorization, "method": other.pop("method", "POST"),
            "resource": other.pop("resource", "/v1/payments?draft=1"),
            "body": b64(other.pop("raw_body", BODY)),
        },
        "keys": other.pop("keys", None) or world.keys(),
        "expected": expected,
    }
    person = other.pop("person", None) or world.alice
    issued = other.pop("issued", world.now)
    if expected == "valid":
        case["claims"] = {
            "account": person["account"], "device": person["device"],
            "registration": person["registration"], "factor": "fingerprint",
            "issued": issued, "credential": person["credential"],
            "key": values["key"], "secureBoot": values["secure-boot"],
            "enrolment": values["enrolment"], "counter": values["counter"],
        }
    return case | other


def signed(world, name, expected, *, person=None, by=None, signature=None, lines=None, case=None):
    """A case whose statement is properly made and signed, apart from `lines`."""
    person = person or world.alice
    values = statement(world, person, **(lines or {}))
    text = forms.lines("signet-request", values)
    made = sshsig(by or person["key"], text, "request@signet", **(signature or {}))
    return request(world, name, header(text, made), expected, values, person=person, **(case or {}))


def rewritten(world, name, change, expected="malformed", **case):
    """A case whose text is changed before it is signed, so that only its form is wrong."""
    text = change(forms.lines("signet-request", statement(world)))
    made = sshsig(world.key, text, "request@signet")
    return request(world, name, header(text, made), expected, **case)


def replaced(old, new):
    def change(text):
        changed = text.replace(old.encode(), new if isinstance(new, bytes) else new.encode(), 1)
        assert changed != text, old
        return changed

    return change


def cases(world):
    return (
        valid(world) + header_forms(world) + text_forms(world) + other_requests(world)
        + signatures(world) + times(world) + policies(world))


def valid(world):
    long = "/" + "x" * 1023
    return [
        signed(world, "a POST with a body", "valid"),
        signed(world, "a GET without a body", "valid", lines={"method": "GET", "raw_body": b""},
               case={"method": "GET", "raw_body": b""}),
        signed(world, "a name and a resource beyond ASCII", "valid", person=world.zoe,
               lines={"resource": "/crème?x=日本"}, case={"resource": "/crème?x=日本"}),
        signed(world, "a resource with escapes, each % of which is escaped again", "valid",
               lines={"resource": "/a%2Fb?c=%25"}, case={"resource": "/a%2Fb?c=%25"}),
        signed(world, "a resource of 1024 bytes", "valid", lines={"resource": long},
               case={"resource": long}),
        signed(world, "an empty resource", "valid", lines={"resource": ""}, case={"resource": ""}),
        signed(world, "a method with a hyphen", "valid", lines={"method": "M-SEARCH"},
               case={"method": "M-SEARCH"}),
        signed(world, "the largest counter and enrolment", "valid",
               lines={"counter": str(2**64 - 1), "enrolment": str(2**64 - 1)}),
        signed(world, "a key in a file, without secure boot", "valid",
               lines={"key": "file", "secure_boot": "off"}),
        signed(world, "a signature with a low s", "valid", signature={"low": True}),
        signed(world, "a signature with a high s", "valid", signature={"low": False}),
    ]


def header_forms(world):
    text = forms.lines("signet-request", statement(world))
    made = sshsig(world.key, text, "request@signet")
    right = header(text, made)
    said, by = f'statement="{b64(text)}"', f'signature="{b64(made)}"'
    # So that the last character has unused bits.
    uneven = text.replace(b"counter: 42\n", b"counter: 423\n") if len(text) % 3 == 0 else text
    last = b64(uneven)[-1]
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    bits = b64(uneven)[:-1] + alphabet[alphabet.index(last) + 1]

    def form(name, value, expected="malformed", **other):
        return request(world, name, value, expected, **other)

    return [
        form("no header", None, "wrong-scheme", server=None),
        form("a header of another scheme", "Bearer abc", "wrong-scheme", server=None),
        form("the scheme in lower case", right.replace("Signet", "signet"), "wrong-scheme",
             server=None),
        form("the scheme alone", "Signet", "wrong-scheme", server=None),
        form("two headers", [right, right], "repeated-header", server=None),
        form("two headers, joined as a proxy joins them", f"{right}, {right}"),
        form("a header of 4097 bytes", "Signet " + "x" * 4090, "too-long"),
        form("a header of 4096 bytes that is not the form", "Signet " + "x" * 4089),
        form("two spaces after the scheme", f"Signet  {said}, {by}"),
        form("a tab in place of a space", f"Signet {said},\t{by}"),
        form("no space after the comma", f"Signet {said},{by}"),
        form("a space at the end", right + " "),
        form("a line end at the end", right + "\n"),
        form("the parameters in the other order", f"Signet {by}, {said}"),
        form("a parameter twice", f"Signet {said}, {said}, {by}"),
        form("one more parameter", right + ', realm="x"'),
        form("a parameter that is missing", f"Signet {said}"),
        form("a parameter's name in upper case", right.replace("signature", "Signature")),
        form("values without quotes", right.replace('"', "")),
        form("no closing quote", right[:-1]),
        form("empty values", 'Signet statement="", signature=""'),
        form("base64url with padding", f'Signet statement="{b64(text)}=", {by}'),
        form("the other alphabet of base64",
             f'Signet {said}, signature="{b64(made)[:-3]}+/A"'),
        form("unused bits of base64 that are set", f'Signet statement="{bits}", {by}'),
        form("a character beyond ASCII", f'Signet statement="é{b64(text)[1:]}", {by}'),
        form("the armoured signature of ssh-keygen",
             f'Signet {said}, signature="{b64(b"-----BEGIN SSH SIGNATURE-----")}"',
             server="refused"),
    ]


def text_forms(world):
    return [
        rewritten(world, name, change)
        for name, change in {
            "version 2": replaced("request: 1", "request: 2"),
            "a text of another kind": replaced("signet-request", "signet-operation"),
            "no line end at the end": lambda text: text[:-1],
            "a text that is cut off": lambda text: text[:-30],
            "CR before each LF": lambda text: text.replace(b"\n", b"\r\n"),
            "an empty line at the end": lambda text: text + b"\n",
            "one more line": lambda text: text + b"admin: yes\n",
            "a line twice": replaced("method: POST\n", "method: POST\nmethod: POST\n"),
            "a line that is missing": replaced("factor: fingerprint\n", ""),
            "two lines in the other order": replaced(
                "key: tpm\nsecure-boot: on\n", "secure-boot: on\nkey: tpm\n"),
            "no space after a colon": replaced("counter: 42", "counter:42"),
            "an id in upper case": replaced("0a0b0c0d0e0f", "0A0B0C0D0E0F"),
            "an id of 15 bytes": replaced("0c0d0e0f\n", "0c0d0e\n"),
            "a number with a leading zero": replaced("counter: 42", "counter: 042"),
            "a number with a sign": replaced("counter: 42", "counter: +42"),
            "a number of more than 64 bits": replaced("counter: 42", f"counter: {2**64}"),
            "an empty number": replaced("enrolment: 7", "enrolment: "),
            "a date that does not exist": replaced(
                stamp(world.now)[:10], stamp(world.now)[:5] + "02-30"),
            "an hour that does not exist": replaced(
                stamp(world.now), stamp(world.now)[:11] + "24:00:00Z"),
            "a leap second": replaced(stamp(world.now), stamp(world.now)[:11] + "23:59:60Z"),
            "a time with a fraction": replaced(stamp(world.now)[-4:], ".5Z"),
            "a time before 1970": replaced(stamp(world.now)[:4], "1969"),
            "an escape for an ordinary character": replaced("/v1/payments", "/v1%2Fpayments"),
            "an escape in lower case": replaced("/v1/payments", "/v1/%c3payments"),
            "an escape that is cut off": replaced("draft=1", "draft=%4"),
            "a control character that is not escaped": replaced("/v1/", "/v1\t/"),
            "a mark of writing direction that is not escaped": replaced("alice", "al\u202eice"),
            "a byte that is not UTF-8 and not escaped": replaced("alice", b"al\xffice"),
            "a surrogate in UTF-8": replaced("alice", b"al\xed\xa0\x80ice"),
            "an overlong encoding": replaced("/v1/", b"/v1\xc0\xaf"),
            "a method in lower case": replaced("POST", "post"),
            "an empty method": replaced("POST", ""),
            "a method of 17 characters": replaced("POST", "P" * 17),
            "a resource of 1025 bytes": replaced("/v1/payments?draft=1", "/" + "x" * 1024),
            "a nonce of 31 bytes": _shorter("nonce"),
            "a body's digest with padding": _padded("body"),
            "a place of the key that is not known": replaced("key: tpm", "key: TPM"),
            "a state of secure boot that is not known": replaced("boot: on", "boot: yes"),
        }.items()
    ]


def _line(text, name):
    start = text.index(f"\n{name}: ".encode()) + len(name) + 3
    return start, text.index(b"\n", start)


def _shorter(name):
    def change(text):
        start, end = _line(text, name)
        return text[:start] + b64(unb64(text[start:end].decode())[:-1]).encode() + text[end:]

    return change


def _padded(name):
    def change(text):
        _, end = _line(text, name)
        return text[:end] + b"=" + text[end:]

    return change


def other_requests(world):
    return [
        signed(world, "another method", "wrong-request", case={"method": "PUT"}),
        signed(world, "the method in another case", "wrong-request", case={"method": "Post"}),
        signed(world, "another path", "wrong-request", case={"resource": "/v1/refunds?draft=1"}),
        signed(world, "another query", "wrong-request", case={"resource": "/v1/payments?draft=0"}),
        signed(world, "the resource without its query", "wrong-request",
               case={"resource": "/v1/payments"}),
        signed(world, "a resource whose escapes a proxy has decoded", "wrong-request",
               lines={"resource": "/a%2Fb"}, case={"resource": "/a/b"}),
        signed(world, "another body", "wrong-request",
               case={"raw_body": BODY.replace(b"10", b"99")}),
        signed(world, "a line end after the body", "wrong-request",
               case={"raw_body": BODY + b"\n"}),
        signed(world, "a body that was left out", "wrong-request", case={"raw_body": b""}),
        signed(world, "another application", "wrong-audience",
               lines={"audience": world.audience[:-4] + "bank"}),
        signed(world, "an audience with a slash at the end", "wrong-audience",
               lines={"audience": world.audience + "/"}),
        signed(world, "no audience", "wrong-audience", lines={"audience": ""}),
        signed(world, "a key that is not registered", "unknown-key", by=world.stranger),
        signed(world, "another account's name with one's own key", "unknown-key",
               lines={"account": world.zoe["account"]}),
        signed(world, "an account that does not exist", "unknown-key",
               lines={"account": "mallory"}),
        signed(world, "a name that is not UTF-8", "unknown-key", lines={"account": b"al\xffice"}),
        signed(world, "a name in another normal form", "unknown-key", person=world.zoe,
               lines={"account": "Zoe\u0308 Ødegård"}),
        signed(world, "another device's id with one's own key", "unknown-key",
               lines={"device": world.zoe["device"]}),
        signed(world, "another credential's id with one's own key", "unknown-key",
               lines={"credential": world.zoe["credential"]}),
        signed(world, "an id with one's own key that is no credential's", "unknown-key",
               lines={"credential": "70" * 16}),
        signed(world, "an id of zeros with one's own key", "unknown-key",
               lines={"credential": "00" * 16}),
        signed(world, "the registration's id in place of the credential's", "unknown-key",
               lines={"credential": world.alice["registration"]}),
        signed(world, "the device's id in place of the credential's", "unknown-key",
               lines={"credential": world.alice["device"]}),
        signed(world, "the id of this device's key before, with the key of now", "unknown-key",
               lines={"credential": "71" * 16},
               case={"keys": replaced_key(world), "server": None}),
        signed(world, "the id of this device's key of now, with the key before", "unknown-key",
               by=world.stranger, case={"keys": replaced_key(world), "server": None}),
        signed(world, "a device with two registered keys, each under its id", "valid",
               case={"keys": replaced_key(world), "server": None}),
        signed(world, "a device whose registration is gone", "unknown-key",
               case={"keys": world.keys(devices=[]), "server": None}),
    ]


def replaced_key(world):
    """Keys where alice's device has another registered key, under an id of its own."""
    keys = world.keys()
    before = {
        "credential": "71" * 16, "registration": "72" * 16,
        "fingerprint": world.stranger.fingerprint, "publicKey": b64(world.stranger.point),
    }
    return keys | {"devices": [keys["devices"][0] | before] + keys["devices"]}


def signatures(world):
    def made(name, expected, **signature):
        return signed(world, name, expected, signature=signature)

    def assembled(name, expected, assemble, **case):
        """A case whose blob is put together from a right signature's numbers."""
        text = forms.lines("signet-request", statement(world))
        r, s = world.key.sign(forms.signed_data(text, "request@signet"))
        return request(world, name, header(text, assemble(r, s)), expected, **case)

    def pair(r, s):
        return blob(world.key.point, "request@signet", 1, 1, pair=r + s)

    point = world.key.point
    off_curve = point[:-1] + bytes([point[-1] ^ 1])
    off_curve_keys = world.keys()
    off_curve_keys["devices"][0] = off_curve_keys["devices"][0] | {
        "fingerprint": _fingerprint(off_curve), "publicKey": b64(off_curve)}
    compressed = bytes([2 + point[-1] % 2]) + point[1:33]
    usual = "request@signet"
    altered = forms.lines("signet-request", statement(world))
    altered_text = altered.replace(b"counter: 42", b"counter: 43")

    return [
        request(world, "a text that was altered after it was signed",
                header(altered_text, sshsig(world.key, altered, usual)), "bad-signature"),
        assembled("another key's signature under the device's key", "bad-signature",
                  lambda r, s: blob(point, usual, *world.stranger.sign(b"x"))),
        _in_namespace(world, "login@signet", None),
        _in_namespace(world, usual, "login@signet"),
        _in_namespace(world, "request@signet ", None),
        assembled("a signature with one bit altered", "bad-signature",
                  lambda r, s: blob(point, usual, r ^ 1, s)),
        assembled("r and s exchanged", "bad-signature", lambda r, s: blob(point, usual, s, r)),
        assembled("r = 0", "malformed", lambda r, s: pair(string(b""), mpint(s)),
                  server="refused"),
        assembled("s = 0, as one byte", "malformed", lambda r, s: pair(mpint(r), string(b"\0")),
                  server="refused"),
        assembled("r = n", "bad-signature", lambda r, s: blob(point, usual, N, s)),
        assembled("s = n", "bad-signature", lambda r, s: blob(point, usual, r, N)),
        assembled("the largest numbers of 32 bytes", "bad-signature",
                  lambda r, s: blob(point, usual, 2**256 - 1, 2**256 - 1)),
        assembled("s + n, in 33 bytes", "malformed",
                  lambda r, s: pair(mpint(r), string(b"\1" + s.to_bytes(32, "big"))),
                  server="refused"),
        assembled("a negative number", "malformed",
                  lambda r, s: pair(mpint(r), string(b"\xff" + s.to_bytes(32, "big")[1:])),
                  server="refused"),
        assembled("a number with a zero too many", "malformed",
                  lambda r, s: pair(string(b"\0\0" + r.to_bytes(32, "big")[:30]), mpint(s)),
                  server="refused"),
        assembled("a number in DER", "malformed",
                  lambda r, s: pair(b"\x30\x44\x02\x20" + r.to_bytes(32, "big"), mpint(s)),
                  server="refused"),
        assembled("bytes after s", "malformed", lambda r, s: pair(mpint(r), mpint(s) + b"\0"),
                  server="refused"),
        assembled("a byte after the blob", "malformed",
                  lambda r, s: blob(point, usual, r, s) + b"\0", server="refused"),
        assembled("a blob that is cut off", "malformed",
                  lambda r, s: blob(point, usual, r, s)[:-1], server="refused"),
        assembled("a blob of more than 512 bytes", "too-long",
                  lambda r, s: blob(point, usual, r, s) + b"\0" * 400, server="refused"),
        assembled("a string that announces 4 GiB", "malformed",
                  lambda r, s: b"SSHSIG\0\0\0\1\xff\xff\xff\xff" + b"x" * 100, server="refused"),
    ] + [
        signed(world, name, "malformed", signature=part, case={"server": "refused"})
        for name, part in {
            "another magic": {"magic": b"SSHSIH"}, "version 2 of the blob": {"version": 2},
            "a reserved field that is not empty": {"reserved": b"x"},
            "SHA-512 in the blob": {"hash_name": "sha512"},
            "the algorithm of P-384": {"algorithm": "ecdsa-sha2-nistp384"},
            "a key of another curve": {"key": key_blob(point, "ecdsa-sha2-nistp384", "nistp384")},
            "an Ed25519 key": {"key": string("ssh-ed25519") + string(b"k" * 32)},
            "a compressed point": {"key": key_blob(compressed)},
            "the point at infinity": {"key": key_blob(b"\0")},
            "a byte after the key": {"key": key_blob(point) + b"\0"},
        }.items()
    ] + [
        made("a point that is not on the curve, and not registered", "unknown-key",
             key=key_blob(off_curve)),
        signed(world, "a point that is not on the curve, but registered", "bad-signature",
               signature={"key": key_blob(off_curve)},
               case={"keys": off_curve_keys, "server": None}),
    ]


def _fingerprint(point):
    digest = hashlib.sha256(key_blob(point)).digest()
    return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")


def _in_namespace(world, named, signed_in):
    text = forms.lines("signet-request", statement(world))
    made = sshsig(world.key, text, named, signed_in=signed_in)
    name = f"the namespace '{named}'" + (f", signed in '{signed_in}'" if signed_in else "")
    return request(world, name, header(text, made), "bad-signature")


def times(world):
    now = world.now
    nonce = b64(NONCE)

    def used(issued, credential=world.alice["credential"]):
        return [{"key": f"{credential}:{nonce}:{issued}", "issued": issued}]

    def timed(name, expected, seconds):
        return signed(world, name, expected, lines={"issued": stamp(now + seconds)},
                      case={"issued": now + seconds, "server": None})

    def again(name, expected, lines=None, **case):
        return signed(world, name, expected, lines={"nonce": nonce} | (lines or {}),
                      case={"server": None} | case)

    return [
        timed("issued 30 s ago", "valid", -30), timed("issued 31 s ago", "clock", -31),
        timed("issued in 30 s", "valid", 30), timed("issued in 31 s", "clock", 31),
        signed(world, "issued an hour ago", "clock", lines={"issued": stamp(now - 3600)}),
        signed(world, "issued in the year 9999", "clock", lines={"issued": "9999-12-31T23:59:59Z"}),
        signed(world, "issued in 1970", "clock", lines={"issued": "1970-01-01T00:00:00Z"}),
        again("a code that was used", "replayed", seen=used(now)),
        again("a code that was used, signed anew with the same nonce and time", "replayed",
              {"counter": "99"}, seen=used(now)),
        again("a nonce that was used with another time", "valid", seen=used(now - 1)),
        again("a nonce that another credential used", "valid",
              seen=used(now, world.zoe["credential"])),
        again("a code that was used, and is stale", "clock", {"issued": stamp(now - 31)},
              seen=used(now - 31)),
        again("a code that was used, with another factor", "replayed", {"factor": "possession"},
              seen=used(now)),
    ]


def policies(world):
    return [
        signed(world, "signed without a touch", "policy", lines={"factor": "possession"}),
        signed(world, "signed for the password", "policy", lines={"factor": "password"}),
        signed(world, "no factor", "policy", lines={"factor": ""}),
        signed(world, "a factor in upper case", "policy", lines={"factor": "Fingerprint"}),
        signed(world, "signed without a touch, and stale", "policy",
               lines={"factor": "possession", "issued": stamp(world.now - 3600)}),
        signed(world, "a key in a file where a TPM is required", "policy", lines={"key": "file"},
               case={"policy": {"requireTPM": True}, "server": None}),
        signed(world, "an unknown state where secure boot is required", "policy",
               lines={"secure_boot": "unknown"},
               case={"policy": {"requireSecureBoot": True}, "server": None}),
        signed(world, "a TPM and secure boot where both are required", "valid",
               case={"policy": {"requireTPM": True, "requireSecureBoot": True}, "server": None}),
    ]
