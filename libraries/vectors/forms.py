# SPDX-License-Identifier: Apache-2.0
"""Writes what the vectors contain, after docs/developer/PROTOCOL.md and with the openssl command.

It shares no code with the libraries that are judged by the vectors.
"""
import base64
import hashlib
import hmac
import pathlib
import re
import struct
import subprocess
import time

N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
KEYS = pathlib.Path(__file__).parent / "keys"


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def stamp(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


_HIDDEN = "\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069%"


def escaped(value):
    """A line's value: bytes that are not UTF-8 and hidden characters as %XX."""
    data = value if isinstance(value, bytes) else value.encode()
    text = data.decode("utf-8", "surrogateescape")
    return re.sub(
        f"[{_HIDDEN}\udc80-\udcff]",
        lambda found: "".join(
            f"%{byte:02X}" for byte in found[0].encode("utf-8", "surrogateescape")),
        text).encode()


def lines(kind, values):
    text = [f"{kind}: 1\n".encode()]
    for name, value in values.items():
        text.append(name.encode() + b": " + escaped(value) + b"\n")
    return b"".join(text)


class Key:
    """A private key in a file, used by openssl alone."""

    def __init__(self, name):
        self.path = KEYS / f"{name}.pem"
        der = openssl("pkey", "-in", str(self.path), "-pubout", "-outform", "DER")
        self.point = der[-65:]

    def sign(self, message):
        """r and s for the SHA-256 of a message."""
        der = openssl("dgst", "-sha256", "-sign", str(self.path), data=message)
        r_length = der[3]
        r = der[4 : 4 + r_length]
        s = der[6 + r_length :]
        return int.from_bytes(r, "big"), int.from_bytes(s, "big")

    @property
    def fingerprint(self):
        digest = hashlib.sha256(key_blob(self.point)).digest()
        return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")

    @property
    def line(self):
        return "ecdsa-sha2-nistp256 " + base64.b64encode(key_blob(self.point)).decode()

    @property
    def jwk(self):
        x, y = b64(self.point[1:33]), b64(self.point[33:])
        members = f'{{"crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}'
        return {
            "kty": "EC", "crv": "P-256", "x": x, "y": y, "use": "sig", "alg": "ES256",
            "kid": b64(hashlib.sha256(members.encode()).digest()),
        }


def openssl(*words, data=b""):
    return subprocess.run(["openssl", *words], input=data, capture_output=True, check=True).stdout


def point_of(scalar):
    """The public point of a private number."""
    der = bytes.fromhex("30310201010420") + scalar.to_bytes(32, "big")
    der += bytes.fromhex("a00a06082a8648ce3d030107")
    return openssl("pkey", "-inform", "DER", "-pubout", "-outform", "DER", data=der)[-65:]


def numbers(r, s):
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def string(data):
    data = data if isinstance(data, bytes) else data.encode()
    return struct.pack(">I", len(data)) + data


def mpint(number):
    return string(number.to_bytes(number.bit_length() // 8 + 1, "big"))


def key_blob(point, algorithm="ecdsa-sha2-nistp256", curve="nistp256"):
    return string(algorithm) + string(curve) + string(point)


def signed_data(text, namespace):
    digest = hashlib.sha256(text).digest()
    return b"SSHSIG" + string(namespace) + string(b"") + string("sha256") + string(digest)


def blob(
    point, namespace, r, s, *, magic=b"SSHSIG", version=1, reserved=b"", hash_name="sha256",
    algorithm="ecdsa-sha2-nistp256", pair=None, key=None,
):
    """An SSHSIG blob; each part can be another than the right one."""
    pair = mpint(r) + mpint(s) if pair is None else pair
    return (
        magic + struct.pack(">I", version) + string(key or key_blob(point)) + string(namespace)
        + string(reserved) + string(hash_name) + string(string(algorithm) + string(pair)))


def sshsig(signer, text, namespace, *, signed_in=None, low=None, **parts):
    """A signature of a text; `low` says whether s is below n / 2."""
    r, s = signer.sign(signed_data(text, signed_in or namespace))
    if low is not None and low != (s < N - s):
        s = N - s
    return blob(signer.point, namespace, r, s, **parts)


def mac(secret, text):
    return hmac.new(secret, text, hashlib.sha256).digest()
