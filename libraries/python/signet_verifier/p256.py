# SPDX-License-Identifier: Apache-2.0
"""ECDSA on P-256 with SHA-256: verification only, in plain integers.

Everything here is public (keys, messages, signatures), so nothing needs to run in constant time.
Never sign with this: there is no code for it, and it would leak the key. FIPS 186-5, section 6.4.2;
SEC 1, section 4.1.4.
"""
from __future__ import annotations

import hashlib
from typing import List, Optional, Tuple

# The curve y² = x³ - 3x + B over the integers modulo P, with N points; SEC 2, section 2.4.2.
P = 0xFFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
GENERATOR = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)

# A point (X/Z², Y/Z³) in Jacobian coordinates; Z is 0 for the point at infinity, and only for it.
_Jacobian = Tuple[int, int, int]
_INFINITY: _Jacobian = (1, 1, 0)


def read_point(point: bytes) -> Optional[Tuple[int, int]]:
    """Returns x and y of an uncompressed point of 65 bytes; None unless it is on the curve.

    P-256 has cofactor 1, so every such point has the right order.
    """
    if len(point) != 65 or point[0] != 4:
        return None
    x = int.from_bytes(point[1:33], "big")
    y = int.from_bytes(point[33:], "big")
    if x >= P or y >= P or (y * y - (x * x - 3) * x - B) % P != 0:
        return None
    return x, y


def verify(point: bytes, signature: bytes, message: bytes) -> bool:
    """Whether a signature is the key's for a message.

    `point` is the uncompressed public key (65 bytes), `signature` is r and s (32 bytes each).
    Signatures with a low and with a high s are both accepted, as OpenSSL does. The result is false
    for a point that is not on the curve.
    """
    key = read_point(point)
    if key is None or len(signature) != 64:
        return False
    r = int.from_bytes(signature[:32], "big")
    s = int.from_bytes(signature[32:], "big")
    if not (0 < r < N and 0 < s < N):
        return False
    digest = int.from_bytes(hashlib.sha256(message).digest(), "big")
    inverse = pow(s, -1, N)
    x, _, z = _sum_of_multiples(digest * inverse % N, r * inverse % N, key)
    if z == 0:
        return False
    return x * pow(z, -2, P) % P % N == r


def _double(point: _Jacobian) -> _Jacobian:
    """Doubles a point; "dbl-2001-b" of the Explicit-Formulas Database, for a = -3."""
    x, y, z = point
    if z == 0:
        return _INFINITY
    delta = z * z % P
    gamma = y * y % P
    beta = x * gamma % P
    alpha = 3 * (x - delta) * (x + delta) % P
    new_x = (alpha * alpha - 8 * beta) % P
    new_z = ((y + z) * (y + z) - gamma - delta) % P
    return new_x, (alpha * (4 * beta - new_x) - 8 * gamma * gamma) % P, new_z


def _add(one: _Jacobian, other: _Jacobian) -> _Jacobian:
    """Adds two points, equal and opposite ones as well; "add-2007-bl" without its shortcuts."""
    x1, y1, z1 = one
    x2, y2, z2 = other
    if z1 == 0:
        return other
    if z2 == 0:
        return one
    square1 = z1 * z1 % P
    square2 = z2 * z2 % P
    u1 = x1 * square2 % P
    u2 = x2 * square1 % P
    s1 = y1 * square2 * z2 % P
    s2 = y2 * square1 * z1 % P
    if u1 == u2:
        return _double(one) if s1 == s2 else _INFINITY
    h = u2 - u1
    r = s2 - s1
    h_square = h * h % P
    h_cube = h_square * h % P
    v = u1 * h_square % P
    x = (r * r - h_cube - 2 * v) % P
    return x, (r * (v - x) - s1 * h_cube) % P, z1 * z2 * h % P


def _odd_multiples(point: _Jacobian) -> List[_Jacobian]:
    """1, 3, 5, … 15 times a point."""
    twice = _double(point)
    multiples = [point]
    for _ in range(7):
        multiples.append(_add(multiples[-1], twice))
    return multiples


_GENERATOR_MULTIPLES = _odd_multiples((*GENERATOR, 1))


def _digits(number: int) -> List[int]:
    """Signed digits of a number to the base 2, lowest first: each 0 or odd and below 16.

    Of five adjacent digits, at most one is not 0 (the non-adjacent form of width 5).
    """
    digits = []
    while number:
        digit = 0
        if number & 1:
            digit = number & 31
            if digit >= 16:
                digit -= 32
            number -= digit
        digits.append(digit)
        number >>= 1
    return digits


def _sum_of_multiples(first: int, second: int, key: Tuple[int, int]) -> _Jacobian:
    """first times the generator plus second times the key, in one pass over both numbers."""
    factors = (
        (_digits(first), _GENERATOR_MULTIPLES),
        (_digits(second), _odd_multiples((*key, 1))),
    )
    total = _INFINITY
    for place in reversed(range(max(len(digits) for digits, _ in factors))):
        total = _double(total)
        for digits, multiples in factors:
            digit = digits[place] if place < len(digits) else 0
            if digit > 0:
                total = _add(total, multiples[digit >> 1])
            elif digit < 0:
                x, y, z = multiples[-digit >> 1]
                total = _add(total, (x, P - y, z))
    return total
