# SPDX-License-Identifier: Apache-2.0
"""The server's public keys for access tokens: its JWKS (RFC 7517), and how it is kept current."""
from __future__ import annotations

import hashlib
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Callable, Dict, Optional

from .encoding import base64url_decode, base64url_encode
from .failures import VerificationFailure
from .p256 import read_point
from .strict_json import parse

_LONGEST_JWKS = 65_536
_MOST_KEYS = 100


class KeySet:
    """The keys of a JWKS, by their thumbprint."""

    def __init__(self, jwks: bytes) -> None:
        """Reads a JWKS document; raises `too-long`, `malformed` or `invalid-key`.

        Keys for other purposes or algorithms are passed over (RFC 7517, section 5). A key for ES256
        that is not valid, or whose `kid` is not its thumbprint, makes the whole set invalid.
        """
        if len(jwks) > _LONGEST_JWKS:
            raise VerificationFailure("too-long", f"a JWKS of more than {_LONGEST_JWKS} bytes")
        document = parse(jwks)
        keys = document.get("keys") if isinstance(document, dict) else None
        if not isinstance(keys, list) or len(keys) > _MOST_KEYS:
            raise VerificationFailure("malformed", "not a JWKS")
        self._points: Dict[str, bytes] = {}
        for key in keys:
            if not isinstance(key, dict):
                raise VerificationFailure("malformed", "not a JWKS")
            if _is_for_tokens(key):
                kid, point = _read_key(key)
                if kid in self._points:
                    raise VerificationFailure("invalid-key", "a key that is there twice")
                self._points[kid] = point

    def __len__(self) -> int:
        return len(self._points)

    def point(self, kid: str) -> Optional[bytes]:
        """The uncompressed point of the key with this id."""
        return self._points.get(kid)


class KeySource:
    """A server's keys, fetched again as they age. For use by any number of threads.

    `fetch` returns the JWKS document, or raises. Keys are used for `max_age` seconds after they
    were fetched and then no longer: the server may have retired one. From half that age on they
    are fetched again when a token is verified, and when a token names an unknown key, but never
    more often than every `interval` seconds, whatever tokens anyone sends. `clock` counts seconds
    and never goes back.
    """

    def __init__(
        self, fetch: Callable[[], bytes], max_age: float = 300, interval: float = 10,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._fetch = fetch
        self._max_age = max_age
        self._interval = interval
        self._clock = clock
        self._lock = threading.Lock()
        self._keys: Optional[KeySet] = None
        self._fetched = 0.0
        self._tried: Optional[float] = None
        self._why = "not fetched yet"

    def point(self, kid: str) -> Optional[bytes]:
        """The point of a key, or None; raises `unavailable` if no keys can be fetched."""
        keys = self._current()
        if keys is not None and self._age() < self._max_age / 2 and keys.point(kid) is not None:
            return keys.point(kid)
        # Threads that have the key do not wait for the one that fetches.
        has_key = keys is not None and keys.point(kid) is not None
        if self._lock.acquire(blocking=not has_key):
            try:
                self._refresh(kid)
            finally:
                self._lock.release()
        keys = self._current()
        if keys is None:
            raise VerificationFailure("unavailable", f"no current keys of the server: {self._why}")
        return keys.point(kid)

    def _current(self) -> Optional[KeySet]:
        return self._keys if self._age() < self._max_age else None

    def _age(self) -> float:
        return self._clock() - self._fetched

    def _refresh(self, kid: str) -> None:
        """Fetches the keys if that is due; the caller holds the lock."""
        keys = self._current()
        is_fresh = keys is not None and self._age() < self._max_age / 2
        if is_fresh and keys is not None and keys.point(kid) is not None:
            return
        now = self._clock()
        if self._tried is not None and now - self._tried < self._interval:
            return
        self._tried = now
        try:
            fetched = KeySet(self._fetch())
        except Exception as error:  # Whatever the caller's function raises.
            self._why = str(error)
            return
        # The age counts from before the request: the answer may have been under way for long.
        self._keys, self._fetched = fetched, now


def https_fetch(url: str, timeout: float = 5.0) -> Callable[[], bytes]:
    """A function for `KeySource` that fetches a JWKS by HTTPS, e.g. `…/.well-known/jwks.json`.

    It follows no redirection, reads at most 64 KiB, and gives up after about `timeout` seconds
    altogether. Plain HTTP is accepted only for an address of this machine.
    """
    parts = urllib.parse.urlsplit(url)
    is_local = parts.hostname in ("127.0.0.1", "::1", "localhost")
    if parts.scheme != "https" and not (parts.scheme == "http" and is_local):
        raise ValueError("the URL of a JWKS begins with https://")
    opener = urllib.request.build_opener(_NoRedirection)

    def fetch() -> bytes:
        end = time.monotonic() + timeout
        data = bytearray()
        with opener.open(urllib.request.Request(url), timeout=timeout) as answer:
            while part := answer.read1(16_384):
                data += part
                if len(data) > _LONGEST_JWKS or time.monotonic() > end:
                    raise OSError("the answer is too long, or takes too long")
        return bytes(data)

    return fetch


class _NoRedirection(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def _is_for_tokens(key: Dict[str, Any]) -> bool:
    return (key.get("kty"), key.get("use"), key.get("alg")) == ("EC", "sig", "ES256")


def _read_key(key: Dict[str, Any]) -> "tuple[str, bytes]":
    x, y, kid = key.get("x"), key.get("y"), key.get("kid")
    if key.get("crv") != "P-256" or not (
        isinstance(x, str) and isinstance(y, str) and isinstance(kid, str)
    ):
        raise VerificationFailure("invalid-key", "not a P-256 key with x, y and kid")
    point = b"\4" + _coordinate(x) + _coordinate(y)
    if read_point(point) is None:
        raise VerificationFailure("invalid-key", "not a point of P-256")
    # RFC 7638: the required members in lexicographic order, without spaces.
    members = f'{{"crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}'.encode()
    if kid.encode() != base64url_encode(hashlib.sha256(members).digest()):
        raise VerificationFailure("invalid-key", "the kid is not the key's thumbprint")
    return kid, point


def _coordinate(text: str) -> bytes:
    data = base64url_decode(text.encode()) if len(text) == 43 else None
    if data is None:
        raise VerificationFailure("invalid-key", "a coordinate is not 32 bytes in base64url")
    return data
