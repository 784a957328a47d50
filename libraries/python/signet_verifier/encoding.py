# SPDX-License-Identifier: Apache-2.0
"""Encodings of which each value has exactly one text: base64, hexadecimal, percent, decimal, times.

Every reader returns None for a text that the matching writer would not write. The caller limits the
length beforehand. docs/developer/PROTOCOL.md, "The statement", defines the forms.
"""
from __future__ import annotations

import binascii
import calendar
from typing import Optional

# The last second that a time can express: the end of the year 9999.
LAST_SECOND = 253_402_300_799

_URL_CHARACTERS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
_HEX_DIGITS = frozenset(b"0123456789abcdef")
_UPPER_HEX_DIGITS = frozenset(b"0123456789ABCDEF")
_DIGITS = frozenset(b"0123456789")


def base64url_encode(data: bytes) -> bytes:
    """Returns the encoding of RFC 4648, section 5, without padding."""
    return binascii.b2a_base64(data, newline=False).translate(_TO_URL).rstrip(b"=")


def base64url_decode(text: bytes) -> Optional[bytes]:
    """Decodes RFC 4648, section 5, without padding, with all unused bits zero."""
    if not _URL_CHARACTERS.issuperset(text) or len(text) % 4 == 1:
        return None
    data = binascii.a2b_base64(text.translate(_FROM_URL) + b"=" * (-len(text) % 4))
    return data if base64url_encode(data) == text else None


def base64_decode(text: bytes) -> Optional[bytes]:
    """Decodes RFC 4648, section 4, padded: the form of OpenSSH's keys."""
    try:
        data = binascii.a2b_base64(text)
    except binascii.Error:
        return None
    return data if binascii.b2a_base64(data, newline=False) == text else None


_TO_URL = bytes.maketrans(b"+/", b"-_")
_FROM_URL = bytes.maketrans(b"-_", b"+/")


def hex_decode(text: bytes, count: int) -> Optional[bytes]:
    """Decodes `count` bytes of lower-case hexadecimal."""
    if len(text) != 2 * count or not _HEX_DIGITS.issuperset(text):
        return None
    return binascii.unhexlify(text)


def decimal_decode(text: bytes) -> Optional[int]:
    """Decodes a number of 64 bits without sign, spaces or leading zeros."""
    if not 1 <= len(text) <= 20 or not _DIGITS.issuperset(text):
        return None
    if len(text) > 1 and text[:1] == b"0":
        return None
    number = int(text)
    return number if number < 1 << 64 else None


def time_decode(text: bytes) -> Optional[int]:
    """Decodes `2026-11-20T17:24:00Z`, in seconds since 1970; only dates that exist."""
    marks = text[4:5] + text[7:8] + text[10:11] + text[13:14] + text[16:17]
    if len(text) != 20 or marks != b"--T::":
        return None
    parts = (text[0:4], text[5:7], text[8:10], text[11:13], text[14:16], text[17:19])
    if text[19:] != b"Z" or not all(_DIGITS.issuperset(part) for part in parts):
        return None
    year, month, day, hour, minute, second = (int(part) for part in parts)
    if year < 1970 or not 1 <= month <= 12 or hour > 23 or minute > 59 or second > 59:
        return None
    if not 1 <= day <= calendar.monthrange(year, month)[1]:
        return None
    return calendar.timegm((year, month, day, hour, minute, second))


def percent_encode(value: bytes) -> bytes:
    """Writes a value for a line: `%`, control characters and bytes that are not UTF-8 as `%XX`."""
    if _is_plain(value):
        return value
    # A byte that is not part of well-formed UTF-8 becomes a lone surrogate, U+DC80 to U+DCFF.
    encoded = bytearray()
    for character in value.decode("utf-8", "surrogateescape"):
        data = character.encode("utf-8", "surrogateescape")
        if character == "%" or _is_hidden(ord(character)):
            for byte in data:
                encoded += b"%%%02X" % byte
        else:
            encoded += data
    return bytes(encoded)


def percent_decode(text: bytes) -> Optional[bytes]:
    """Decodes a line's value; only what `percent_encode` writes for the result."""
    if _is_plain(text):
        return text
    first, *rest = text.split(b"%")
    value = bytearray(first)
    for part in rest:
        if len(part) < 2 or not _UPPER_HEX_DIGITS.issuperset(part[:2]):
            return None
        value.append(int(part[:2], 16))
        value += part[2:]
    return bytes(value) if percent_encode(bytes(value)) == text else None


def _is_plain(text: bytes) -> bool:
    return all(0x20 <= byte <= 0x7E and byte != 0x25 for byte in text)


def _is_hidden(code: int) -> bool:
    """Whether a character could make a line show something other than what it says."""
    return (
        code < 0x20 or 0x7F <= code <= 0x9F or code == 0x061C or 0x200E <= code <= 0x200F
        or 0x2028 <= code <= 0x202E or 0x2066 <= code <= 0x2069 or 0xDC80 <= code <= 0xDCFF
    )
