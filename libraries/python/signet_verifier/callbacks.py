# SPDX-License-Identifier: Apache-2.0
"""Callbacks: what the server sends to an application's URL, signed by the key of access tokens.

The header's type tells them from access tokens, so that neither is accepted in place of the other.
"""
from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Callable, Dict, Optional, Union

from . import p256
from .encoding import hex_decode
from .failures import VerificationFailure
from .nonces import WINDOW_SECONDS
from .sshsig import VerifySignature
from .strict_json import parse
from .tokens import Keys, signed_payload, text_claim, time_claim

_TYPE = "signet-callback+jwt"


@dataclass(frozen=True)
class CallbackEvent:
    """An event. Times are in seconds since 1970; what is None does not apply to its type."""

    id: str
    type: str
    time: int
    application: str
    account: str
    registration: Optional[str]
    operation: Optional[str]
    purpose: Optional[str]
    reason: Optional[str]
    issued: int
    expires: int


class CallbackVerifier:
    """Verifies callbacks of one server to one URL. Safe for threads if its parts are.

    `issuer` is the server's URL (`server.url`), and `url` the callback's as it was set. `clock`
    returns seconds since 1970. The caller remembers the ids of events: one may come several times.
    """

    def __init__(
        self, issuer: str, url: str, keys: Keys,
        clock: Callable[[], float] = time.time,
        verify_signature: VerifySignature = p256.verify,
    ) -> None:
        self._issuer = issuer
        self._url = url
        self._keys = keys
        self._clock = clock
        self._verify_signature = verify_signature

    def verify(self, body: Union[str, bytes]) -> CallbackEvent:
        """Returns the event of a request's body; raises `VerificationFailure`."""
        claims = parse(signed_payload(body, _TYPE, self._keys, self._verify_signature))
        if not isinstance(claims, dict):
            raise VerificationFailure("malformed", "the payload is not an object")
        event = _read_event(claims)
        issuer, url = text_claim(claims, "iss"), text_claim(claims, "aud")
        now = int(self._clock())
        if issuer != self._issuer:
            raise VerificationFailure("wrong-issuer", "by another server")
        if url != self._url:
            raise VerificationFailure("wrong-audience", "for another URL")
        if event.expires <= now:
            raise VerificationFailure("expired", f"expired {now - event.expires} s ago")
        if event.issued > now + WINDOW_SECONDS:
            raise VerificationFailure("not-yet-valid", "issued in the future")
        return event


def _read_event(claims: Dict[str, Any]) -> CallbackEvent:
    return CallbackEvent(
        id=_id(text_claim(claims, "jti")), type=text_claim(claims, "type"),
        time=time_claim(claims, "time"), application=text_claim(claims, "application"),
        account=text_claim(claims, "account"), registration=_optional_id(claims, "registration"),
        operation=_optional_id(claims, "operation"), purpose=_optional_text(claims, "purpose"),
        reason=_optional_text(claims, "reason"), issued=time_claim(claims, "iat"),
        expires=time_claim(claims, "exp"))


def _optional_text(claims: Dict[str, Any], name: str) -> Optional[str]:
    return text_claim(claims, name) if name in claims else None


def _optional_id(claims: Dict[str, Any], name: str) -> Optional[str]:
    return _id(text_claim(claims, name)) if name in claims else None


def _id(text: str) -> str:
    if hex_decode(text.encode(), 16) is None:
        raise VerificationFailure("malformed", "an id is not 32 hexadecimal digits")
    return text
