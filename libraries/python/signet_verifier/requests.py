# SPDX-License-Identifier: Apache-2.0
"""Request codes: the header `Authorization: Signet …` or `Authorization: SignetMAC …`.

The checks and their order are those of docs/developer/SERVER-INTEGRATE.md, without what only the server
knows: whether the registration is ACTIVE now, the account blocked, a token revoked, a counter too
far behind.
"""
from __future__ import annotations

import hashlib
import hmac
import time
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Union

from . import p256
from .encoding import base64url_decode, base64url_encode, hex_decode, time_decode
from .failures import VerificationFailure
from .lines import RequestStatement, read_request, write_lines
from .nonces import WINDOW_SECONDS, NonceStore
from .sshsig import Signature, VerifySignature, fingerprint, read_signature

_LONGEST = {"Signet": 4096, "SignetMAC": 256}

# The values of a request's `Authorization` headers: one, all of them in a list, or None.
Header = Union[None, str, bytes, Sequence[Union[str, bytes]]]


@dataclass(frozen=True)
class Device:
    """A registered device, as the server's answers about a registration describe it.

    The SHA-256 fingerprint identifies the key: the key itself comes with each signature.
    `credential` is the id under which this key is registered; a code that names another is refused.
    """

    account: str
    device: str
    credential: str
    fingerprint: str
    registration: Optional[str] = None


@dataclass(frozen=True)
class MACToken:
    """A MAC token whose secret of 32 bytes this program holds.

    `expires` is in seconds since 1970.
    """

    token: str
    secret: bytes
    account: str
    device: str
    expires: int
    registration: Optional[str] = None

    def __post_init__(self) -> None:
        if len(self.secret) != 32:
            raise ValueError("the secret of a MAC token has 32 bytes")


@dataclass(frozen=True)
class VerifiedRequest:
    """Who sent a request. What is None was not signed.

    `factor` is `fingerprint` for a touch, `possession` for a MAC. `key` and `secure_boot` are the
    device's own claims.
    """

    account: str
    device: str
    registration: Optional[str]
    factor: str
    issued: int
    credential: Optional[str] = None
    mac_token: Optional[str] = None
    key: Optional[str] = None
    secure_boot: Optional[str] = None
    enrolment: Optional[int] = None
    counter: Optional[int] = None


def active_devices(registrations: Iterable[Any]) -> List[Device]:
    """The ACTIVE ones of `SignetClient.registrations`, or of the dictionaries in the server's answer.

    Raises `ValueError` for one without its credential, as older servers list them.
    """
    entries = [entry if isinstance(entry, dict) else vars(entry) for entry in registrations]
    active = [entry for entry in entries if entry["status"] == "ACTIVE"]
    if not all(entry.get("credential") and entry.get("fingerprint") for entry in active):
        raise ValueError("a registration without its credential, as older servers list them")
    return [
        Device(
            account=entry["account"], device=entry["device"], credential=entry["credential"],
            fingerprint=entry["fingerprint"], registration=entry["registration"])
        for entry in active
    ]


