# SPDX-License-Identifier: Apache-2.0
"""Cases of ECDSA on P-256 alone: extreme numbers, and sums of points that meet a special case.

The same kinds as in the Project Wycheproof: the sum is a doubling, the sum is infinity, the key is
the generator or its opposite, x of the point is above the order, numbers are out of range.
"""
import hashlib

from forms import N, Key, b64, numbers, point_of

P = 2**256 - 2**224 + 2**192 + 2**96 - 1
MESSAGE = b"one message for all"
E = int.from_bytes(hashlib.sha256(MESSAGE).digest(), "big") % N


def x_of(scalar):
    return int.from_bytes(point_of(scalar)[1:33], "big")


def sign(private, nonce):
    r = x_of(nonce) % N
    return r, pow(nonce, -1, N) * (E + r * private) % N


def case(name, expected, point, signature, message=MESSAGE):
    return {
        "name": name, "kind": "signature", "now": 0,
        "input": {"message": b64(message), "signature": b64(signature)},
        "keys": {"publicKey": b64(point)}, "expected": expected,
    } | ({"claims": {}} if expected == "valid" else {})


def cases():
    return sums() + ranges() + points()


def sums():
    made = [
        case(f"the key of the number {name}", "valid", point_of(private),
             numbers(*sign(private, 0x1234567)))
        for name, private in (("1", 1), ("2", 2), ("16", 16), ("n - 1", N - 1), ("n - 2", N - 2))
    ] + [
        case(f"the nonce {name}", "valid", point_of(0xABCDEF), numbers(*sign(0xABCDEF, nonce)))
        for name, nonce in (("1", 1), ("2", 2), ("n - 1", N - 1), ("2^255", 2**255))
    ]
    # u1 G = u2 Q: the sum is a doubling.
    nonce = 0x5DEECE66D
    r = x_of(nonce)
    made.append(case("a sum of two equal points", "valid", point_of(E * pow(r, -1, N) % N),
                     numbers(r, 2 * E * pow(nonce, -1, N) % N)))
    # u1 G = -u2 Q: the sum is the point at infinity, whatever s is.
    for s in (1, 2, N - 1):
        made.append(case(f"a sum of two opposite points, s = {s % 2**64}", "bad-signature",
                         point_of(-E * pow(r, -1, N) % N), numbers(r, s)))
    # s = e, so u1 = 1; and s = r, so u2 = 1.
    private = (E * nonce - E) * pow(r, -1, N) % N
    made.append(case("u1 = 1", "valid", point_of(private), numbers(r, E)))
    private = (r * nonce - E) * pow(r, -1, N) % N
    made.append(case("u2 = 1", "valid", point_of(private), numbers(r, r)))
    return made


def ranges():
    key = Key("device")
    r, s = key.sign(MESSAGE)
    low = min(s, N - s)
    extremes = {
        "0": 0, "1": 1, "n - 1": N - 1, "n": N, "n + 1": N + 1, "p": P, "2^256 - 1": 2**256 - 1,
    }
    return [
        case("a signature by openssl", "valid", key.point, numbers(r, s)),
        case("the low s", "valid", key.point, numbers(r, low)),
        case("the high s", "valid", key.point, numbers(r, N - low)),
        case("n - r in place of r", "bad-signature", key.point, numbers(N - r, s)),
        case("another message", "bad-signature", key.point, numbers(r, s), MESSAGE + b"!"),
        case("an empty message", "bad-signature", key.point, numbers(r, s), b""),
        case("an empty signature", "bad-signature", key.point, b""),
        case("63 bytes", "bad-signature", key.point, numbers(r, s)[1:]),
        case("65 bytes", "bad-signature", key.point, b"\0" + numbers(r, s)),
        case("128 bytes", "bad-signature", key.point, numbers(r, s) * 2),
    ] + [
        case(f"r = {name}", "bad-signature", key.point, numbers(number, s))
        for name, number in extremes.items()
    ] + [
        case(f"s = {name}", "bad-signature", key.point, numbers(r, number))
        for name, number in extremes.items()
    ]


def points():
    key = Key("device")
    r, s = key.sign(MESSAGE)
    x, y = key.point[1:33], key.point[33:]
    return [
        case(name, "bad-signature", point, numbers(r, s))
        for name, point in (
            ("the opposite point", b"\4" + x + (P - int.from_bytes(y, "big")).to_bytes(32, "big")),
            ("a point that is not on the curve", b"\4" + x + y[:-1] + bytes([y[-1] ^ 1])),
            ("the point 0, 0", b"\4" + bytes(64)),
            ("x of p", b"\4" + P.to_bytes(32, "big") + y),
            ("the largest coordinates", b"\4" + b"\xff" * 64),
            ("a compressed point", bytes([2 + y[-1] % 2]) + x),
            ("a hybrid point", bytes([6 + y[-1] % 2]) + x + y),
            ("the point at infinity", b"\0"),
            ("a point of 64 bytes", x + y),
            ("a point of 66 bytes", key.point + b"\0"),
            ("no point", b""),
        )
    ]
