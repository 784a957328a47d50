# SPDX-License-Identifier: Apache-2.0
"""A JSON reader that refuses whatever two programs could read differently.

That is: a name twice in one object, a name of more than 128 bytes, an unpaired surrogate, a byte
order mark, bytes that are not UTF-8, and more than 512 levels. json.loads takes the last of two
members and lets the rest pass. The time is linear, and nesting does not use the stack.
"""
from __future__ import annotations

import re
from typing import Any, Dict, List, Optional, Tuple, Union

from .failures import VerificationFailure

_DEEPEST = 512
_LONGEST_NAME = 128
_LONGEST_NUMBER = 32

# Each alternative begins with another character, so nothing is tried twice.
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_BLANKS = re.compile(r"[ \t\n\r]*")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_UNIT = re.compile(r"[0-9a-fA-F]{4}")
_WORDS: Dict[str, Any] = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}

_Container = Union[Dict[str, Any], List[Any]]


def parse(data: bytes) -> Any:
    """Returns the value of a document; raises `malformed`. The caller limits the length."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise _malformed("not UTF-8") from None
    return _Reader(text).document()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0
        # Open containers, outermost first, each with the name that the next value belongs to.
        self._open: List[Tuple[_Container, Optional[str]]] = []

    def document(self) -> Any:
        while True:
            opened, value = self._value()
            if opened:
                continue
            while self._open:
                self._put(value)
                if not self._is_closed():
                    break
                value = self._open.pop()[0]
            if not self._open:
                self._skip_blanks()
                if self._place != len(self._text):
                    raise _malformed("text after the document")
                return value

    def _value(self) -> Tuple[bool, Any]:
        """Reads a value; the first result is True if it opens a container that is not empty."""
        first = self._take_visible()
        if first == "{":
            self._begin({})
            if self._skip("}"):
                return False, self._open.pop()[0]
            self._read_name()
            return True, None
        if first == "[":
            self._begin([])
            if self._skip("]"):
                return False, self._open.pop()[0]
            return True, None
        if first == '"':
            return False, self._string()
        if first in _WORDS:
            word, value = _WORDS[first]
            if not self._text.startswith(word, self._place - 1):
                raise _malformed("a word that JSON does not have")
            self._place += len(word) - 1
            return False, value
        return False, self._number()

    def _put(self, value: Any) -> None:
        container, name = self._open[-1]
        if isinstance(container, list):
            container.append(value)
        else:
            assert name is not None
            container[name] = value

    def _is_closed(self) -> bool:
        """Reads what follows a value in a container: its end, or a comma and perhaps a name."""
        is_object = isinstance(self._open[-1][0], dict)
        mark = self._take_visible()
        if mark == ",":
            if is_object:
                self._read_name()
            return False
        if mark != ("}" if is_object else "]"):
            raise _malformed("neither a comma nor the end after a value")
        return True

    def _begin(self, container: _Container) -> None:
        if len(self._open) == _DEEPEST:
            raise _malformed("nested too deeply")
        self._open.append((container, None))

    def _read_name(self) -> None:
        if self._take_visible() != '"':
            raise _malformed("a member without a name")
        name = self._string()
        container = self._open[-1][0]
        if len(name.encode()) > _LONGEST_NAME or name in container:
            raise _malformed("a name that is too long, or twice in one object")
        self._open[-1] = (container, name)
        if self._take_visible() != ":":
            raise _malformed("a name without a value")

    def _number(self) -> Union[int, float]:
        match = _NUMBER.match(self._text, self._place - 1)
        if match is None or match.end() - match.start() > _LONGEST_NUMBER:
            raise _malformed("neither a value nor a number of reasonable length")
        self._place = match.end()
        is_integer = match.group(1) is None and match.group(2) is None
        return int(match.group()) if is_integer else float(match.group())

    def _string(self) -> str:
        """Reads a string whose opening quote has been taken."""
        parts: List[str] = []
        while True:
            plain = _PLAIN.match(self._text, self._place)
            assert plain is not None
            parts.append(plain.group())
            self._place = plain.end()
            mark = self._take()
            if mark == '"':
                return "".join(parts)
            if mark != "\\":
                raise _malformed("a control character in a string")
            parts.append(self._escape())

    def _escape(self) -> str:
        mark = self._take()
        if mark != "u":
            if mark not in _ESCAPES:
                raise _malformed("an escape that JSON does not have")
            return _ESCAPES[mark]
        code = self._unit()
        if 0xD800 <= code < 0xDC00:
            low = self._unit() if self._take() + self._take() == "\\u" else 0
            if not 0xDC00 <= low < 0xE000:
                raise _malformed("an unpaired surrogate")
            return chr(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00))
        if 0xDC00 <= code < 0xE000:
            raise _malformed("an unpaired surrogate")
        return chr(code)

    def _unit(self) -> int:
        match = _UNIT.match(self._text, self._place)
        if match is None:
            raise _malformed("an escape without four digits")
        self._place = match.end()
        return int(match.group(), 16)

    def _skip_blanks(self) -> None:
        match = _BLANKS.match(self._text, self._place)
        assert match is not None
        self._place = match.end()

    def _skip(self, mark: str) -> bool:
        self._skip_blanks()
        is_there = self._text.startswith(mark, self._place)
        self._place += is_there
        return is_there

    def _take(self) -> str:
        if self._place >= len(self._text):
            raise _malformed("cut off")
        self._place += 1
        return self._text[self._place - 1]

    def _take_visible(self) -> str:
        self._skip_blanks()
        return self._take()


def _malformed(why: str) -> VerificationFailure:
    return VerificationFailure("malformed", f"not JSON as it is accepted here: {why}")