class RequestVerifier:
    """Verifies the codes of requests for one audience. Safe for threads if its parts are.

    `devices(account, device)` returns the devices that are registered for an account under a
    device's id; both are claims of the request, and the call needs no check of its own.
    `mac_tokens(token)` returns the token with an id, or None. A scheme without its function is
    refused as `wrong-scheme`. `clock` returns seconds since 1970. `verify_signature` replaces the
    verification in pure Python: it gets the point (65 bytes), r and s (64 bytes) and the message.
    """

    def __init__(
        self,
        audience: str,
        nonces: NonceStore,
        devices: Optional[Callable[[str, str], Iterable[Device]]] = None,
        mac_tokens: Optional[Callable[[str], Optional[MACToken]]] = None,
        require_tpm: bool = False,
        require_secure_boot: bool = False,
        clock: Callable[[], float] = time.time,
        verify_signature: VerifySignature = p256.verify,
    ) -> None:
        self._audience = audience.encode()
        self._nonces = nonces
        self._devices = devices
        self._mac_tokens = mac_tokens
        self._require_tpm = require_tpm
        self._require_secure_boot = require_secure_boot
        self._clock = clock
        self._verify_signature = verify_signature

    def verify(
        self, authorization: Header, method: str, resource: Union[str, bytes], body: bytes = b"",
        *, body_digest: Optional[bytes] = None,
    ) -> VerifiedRequest:
        """Verifies the code of one request, and uses it up; raises `VerificationFailure`.

        `authorization` is the value of the request's `Authorization` header, or all of them in a
        list. `resource` is path and query exactly as they were sent, escapes included. `body` is
        the exact body; `body_digest`, its SHA-256, may take its place.
        """
        header = only(authorization)
        request = _Received(
            encoded(method), encoded(resource),
            hashlib.sha256(body).digest() if body_digest is None else body_digest)
        if self._devices is not None and header.startswith(b"Signet "):
            return self._verify_signed(_SignedHeader(header), request)
        if self._mac_tokens is not None and header.startswith(b"SignetMAC "):
            return self._verify_mac(_MACHeader(header), request)
        raise VerificationFailure("wrong-scheme", "no code of a kind that is accepted here")

    def _verify_signed(self, header: _SignedHeader, request: _Received) -> VerifiedRequest:
        statement = read_request(header.statement)
        if not request.is_meant_by(statement):
            raise VerificationFailure("wrong-request", "signed for another request")
        if statement.audience != self._audience:
            raise VerificationFailure("wrong-audience", "signed for another audience")
        signature = read_signature(header.signature)
        device = self._device(statement, signature)
        if not signature.is_of(header.statement, "request@signet", self._verify_signature):
            raise VerificationFailure("bad-signature", "the signature is not by the device's key")
        is_now = self._use_up(statement.credential, statement.nonce, statement.issued)
        self._check_policy(statement)
        if not is_now:
            raise VerificationFailure("clock", "more than 30 s from the time here")
        return VerifiedRequest(
            account=device.account, device=device.device, registration=device.registration,
            factor=statement.factor.decode(), issued=statement.issued,
            credential=statement.credential, key=statement.key, secure_boot=statement.secure_boot,
            enrolment=statement.enrolment, counter=statement.counter)

    def _device(self, statement: RequestStatement, signature: Signature) -> Device:
        assert self._devices is not None
        said = fingerprint(signature.point)
        try:
            account = statement.account.decode()
        except UnicodeDecodeError:
            raise VerificationFailure("unknown-key", "no account has such a name") from None
        signer = account, statement.device, statement.credential, said
        for device in self._devices(account, statement.device):
            if (device.account, device.device, device.credential, device.fingerprint) == signer:
                return device
        raise VerificationFailure("unknown-key", "signed by a key that is not registered for this")

    def _check_policy(self, statement: RequestStatement) -> None:
        if statement.factor != b"fingerprint":
            raise VerificationFailure("policy", "not signed after a touch")
        if self._require_tpm and statement.key != "tpm":
            raise VerificationFailure("policy", "the key is not in a TPM")
        if self._require_secure_boot and statement.secure_boot != "on":
            raise VerificationFailure("policy", "not started with secure boot")

    def _verify_mac(self, header: _MACHeader, request: _Received) -> VerifiedRequest:
        assert self._mac_tokens is not None
        token = self._mac_tokens(header.token)
        if token is None or token.token != header.token:
            raise VerificationFailure("unknown-key", "no such MAC token")
        text = write_lines(
            "signet-mac",
            [
                ("audience", self._audience), ("token", header.token.encode()),
                ("method", request.method), ("resource", request.resource),
                ("nonce", base64url_encode(header.nonce)), ("body", base64url_encode(request.body)),
                ("issued", header.issued_text),
            ])
        if not hmac.compare_digest(header.mac, hmac.digest(token.secret, text, "sha256")):
            raise VerificationFailure("bad-mac", "not the MAC of this request by this token")
        is_now = self._use_up(header.token, header.nonce, header.issued)
        if token.expires <= self._clock():
            raise VerificationFailure("expired", "the MAC token has expired")
        if not is_now:
            raise VerificationFailure("clock", "more than 30 s from the time here")
        return VerifiedRequest(
            account=token.account, device=token.device, registration=token.registration,
            factor="possession", issued=header.issued, mac_token=token.token)

    def _use_up(self, owner: str, nonce: bytes, issued: int) -> bool:
        """Whether a code is of now; if so, its nonce is used up, even if a later check fails.

        A stale code cannot be used again, so its nonce need not be stored.
        """
        if abs(int(self._clock()) - issued) > WINDOW_SECONDS:
            return False
        key = f"{owner}:{base64url_encode(nonce).decode()}:{issued}"
        if self._nonces.add(key, issued) is not True:
            raise VerificationFailure("replayed", "this code has been used before")
        return True


@dataclass(frozen=True)
class _Received:
    method: bytes
    resource: bytes
    body: bytes

    def is_meant_by(self, statement: RequestStatement) -> bool:
        return (self.method, self.resource, self.body) == (
            statement.method, statement.resource, statement.body)


class _HeaderReader:
    """Reads `Scheme name="value", name="value"` in exactly this form."""

    def __init__(self, header: bytes, scheme: str) -> None:
        self.scheme = scheme
        if len(header) > _LONGEST[scheme]:
            raise VerificationFailure("too-long", f"a {scheme} header of {len(header)} bytes")
        self._rest = header[len(scheme) :]
        self._mark = b' %s="'

    def value(self, name: str) -> bytes:
        start = self._mark % name.encode()
        self._mark = b', %s="'
        value, quote, rest = self._rest[len(start) :].partition(b'"')
        if not self._rest.startswith(start) or not quote:
            raise self.malformed()
        self._rest = rest
        return value

    def binary(self, name: str, count: Optional[int] = None) -> bytes:
        data = base64url_decode(self.value(name))
        if data is None or count not in (None, len(data)):
            raise self.malformed()
        return data

    def end(self) -> None:
        if self._rest:
            raise self.malformed()

    def malformed(self) -> VerificationFailure:
        return VerificationFailure("malformed", f"not the form of a {self.scheme} header")


class _SignedHeader:
    def __init__(self, header: bytes) -> None:
        reader = _HeaderReader(header, "Signet")
        self.statement = reader.binary("statement")
        self.signature = reader.binary("signature")
        reader.end()


class _MACHeader:
    def __init__(self, header: bytes) -> None:
        reader = _HeaderReader(header, "SignetMAC")
        token = reader.value("token")
        if hex_decode(token, 16) is None:
            raise reader.malformed()
        self.token = token.decode()
        self.nonce = reader.binary("nonce", 32)
        self.issued_text = reader.value("issued")
        issued = time_decode(self.issued_text)
        if issued is None:
            raise reader.malformed()
        self.issued = issued
        self.mac = reader.binary("mac", 32)
        reader.end()


def only(authorization: Header) -> bytes:
    """The one header as bytes; raises if there are none or several."""
    if authorization is not None and not isinstance(authorization, (str, bytes)):
        values = list(authorization)
        if len(values) > 1:
            raise VerificationFailure("repeated-header", "more than one Authorization header")
        authorization = values[0] if values else None
    if authorization is None:
        raise VerificationFailure("wrong-scheme", "no Authorization header")
    return encoded(authorization)


def encoded(text: Union[str, bytes]) -> bytes:
    """UTF-8, without an error for a surrogate, which is part of nothing that is valid."""
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
