# SPDX-License-Identifier: Apache-2.0
"""Access tokens: JSON Web Tokens by the server, ES256 only (RFC 7519, RFC 7515).

A token's header is not parsed but compared byte for byte with the one that the server writes, so
no token can choose an algorithm, say where a key is, or demand an extension.
"""
from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Callable, Dict, Optional, Protocol, Tuple, Union

from . import p256
from .encoding import base64url_decode, hex_decode
from .failures import VerificationFailure
from .nonces import WINDOW_SECONDS
from .sshsig import VerifySignature
from .strict_json import parse

_LONGEST = 8192
_HEADER_START = b'{"alg":"ES256","typ":"'
_HEADER_MIDDLE = b'","kid":"'
_HEADER_END = b'"}'
# A SHA-256 digest in base64url.
_KID_LENGTH = 43
_LARGEST_TIME = 2**53 - 1


class Keys(Protocol):
    """Where keys come from: a `KeySet` or a `KeySource`."""

    def point(self, kid: str) -> Optional[bytes]:
        """The uncompressed point of the key with this id, or None."""
        ...


@dataclass(frozen=True)
class AccessToken:
    """The claims of a valid access token. Times are in seconds since 1970."""

    account: str
    issuer: str
    audience: str
    issued: int
    expires: int
    id: str
    session: str
    registration: str
    methods: Tuple[str, ...]
    roles: Tuple[str, ...]
    flags: Tuple[str, ...]


class TokenVerifier:
    """Verifies access tokens of one server for one audience. Safe for threads if its parts are.

    `issuer` is the server's URL (`server.url`). `clock` returns seconds since 1970.
    `verify_signature` replaces the verification in pure Python: it gets the point (65 bytes), r and
    s (64 bytes) and the message.
    """

    def __init__(
        self, issuer: str, audience: str, keys: Keys,
        clock: Callable[[], float] = time.time,
        verify_signature: VerifySignature = p256.verify,
    ) -> None:
        self._issuer = issuer
        self._audience = audience
        self._keys = keys
        self._clock = clock
        self._verify_signature = verify_signature

    def verify(self, token: Union[str, bytes]) -> AccessToken:
        """Returns the claims of a token that is valid now; raises `VerificationFailure`."""
        payload = signed_payload(token, "JWT", self._keys, self._verify_signature)
        return self._judge(_read_claims(payload))

    def _judge(self, claims: "tuple[AccessToken, Optional[int]]") -> AccessToken:
        token, not_before = claims
        now = int(self._clock())
        if token.issuer != self._issuer:
            raise VerificationFailure("wrong-issuer", "issued by another server")
        if token.audience != self._audience:
            raise VerificationFailure("wrong-audience", "issued for another application")
        if token.expires <= now:
            raise VerificationFailure("expired", f"expired {now - token.expires} s ago")
        if max(token.issued, not_before or 0) > now + WINDOW_SECONDS:
            raise VerificationFailure("not-yet-valid", "issued in the future")
        return token


def bearer_token(authorization: Union[None, str, "list[str]", "tuple[str, ...]"]) -> str:
    """The token of `Authorization: Bearer …`; raises `wrong-scheme` or `repeated-header`.

    `authorization` is the header's value, or all values of that name in a list.
    """
    if isinstance(authorization, (list, tuple)):
        if len(authorization) > 1:
            raise VerificationFailure("repeated-header", "more than one Authorization header")
        authorization = authorization[0] if authorization else None
    if authorization is None or authorization[:7].lower() != "bearer ":
        raise VerificationFailure("wrong-scheme", "no bearer token")
    return authorization[7:]


def signed_payload(
    token: Union[str, bytes], typ: str, keys: Keys, verify_signature: VerifySignature
) -> bytes:
    """The payload of a token of type `typ` that one of the keys has signed; its claims are not read."""
    if len(token) > _LONGEST:
        raise VerificationFailure("too-long", f"a token of more than {_LONGEST} bytes")
    data = token.encode("utf-8", "replace") if isinstance(token, str) else token
    parts = data.split(b".")
    payload = base64url_decode(parts[1]) if len(parts) == 3 else None
    signature = base64url_decode(parts[2]) if len(parts) == 3 else None
    if payload is None or signature is None:
        raise VerificationFailure("malformed", "not three parts in base64url")
    point = keys.point(_key_id(parts[0], typ))
    if point is None:
        raise VerificationFailure("unknown-key", "signed by a key that the server does not publish")
    signed = parts[0] + b"." + parts[1]
    if len(signature) != 64 or verify_signature(point, signature, signed) is not True:
        raise VerificationFailure("bad-signature", "the signature is not by the server's key")
    return payload


def _key_id(header: bytes, typ: str) -> str:
    """The id of the key that a header names; raises unless the server would write it so."""
    text = base64url_decode(header)
    start = _HEADER_START + typ.encode() + _HEADER_MIDDLE
    if text is not None and text.startswith(start) and text.endswith(_HEADER_END):
        kid = text[len(start) : -len(_HEADER_END)]
        if len(kid) == _KID_LENGTH and base64url_decode(kid) is not None:
            return kid.decode()
    raise VerificationFailure("unsupported-header", "not the header of a token by this server")


def _read_claims(payload: bytes) -> "tuple[AccessToken, Optional[int]]":
    """The claims, and `nbf` if there is one; the server writes none so far."""
    claims = parse(payload)
    if not isinstance(claims, dict):
        raise VerificationFailure("malformed", "the payload is not an object")
    session = text_claim(claims, "sid")
    if hex_decode(session.encode(), 16) is None:
        raise VerificationFailure("malformed", "'sid' is not a session's id")
    token = AccessToken(
        account=text_claim(claims, "sub"), issuer=text_claim(claims, "iss"), audience=text_claim(claims, "aud"),
        issued=time_claim(claims, "iat"), expires=time_claim(claims, "exp"), id=text_claim(claims, "jti"),
        session=session, registration=text_claim(claims, "reg"), methods=_texts(claims, "amr"),
        roles=_texts(claims, "roles"), flags=_texts(claims, "flags"))
    return token, time_claim(claims, "nbf") if "nbf" in claims else None


def text_claim(claims: Dict[str, Any], name: str) -> str:
    value = claims.get(name)
    if not isinstance(value, str):
        raise VerificationFailure("malformed", f"'{name}' is missing or not a string")
    return value


def time_claim(claims: Dict[str, Any], name: str) -> int:
    value = claims.get(name)
    # To Python, True is an integer.
    if type(value) is not int or not 0 <= value <= _LARGEST_TIME:
        raise VerificationFailure("malformed", f"'{name}' is missing or not a time")
    return value


def _texts(claims: Dict[str, Any], name: str) -> Tuple[str, ...]:
    value = claims.get(name)
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise VerificationFailure("malformed", f"'{name}' is missing or not a list of strings")
    return tuple(value)
