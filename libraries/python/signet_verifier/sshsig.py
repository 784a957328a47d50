# SPDX-License-Identifier: Apache-2.0
"""OpenSSH signatures (PROTOCOL.sshsig) by P-256 keys, in the one form that Signet writes."""
from __future__ import annotations

import base64
import hashlib
from typing import Callable, NamedTuple

from .encoding import base64_decode
from .failures import VerificationFailure
from .p256 import read_point

# Verifies a signature of 64 bytes by an uncompressed point of 65 bytes over a message.
VerifySignature = Callable[[bytes, bytes, bytes], bool]

_ALGORITHM = b"ecdsa-sha2-nistp256"
_CURVE = b"nistp256"
_LONGEST_BLOB = 512
_LONGEST_KEY_LINE = 2048


class _Reader:
    """Reads RFC 4251's types; each length is checked before anything is copied."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def raw(self, count: int) -> bytes:
        start, self._position = self._position, self._position + count
        if self._position > len(self._data):
            raise VerificationFailure("malformed", "a signature or key that is cut off")
        return self._data[start : self._position]

    def string(self, longest: int) -> bytes:
        count = int.from_bytes(self.raw(4), "big")
        if count > longest:
            raise VerificationFailure("malformed", "a part of a signature or key is too long")
        return self.raw(count)

    def expect(self, expected: bytes, found: bytes) -> None:
        if found != expected:
            raise VerificationFailure("malformed", "not an SSHSIG signature by a P-256 key")

    def unsigned(self) -> bytes:
        """A positive `mpint` in its shortest form, as exactly 32 bytes."""
        digits = self.string(33)
        if not digits or digits[0] >= 0x80:
            raise VerificationFailure("malformed", "a number of a signature is not positive")
        if digits[0] == 0:
            digits = digits[1:]
            if not digits or digits[0] < 0x80:
                raise VerificationFailure("malformed", "a number of a signature is padded")
        if len(digits) > 32:
            raise VerificationFailure("malformed", "a number of a signature is too long")
        return digits.rjust(32, b"\0")

    def end(self) -> None:
        if self._position != len(self._data):
            raise VerificationFailure("malformed", "bytes follow a signature or key")


class Signature(NamedTuple):
    """A parsed signature; nothing in it is verified, and `point` need not be on the curve."""

    point: bytes
    namespace: bytes
    numbers: bytes

    def is_of(self, text: bytes, namespace: str, verify: VerifySignature) -> bool:
        """Whether the key that the signature names has signed this text in this namespace."""
        if self.namespace != namespace.encode() or read_point(self.point) is None:
            return False
        digest = hashlib.sha256(text).digest()
        signed = b"SSHSIG" + _string(self.namespace) + _string(b"") + _string(b"sha256")
        return verify(self.point, self.numbers, signed + _string(digest)) is True


def read_signature(blob: bytes) -> Signature:
    """Parses a signature's blob; raises `too-long` or `malformed`."""
    if len(blob) > _LONGEST_BLOB:
        raise VerificationFailure("too-long", f"a signature of more than {_LONGEST_BLOB} bytes")
    reader = _Reader(blob)
    reader.expect(b"SSHSIG\0\0\0\1", reader.raw(10))
    point = _read_key(reader.string(256))
    namespace = reader.string(64)
    reader.expect(b"", reader.string(0))
    reader.expect(b"sha256", reader.string(16))
    signature = _Reader(reader.string(256))
    reader.end()
    signature.expect(_ALGORITHM, signature.string(32))
    numbers = _Reader(signature.string(80))
    signature.end()
    r_and_s = numbers.unsigned() + numbers.unsigned()
    numbers.end()
    return Signature(point, namespace, r_and_s)


def read_key_line(line: str) -> bytes:
    """Returns the point of `ecdsa-sha2-nistp256 AAAA…`; raises `invalid-key` for any other text."""
    words = line.split(" ") if len(line) <= _LONGEST_KEY_LINE else []
    blob = None
    if len(words) == 2 and words[0] == _ALGORITHM.decode() and words[1].isascii():
        blob = base64_decode(words[1].encode())
    try:
        point = b"" if blob is None else _read_key(blob)
    except VerificationFailure:
        point = b""
    if read_point(point) is None:
        raise VerificationFailure("invalid-key", "not the line of a P-256 key")
    return point


def fingerprint(point: bytes) -> str:
    """The fingerprint of a key as registrations and `ssh-keygen -l` show it: `SHA256:…`."""
    digest = hashlib.sha256(_string(_ALGORITHM) + _string(_CURVE) + _string(point)).digest()
    return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")


def _read_key(blob: bytes) -> bytes:
    reader = _Reader(blob)
    reader.expect(_ALGORITHM, reader.string(32))
    reader.expect(_CURVE, reader.string(16))
    point = reader.string(65)
    reader.end()
    if len(point) != 65 or point[0] != 4:
        raise VerificationFailure("malformed", "not an uncompressed point")
    return point


def _string(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data
