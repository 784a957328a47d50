# SPDX-License-Identifier: Apache-2.0
"""Verdicts: the server's signed yes to a login at a PAM module, by a key that is pinned."""
from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Callable, Optional, Union

from . import p256
from .encoding import base64url_decode
from .failures import VerificationFailure
from .lines import VerdictStatement, read_verdict
from .sshsig import VerifySignature, read_key_line, read_signature

_LONGEST_TEXT = 4096
_LONGEST_SIGNATURE = 512
# How far the server's clock may be ahead, in seconds.
_LEEWAY_SECONDS = 300

# A text or signature: its bytes, or their base64url as in the answers of the server's API.
Data = Union[str, bytes]


@dataclass(frozen=True)
class Verdict:
    """A login that the server has approved. Times are in seconds since 1970."""

    audience: str
    account: str
    local: str
    device: str
    challenge: bytes
    module: bytes
    issued: int
    expires: int


class VerdictVerifier:
    """Verifies verdicts by one pinned key for one audience.

    `key` and `audience` are as `signet-server admin application pam-file` prints them. `clock`
    returns seconds since 1970. Raises `invalid-key` if `key` is not the line of a P-256 key.
    """

    def __init__(
        self, key: str, audience: str, clock: Callable[[], float] = time.time,
        verify_signature: VerifySignature = p256.verify,
    ) -> None:
        self._point = read_key_line(key)
        self._audience = audience.encode()
        self._clock = clock
        self._verify_signature = verify_signature

    def verify(
        self, statement: Data, signature: Data, *, account: Optional[str] = None,
        local: Optional[str] = None, device: Optional[str] = None,
        challenge: Optional[bytes] = None, module: Optional[bytes] = None,
        max_age: Optional[int] = None,
    ) -> Verdict:
        """Returns a verdict that says yes; raises `VerificationFailure`.

        What is given of `account`, `local` (the account's name on the device), `device` (its id in
        hexadecimal) and `challenge` (the server's, 32 bytes) must be in the verdict. When it is
        valid follows from one of three rules:

        - with `module`, the 32 random bytes that the verdict was asked for: at any time, since the
          verdict is then an answer to the caller (as in the PAM module, online);
        - with `max_age`: for that many seconds after it was issued (as in the PAM module, offline);
        - otherwise: before it expires, which is 60 seconds after it was issued.
        """
        if module is not None and max_age is not None:
            raise ValueError("either 'module' or 'max_age' decides when a verdict is valid")
        text = _bytes(statement, _LONGEST_TEXT)
        parsed = read_signature(_bytes(signature, _LONGEST_SIGNATURE))
        if parsed.point != self._point or not parsed.is_of(
            text, "verdict@signet", self._verify_signature
        ):
            raise VerificationFailure("bad-signature", "the signature is not by the pinned key")
        verdict = read_verdict(text)
        if verdict.audience != self._audience:
            raise VerificationFailure("wrong-audience", "about another application")
        names = _read_names(verdict, account, local)
        if device is not None and verdict.device != device:
            raise VerificationFailure("wrong-device", "about another device")
        if verdict.decision != "allow":
            raise VerificationFailure("denied", "the server has denied this login")
        if challenge is not None and verdict.challenge != challenge:
            raise VerificationFailure("wrong-challenge", "about another challenge of the server")
        self._check_time(verdict, module, max_age)
        return Verdict(
            audience=self._audience.decode(), account=names[0], local=names[1],
            device=verdict.device, challenge=verdict.challenge, module=verdict.module,
            issued=verdict.issued, expires=verdict.expires)

    def _check_time(
        self, verdict: VerdictStatement, module: Optional[bytes], max_age: Optional[int]
    ) -> None:
        if module is not None:
            if verdict.module != module:
                raise VerificationFailure("wrong-challenge", "an answer to another challenge")
            return
        now = int(self._clock())
        if verdict.issued > now + _LEEWAY_SECONDS:
            raise VerificationFailure("not-yet-valid", "issued in the future")
        is_over = verdict.expires <= now if max_age is None else (
            max_age <= 0 or now - verdict.issued > max_age)
        if is_over:
            raise VerificationFailure("expired", "the verdict is too old")


def _read_names(
    verdict: VerdictStatement, account: Optional[str], local: Optional[str]
) -> "tuple[str, str]":
    try:
        names = verdict.account.decode(), verdict.local.decode()
    except UnicodeDecodeError:
        raise VerificationFailure("wrong-account", "a name that no account has") from None
    if account not in (None, names[0]) or local not in (None, names[1]):
        raise VerificationFailure("wrong-account", "about another account")
    return names


def _bytes(data: Data, longest: int) -> bytes:
    decoded: Optional[bytes]
    # Three bytes are four characters.
    if isinstance(data, str) and 3 * len(data) <= 4 * longest + 4:
        decoded = base64url_decode(data.encode("utf-8", "replace"))
        if decoded is None:
            raise VerificationFailure("malformed", "not base64url without padding")
    else:
        decoded = data if isinstance(data, bytes) else None
    if decoded is None or len(decoded) > longest:
        raise VerificationFailure("too-long", f"more than {longest} bytes")
    return decoded
