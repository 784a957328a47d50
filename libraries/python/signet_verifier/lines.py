# SPDX-License-Identifier: Apache-2.0
"""Signed texts of lines `name: value`, each of which has exactly one encoding.

docs/developer/PROTOCOL.md, "Texts for a server", describes every line.
"""
from __future__ import annotations

from typing import List, NamedTuple, Optional, Tuple, TypeVar

from .encoding import base64url_decode, decimal_decode, hex_decode, percent_decode, percent_encode
from .encoding import time_decode
from .failures import VerificationFailure

_Value = TypeVar("_Value")
_METHOD_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")


class LineReader:
    """Reads a text line by line; the caller names the line that must come next.

    Everything raises `malformed` for a text that deviates in any byte. The caller limits the
    length beforehand and calls `end` afterwards.
    """

    def __init__(self, text: bytes, kind: str) -> None:
        self._text = text
        self._position = 0
        self._kind = kind
        if self.number(kind) != 1:
            raise self._malformed(kind)

    def value(self, name: str, longest: int) -> bytes:
        """Returns the decoded value of the next line, of at most `longest` bytes."""
        start = f"{name}: ".encode()
        if not self._text.startswith(start, self._position):
            raise self._malformed(name)
        begin = self._position + len(start)
        end = self._text.find(b"\n", begin)
        if end < 0 or end - begin > 3 * longest:
            raise self._malformed(name)
        value = percent_decode(self._text[begin:end])
        if value is None or len(value) > longest:
            raise self._malformed(name)
        self._position = end + 1
        return value

    def number(self, name: str) -> int:
        """Returns the number of 64 bits in the next line."""
        return self._found(decimal_decode(self.value(name, 20)), name)

    def identifier(self, name: str) -> str:
        """Returns the id of 16 bytes in the next line, in hexadecimal."""
        text = self.value(name, 32)
        self._found(hex_decode(text, 16), name)
        return text.decode()

    def binary(self, name: str) -> bytes:
        """Returns the 32 bytes in the next line, decoded from base64url."""
        data = base64url_decode(self.value(name, 64))
        if data is None or len(data) != 32:
            raise self._malformed(name)
        return data

    def word(self, name: str, *words: str) -> str:
        """Returns the value of the next line, which must be one of these words."""
        text = self.value(name, 32)
        for word in words:
            if text == word.encode():
                return word
        raise self._malformed(name)

    def time(self, name: str) -> int:
        """Returns the time in the next line, in seconds since 1970."""
        return self._found(time_decode(self.value(name, 20)), name)

    def method(self) -> bytes:
        """Returns the HTTP method in the next line."""
        value = self.value("method", 16)
        if not value or not _METHOD_BYTES.issuperset(value):
            raise self._malformed("method")
        return value

    def end(self) -> None:
        """Checks that no text is left."""
        if self._position != len(self._text):
            raise self._malformed("end")

    def _found(self, value: Optional[_Value], name: str) -> _Value:
        if value is None:
            raise self._malformed(name)
        return value

    def _malformed(self, name: str) -> VerificationFailure:
        return VerificationFailure("malformed", f"line '{name}' of a {self._kind} text")


class RequestStatement(NamedTuple):
    """The lines of a `signet-request` text; only their form has been checked."""

    audience: bytes
    account: bytes
    device: str
    credential: str
    method: bytes
    resource: bytes
    nonce: bytes
    body: bytes
    factor: bytes
    key: str
    secure_boot: str
    enrolment: int
    counter: int
    issued: int


def read_request(text: bytes) -> RequestStatement:
    """Parses a `signet-request` text; raises `malformed` unless it is canonical."""
    lines = LineReader(text, "signet-request")
    statement = RequestStatement(
        audience=lines.value("audience", 256), account=lines.value("account", 256),
        device=lines.identifier("device"), credential=lines.identifier("credential"),
        method=lines.method(), resource=lines.value("resource", 1024),
        nonce=lines.binary("nonce"), body=lines.binary("body"),
        factor=lines.value("factor", 32), key=lines.word("key", "tpm", "file"),
        secure_boot=lines.word("secure-boot", "on", "off", "unknown"),
        enrolment=lines.number("enrolment"), counter=lines.number("counter"),
        issued=lines.time("issued"))
    lines.end()
    return statement


class VerdictStatement(NamedTuple):
    """The lines of a `signet-verdict` text; only their form has been checked."""

    audience: bytes
    account: bytes
    local: bytes
    device: str
    challenge: bytes
    module: bytes
    decision: str
    issued: int
    expires: int


def read_verdict(text: bytes) -> VerdictStatement:
    """Parses a `signet-verdict` text; raises `malformed` unless it is canonical."""
    lines = LineReader(text, "signet-verdict")
    verdict = VerdictStatement(
        audience=lines.value("audience", 256), account=lines.value("account", 256),
        local=lines.value("local", 256), device=lines.identifier("device"),
        challenge=lines.binary("challenge"), module=lines.binary("module"),
        decision=lines.word("decision", "allow", "deny"), issued=lines.time("issued"),
        expires=lines.time("expires"))
    lines.end()
    if verdict.expires < verdict.issued:
        raise VerificationFailure("malformed", "a verdict that expires before it was issued")
    return verdict


def write_lines(kind: str, lines: List[Tuple[str, bytes]]) -> bytes:
    """Writes a text of version 1 with these lines after the first."""
    text = bytearray(f"{kind}: 1\n".encode())
    for name, value in lines:
        text += name.encode() + b": " + percent_encode(value) + b"\n"
    return bytes(text)
