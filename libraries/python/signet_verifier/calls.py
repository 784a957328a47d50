# SPDX-License-Identifier: Apache-2.0
"""One call to signet-server: a request on a connection of its own, and its answer, read with limits.

Nothing is ever sent twice. The certificate is always verified, no redirection is followed, and no text,
repr or traceback of a failure has the API key.
"""
from __future__ import annotations

import http.client
import io
import json
import re
import socket
import ssl
import time
import urllib.parse
from typing import Any, Dict, Optional

from .failures import VerificationFailure
from .strict_json import parse

_KEY = re.compile(r"sgk_[A-Za-z0-9_-]{43}")
_CODE = re.compile(r"[a-z][a-z-]{0,63}")
_HOST = re.compile(r"[A-Za-z0-9.:\[\]-]+")
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
# How often the time without a byte may pass until a whole answer must be there.
_TIMES_SILENCE = 10
_LONGEST_MESSAGE = 500
_HIDDEN = "sgk_…"

# What a failure's code is if there is no answer by the server that says one.
CALL_CODES = ("not-sent", "no-answer", "unusable-answer")


class CallFailure(Exception):
    """A call that did not succeed. The text is for the log of the back end.

    `code` is the server's (`conflict`, `not-found`, …: docs/developer/openapi.yaml), or one of these: `not-sent`
    (no connection was made), `no-answer` (the request was sent, and no answer came), `unusable-answer`
    (it is not one that the server is documented to give). `status` is that of the answer, and `details`
    has what else a refusal says: `scope`, `requirement`, `remainingAttempts`.
    """

    def __init__(
        self, code: str, message: str, *, status: Optional[int] = None,
        retry_after: Optional[int] = None, details: Optional[Dict[str, Any]] = None,
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status
        self.retry_after = retry_after
        self.details = details or {}

    @property
    def may_have_happened(self) -> bool:
        """Whether the server may have done what was asked, although this failed."""
        return self.code in ("no-answer", "unusable-answer", "unavailable")


class Connector:
    """Makes calls to one server with one API key. Safe for threads: calls share nothing."""

    def __init__(
        self, url: str, api_key: str, timeout: float, longest: int, authority: Optional[str]
    ) -> None:
        parts = urllib.parse.urlsplit(url)
        is_local = parts.hostname in ("127.0.0.1", "::1", "localhost")
        if parts.scheme != "https" and not (parts.scheme == "http" and is_local):
            raise ValueError("the URL of a server begins with https://")
        # urlsplit leaves out line ends, wherever they are.
        is_plain = url.isprintable() and not set(url) & set(" ?#") and _HOST.fullmatch(parts.netloc)
        if not is_plain or not parts.hostname:
            raise ValueError("the URL of a server has a host, perhaps a port and a path, and no more")
        if not isinstance(api_key, str) or not _KEY.fullmatch(api_key):
            raise ValueError("not an API key: it begins with sgk_ and has 47 characters")
        if not timeout > 0 or longest < 1:
            raise ValueError("a limit is a positive number")
        self._host = parts.netloc
        self._address = parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
        self._path = urllib.parse.quote(parts.path.rstrip("/"), safe="/%")
        self._context: Optional[ssl.SSLContext] = None
        if parts.scheme == "https":
            self._context = ssl.create_default_context(cafile=authority)
            self._context.minimum_version = ssl.TLSVersion.TLSv1_2
        self._timeout = timeout
        self._longest = longest
        # A function, so that no dictionary of attributes has the key.
        self._key = lambda: api_key

    def call(self, method: str, path: str, body: Optional[Dict[str, Any]], success: int) -> Any:
        """The JSON of the answer, None if it has no content; raises `CallFailure`."""
        data = b"" if body is None else json.dumps(body, allow_nan=False).encode()
        kind, answer = self.document(method, path, data, success)
        if success == 204 and not answer:
            return None
        value = _parse(answer) if kind == "application/json" else None
        if value is None:
            raise unusable(f"no JSON as it is accepted here, with status {success}", success)
        return value

    def document(
        self, method: str, path: str, data: bytes = b"", success: int = 200
    ) -> "tuple[str, bytes]":
        """The type and the bytes of an answer of this status; raises `CallFailure`."""
        status, headers, answer = self._exchange(method, self._path + path, data)
        kind = headers.get_content_type() if "Content-Type" in headers else ""
        if status != success:
            raise self._refusal(status, headers, kind, answer)
        return kind, answer

    def _refusal(
        self, status: int, headers: http.client.HTTPMessage, kind: str, answer: bytes
    ) -> CallFailure:
        problem = _parse(answer) if kind == "application/problem+json" else None
        problem = problem if isinstance(problem, dict) else {}
        code, title = problem.get("code"), problem.get("title")
        if (
            problem.get("status") != status or status < 400 or not isinstance(title, str)
            or not is_code(code)
        ):
            return unusable(f"status {status}, and not as the server refuses a call", status)
        title = _masked(title)[:_LONGEST_MESSAGE]
        message = "".join(one if one.isprintable() else "\ufffd" for one in title)
        after = headers.get("Retry-After", "")
        details = {
            name: _masked(problem[name]) for name in ("scope", "requirement", "remainingAttempts")
            if isinstance(problem.get(name), (str, int))
        }
        return CallFailure(
            code, message, status=status, details=details,
            retry_after=int(after) if re.fullmatch(r"[0-9]{1,6}", after, re.ASCII) else None)

    def _exchange(
        self, method: str, path: str, body: bytes
    ) -> "tuple[int, http.client.HTTPMessage, bytes]":
        # Failures are raised outside of `except`, so that none leads to a frame that has the key.
        sock, why = self._connected()
        if sock is None:
            raise CallFailure("not-sent", f"no connection to {self._host}: {why}")
        response, code = None, "no-answer"
        try:
            sock.sendall(self._request(method, path, body))
            response = http.client.HTTPResponse(
                _Answer(sock, self._timeout, 2 * self._longest + 1_048_576), method=method)  # type: ignore[arg-type]
            response.begin()
            code = "unusable-answer"
            # A peer may repeat what it was sent.
            data = self._read(response).replace(self._key().encode(), _HIDDEN.encode())
            return response.status, response.msg, data
        except _TooLong as error:
            code, why = "unusable-answer", str(error)
        except http.client.HTTPException as error:
            code = "no-answer" if isinstance(error, http.client.RemoteDisconnected) else "unusable-answer"
            why = f"not an answer of HTTP, or cut off ({type(error).__name__})"
        except (OSError, ValueError) as error:
            code, why = "no-answer", _reason(error)
        finally:
            if response is not None:
                response.close()
            sock.close()
        status = response.status if code == "unusable-answer" and response is not None else None
        raise CallFailure(code, why, status=status if isinstance(status, int) else None)

    def _connected(self) -> "tuple[Optional[socket.socket], str]":
        sock: Optional[socket.socket] = None
        try:
            sock = socket.create_connection(self._address, timeout=self._timeout)
            if self._context is None:
                return sock, ""
            return self._context.wrap_socket(sock, server_hostname=self._address[0]), ""
        except (OSError, ValueError) as error:
            if sock is not None:
                sock.close()
            return None, _reason(error)

    def _request(self, method: str, path: str, body: bytes) -> bytes:
        lines = [
            f"{method} {path} HTTP/1.1", f"Host: {self._host}", "Connection: close",
            "Accept: application/json, application/problem+json",
            "User-Agent: signet-verifier", f"Authorization: Bearer {self._key()}",
        ]
        if body:
            lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        return "\r\n".join(lines + ["", ""]).encode("ascii") + body

    def _read(self, response: http.client.HTTPResponse) -> bytes:
        lengths = response.msg.get_all("Content-Length", [])
        if len(lengths) > 1 or (response.length is None and not response.chunked):
            raise _TooLong("an answer without its length")
        data = bytearray()
        while part := response.read(65_536):
            data += part
            if len(data) > self._longest:
                raise _TooLong(f"an answer of more than {self._longest} bytes")
        if response.length:
            raise _TooLong("an answer that is cut off")
        return bytes(data)


def escape(segment: str) -> str:
    """A segment of a path: all but letters, digits, `-` and `_` as `%XX`, so that none is `..`."""
    if not isinstance(segment, str) or not segment:
        raise ValueError("a name or id is a text that is not empty")
    return "".join(
        chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in segment.encode("utf-8"))


def is_code(value: Any) -> bool:
    """Whether a value is a code of the server's."""
    return isinstance(value, str) and bool(_CODE.fullmatch(value)) and value not in CALL_CODES


def _masked(value: Any) -> Any:
    """A value of a refusal, without a key: a peer may repeat what it was sent."""
    return _KEY.sub(_HIDDEN, value) if isinstance(value, str) else value


def unusable(why: str, status: Optional[int] = None) -> CallFailure:
    return CallFailure("unusable-answer", why, status=status)


class _TooLong(Exception):
    """The answer's length is not as it must be."""


class _Answer:
    """What HTTPResponse takes for a socket: it ends when the server is silent, or takes forever."""

    def __init__(self, sock: socket.socket, silence: float, most: int) -> None:
        self._raw = _Limited(sock, silence, most)

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(self._raw)


class _Limited(io.RawIOBase):
    def __init__(self, sock: socket.socket, silence: float, most: int) -> None:
        self._sock = sock
        self._silence = silence
        self._left = most  # Bytes: http.client reads a chunk of size -1 to the end.
        self._end = time.monotonic() + _TIMES_SILENCE * silence

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("the answer takes too long")
        self._sock.settimeout(min(self._silence, left))
        count = self._sock.recv_into(buffer)
        self._left -= count
        if self._left < 0:
            raise _TooLong("an answer that is too long")
        return count


def _parse(data: bytes) -> Any:
    try:
        return parse(data)
    except VerificationFailure:
        return None


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate is not accepted: {error.verify_message}"
    return str(error) or type(error).__name__
