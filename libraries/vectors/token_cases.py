# SPDX-License-Identifier: Apache-2.0
"""Cases of access tokens, and of the JWKS that they are verified with."""
import base64
import hashlib
import hmac
import json

from forms import N, Key, b64, numbers, point_of

ISSUER = "https://id.example.org"
AUDIENCE = "https://id.example.org/shop"
ID = "000102030405060708090a0b0c0d0e0f"


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def jwks(*keys):
    return compact({"keys": [key if isinstance(key, dict) else key.jwk for key in keys]})


class Tokens:
    """Makes tokens by a server's key, most of them wrong in one way."""

    def __init__(self, now):
        self.now = now
        self.key = Key("token")
        self.next_key = Key("token-next")
        self.stranger = Key("token-stranger")
        self.jwks = jwks(self.key, self.next_key)

    def claims(self, **other):
        return {
            "amr": ["fpt", "hwk"], "aud": AUDIENCE, "exp": self.now + 300, "flags": [],
            "iat": self.now, "iss": ISSUER, "jti": ID, "reg": "1" * 32, "roles": ["admin"],
            "sid": "2" * 32, "sub": "alice",
        } | other

    def header(self, key=None, **other):
        return {"alg": "ES256", "typ": "JWT", "kid": (key or self.key).jwk["kid"]} | other

    def sign(self, header, payload, key=None):
        head = header if isinstance(header, str) else compact(header)
        body = payload if isinstance(payload, str) else compact(payload)
        signed = f"{b64(head.encode())}.{b64(body.encode('utf-8', 'surrogateescape'))}"
        return f"{signed}.{b64(numbers(*(key or self.key).sign(signed.encode())))}"

    def case(self, name, expected, token=None, *, claims=None, jwks=None, later=0):
        values = self.claims(**(claims or {}))
        made = {
            "name": name, "kind": "token", "now": self.now + later,
            "input": {"token": self.sign(self.header(), values) if token is None else token},
            "keys": {"issuer": ISSUER, "audience": AUDIENCE, "jwks": jwks or self.jwks},
            "expected": expected,
        }
        if expected == "valid":
            made["claims"] = {
                "account": values["sub"], "issuer": values["iss"], "audience": values["aud"],
                "issued": values["iat"], "expires": values["exp"], "id": values["jti"],
                "session": values["sid"], "registration": values["reg"],
                "methods": values["amr"], "roles": values["roles"], "flags": values["flags"],
            }
        return made


def cases(now):
    tokens = Tokens(now)
    return (
        valid(tokens) + forms(tokens) + headers(tokens) + signatures(tokens) + payloads(tokens)
        + times(tokens) + key_sets(tokens))


def valid(tokens):
    extra = tokens.claims() | {"x": {"y": [1.5, None, True, {}]}}
    spaced = json.dumps(tokens.claims(), indent=1)
    escaped = compact(tokens.claims()).replace("alice", "\\u0061lice")
    return [
        tokens.case("a token", "valid"),
        tokens.case("a token by the second key", "valid", tokens.sign(
            tokens.header(tokens.next_key), tokens.claims(), tokens.next_key)),
        tokens.case("a token with names beyond ASCII", "valid",
                    claims={"sub": "Zoë 日本 😀", "roles": ["größe"], "flags": ["f"]}),
        tokens.case("a token without roles and methods", "valid", claims={"roles": [], "amr": []}),
        tokens.case("a token of a login by password", "valid", claims={"amr": ["pwd", "swk"]}),
        tokens.case("a token of a login by touch and password", "valid",
                    claims={"amr": ["fpt", "pwd", "mfa", "hwk"]}),
        tokens.case("a claim that is not known", "valid",
                    tokens.sign(tokens.header(), extra)),
        tokens.case("a payload with spaces and line ends", "valid",
                    tokens.sign(tokens.header(), spaced)),
        tokens.case("a payload with an escape", "valid", tokens.sign(tokens.header(), escaped)),
        tokens.case("a JWKS with keys for other purposes", "valid", jwks=jwks(
            {"kty": "RSA", "n": "AQAB", "e": "AQAB", "alg": "RS256", "use": "sig", "kid": "1"},
            tokens.key.jwk | {"use": "enc", "kid": "2"}, {"kty": "OKP", "crv": "Ed25519"},
            tokens.key)),
    ]


def forms(tokens):
    right = tokens.sign(tokens.header(), tokens.claims())
    head, body, signature = right.split(".")
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    # 64 bytes leave four unused bits in the last character.
    bits = signature[:-1] + alphabet[alphabet.index(signature[-1]) + 1]
    standard = base64.b64encode(b"\xff\xef\xbe" * 3).decode()
    return [
        tokens.case(name, expected, token)
        for name, token, expected in (
            ("an empty token", "", "malformed"),
            ("two parts", f"{head}.{body}", "malformed"),
            ("four parts", f"{right}.{signature}", "malformed"),
            ("a point at the end", right + ".", "malformed"),
            ("a space in front", " " + right, "unsupported-header"),
            ("a line end at the end", right + "\n", "malformed"),
            ("padding", f"{head}.{body}.{signature}==", "malformed"),
            ("padding of the payload", f"{head}.{body}=.{signature}", "malformed"),
            ("unused bits that are set", f"{head}.{body}.{bits}", "malformed"),
            ("the other alphabet of base64", f"{head}.{standard}.{signature}", "malformed"),
            ("a character beyond ASCII", f"{head}.{body}é.{signature}", "malformed"),
            ("a token of 8193 bytes", "a" * 8193, "too-long"),
            ("8192 bytes that are no token", "a" * 8192, "malformed"),
            ("JWS in JSON", compact({"payload": body, "protected": head, "signature": signature}),
             "malformed"),
        )
    ]


def headers(tokens):
    kid = tokens.key.jwk["kid"]
    body = b64(compact(tokens.claims()).encode())

    def refused(name, header, expected="unsupported-header"):
        return tokens.case(name, expected, tokens.sign(header, tokens.claims()))

    def with_mac(name, secret):
        signed = f"{b64(compact(tokens.header(alg='HS256')).encode())}.{body}"
        code = hmac.new(secret, signed.encode(), hashlib.sha256).digest()
        return tokens.case(name, "unsupported-header", f"{signed}.{b64(code)}")

    none = b64(b'{"alg":"none","typ":"JWT"}')
    return [
        tokens.case("alg none, without a signature", "unsupported-header", f"{none}.{body}."),
        tokens.case("alg none, with the kid and a signature", "unsupported-header",
                    tokens.sign(tokens.header(alg="none"), tokens.claims())),
        with_mac("HS256 with the public point as the secret", tokens.key.point),
        with_mac("HS256 with the JWKS as the secret", tokens.jwks.encode()),
        refused("ES384", tokens.header(alg="ES384")),
        refused("RS256", tokens.header(alg="RS256")),
        refused("the algorithm in lower case", tokens.header(alg="es256")),
        refused("another type", tokens.header(typ="at+jwt")),
        refused("the type in lower case", tokens.header(typ="jwt")),
        refused("no type", {"alg": "ES256", "kid": kid}),
        refused("no key", {"alg": "ES256", "typ": "JWT"}),
        refused("the members in another order", {"typ": "JWT", "alg": "ES256", "kid": kid}),
        refused("a space in the header", compact(tokens.header()).replace(":", ": ", 1)),
        refused("a member twice", f'{{"alg":"none","alg":"ES256","typ":"JWT","kid":"{kid}"}}'),
        refused("a URL of keys", tokens.header(jku="https://evil.example/jwks.json")),
        refused("a key in the header", tokens.header(jwk=tokens.stranger.jwk)),
        refused("a critical extension", tokens.header(crit=["exp"])),
        refused("an escape in the header", compact(tokens.header()).replace("ES", "\\u0045S")),
        refused("a kid that is a path", tokens.header(kid=("../" * 12 + "dev/null")[:43])),
        refused("a kid that is too short", tokens.header(kid=kid[:-1])),
        refused("an empty header", ""),
        refused("the kid of a key that the server does not publish",
                tokens.header(tokens.stranger), "unknown-key"),
        tokens.case("a token by a key that the server does not publish", "unknown-key", tokens.sign(
            tokens.header(tokens.stranger), tokens.claims(), tokens.stranger)),
        tokens.case("no keys at all", "unknown-key", jwks='{"keys":[]}'),
    ]


def signatures(tokens):
    right = tokens.sign(tokens.header(), tokens.claims())
    head, body, _ = right.split(".")
    r, s = tokens.key.sign(f"{head}.{body}".encode())

    def with_bytes(name, data, expected="bad-signature"):
        return tokens.case(name, expected, f"{head}.{body}.{b64(data)}")

    altered = b64(compact(tokens.claims(sub="mallory")).encode())
    der = b"\x30\x44\x02\x20" + r.to_bytes(32, "big") + b"\x02\x20" + s.to_bytes(32, "big")
    low = min(s, N - s)
    return [
        with_bytes("a low s", numbers(r, low), "valid"),
        with_bytes("a high s", numbers(r, N - low), "valid"),
        tokens.case("an altered payload", "bad-signature",
                    f"{head}.{altered}.{right.split('.')[2]}"),
        tokens.case("another key's signature under this kid", "bad-signature",
                    tokens.sign(tokens.header(), tokens.claims(), tokens.stranger)),
        tokens.case("the second key's signature under the first key's kid", "bad-signature",
                    tokens.sign(tokens.header(), tokens.claims(), tokens.next_key)),
        with_bytes("no signature", b""),
        with_bytes("a signature of 63 bytes", numbers(r, s)[:-1]),
        with_bytes("a signature of 65 bytes", numbers(r, s) + b"\0"),
        with_bytes("a signature in DER", der),
        with_bytes("r = 0 and s = 0", bytes(64)),
        with_bytes("r = 0", numbers(0, s)), with_bytes("s = 0", numbers(r, 0)),
        with_bytes("r = n", numbers(N, s)), with_bytes("s = n", numbers(r, N)),
        with_bytes("r = 1 and s = 1", numbers(1, 1)),
        with_bytes("the largest numbers", b"\xff" * 64),
        with_bytes("r and s exchanged", numbers(s, r)),
    ]


def payloads(tokens):
    text = compact(tokens.claims())

    def malformed(name, payload):
        return tokens.case(name, "malformed", tokens.sign(tokens.header(), payload))

    def without(name):
        return {key: value for key, value in tokens.claims().items() if key != name}

    return [
        malformed("a payload that is not JSON", "alice"), malformed("an empty payload", ""),
        malformed("a payload that is a list", "[]"),
        malformed("a payload with text after it", text + "x"),
        malformed("a claim twice", text[:-1] + ',"sub":"mallory"}'),
        malformed("a claim twice, once with an escape", text[:-1] + ',"su\\u0062":"mallory"}'),
        malformed("a comma at the end", text[:-1] + ",}"),
        malformed("a comment", text + "//"),
        malformed("a byte order mark", "\ufeff" + text),
        malformed("bytes that are not UTF-8", text.replace("alice", "al\udcffice")),
        malformed("an unpaired surrogate", text.replace("alice", "al\\ud800ice")),
        malformed("a control character in a string", text.replace("alice", "al\nice")),
        malformed("NaN", text[:-1] + ',"x":NaN}'),
        malformed("a number with a leading zero", text[:-1] + ',"x":01}'),
        malformed("a name of 129 bytes", text[:-1] + f',"{"x" * 129}":1}}'),
        malformed("513 levels", text[:-1] + ',"x":' + "[" * 512 + "]" * 512 + "}"),
        malformed("exp as a string", tokens.claims(exp=str(tokens.now + 300))),
        malformed("exp with a fraction", tokens.claims(exp=tokens.now + 300.0)),
        malformed("exp below zero", tokens.claims(exp=-1)),
        malformed("exp beyond all times", tokens.claims(exp=2**53)),
        malformed("exp true", tokens.claims(exp=True)),
        malformed("iat null", tokens.claims(iat=None)),
        malformed("aud as a list", tokens.claims(aud=[AUDIENCE])),
        malformed("roles as a string", tokens.claims(roles="admin")),
        malformed("a role that is a number", tokens.claims(roles=[1])),
        malformed("a session in upper case", tokens.claims(sid="A" * 32)),
    ] + [
        malformed(f"no {name}", without(name))
        for name in tokens.claims()
    ]


def times(tokens):
    now = tokens.now
    return [
        tokens.case("another server", "wrong-issuer", claims={"iss": "https://evil.example"}),
        tokens.case("the issuer with a slash at the end", "wrong-issuer",
                    claims={"iss": ISSUER + "/"}),
        tokens.case("another application", "wrong-audience", claims={"aud": ISSUER + "/bank"}),
        tokens.case("an audience that begins with this one", "wrong-audience",
                    claims={"aud": AUDIENCE + "s"}),
        tokens.case("in its last second", "valid", later=299),
        tokens.case("at the second at which it expires", "expired", later=300),
        tokens.case("long expired", "expired", later=10**6),
        tokens.case("issued in 30 s", "valid", claims={"iat": now + 30}),
        tokens.case("issued in 31 s", "not-yet-valid", claims={"iat": now + 31}),
        tokens.case("not before 31 s from now", "not-yet-valid", tokens.sign(
            tokens.header(), tokens.claims() | {"nbf": now + 31})),
        tokens.case("expired, and for another application", "wrong-audience",
                    claims={"aud": "bank"}, later=300),
    ]


def key_sets(tokens):
    """What is no JWKS; these cases have no token."""
    p = 2**256 - 2**224 + 2**192 + 2**96 - 1
    key = tokens.key.jwk
    on_384 = key | {"crv": "P-384"}
    off_curve = key | {"y": b64(bytes([tokens.key.point[33] ^ 1]) + tokens.key.point[34:])}
    # A point whose x is small enough to be written as x + p as well.
    large = next(point for point in map(point_of, range(1, 3)) if point)
    return [
        {"name": name, "kind": "keys", "now": tokens.now, "input": {"jwks": document}, "keys": {},
         "expected": expected}
        | ({"claims": {"count": document.count('"kid"')}} if expected == "valid" else {})
        for name, document, expected in (
            ("a JWKS of two keys", tokens.jwks, "valid"),
            ("a JWKS of no keys", '{"keys":[]}', "valid"),
            ("a point that is not on the curve", jwks(off_curve), "invalid-key"),
            ("a key of another curve under ES256", jwks(on_384), "invalid-key"),
            ("x of p", jwks(key | {"x": b64(p.to_bytes(32, "big"))}), "invalid-key"),
            ("x and y of 0", jwks(key | {"x": b64(bytes(32)), "y": b64(bytes(32))}), "invalid-key"),
            ("another point under this kid",
             jwks(key | {"x": b64(large[1:33]), "y": b64(large[33:])}), "invalid-key"),
            ("a kid that the server would not give", jwks(key | {"kid": "1"}), "invalid-key"),
            ("no kid", jwks({name: key[name] for name in key if name != "kid"}), "invalid-key"),
            ("no y", jwks({name: key[name] for name in key if name != "y"}), "invalid-key"),
            ("x with padding", jwks(key | {"x": key["x"] + "="}), "invalid-key"),
            ("x of 31 bytes", jwks(key | {"x": b64(tokens.key.point[1:32])}), "invalid-key"),
            ("one good key and one bad", jwks(key, off_curve), "invalid-key"),
            ("a key twice", jwks(key, key), "invalid-key"),
            ("no list of keys", '{"keys":{}}', "malformed"),
            ("a key that is a string", '{"keys":["x"]}', "malformed"),
            ("a list in place of an object", "[]", "malformed"),
            ("a JWKS with a member twice", '{"keys":[],"keys":[]}', "malformed"),
            ("no JSON", "<html>", "malformed"),
            ("more than 64 KiB", '{"keys":[]}' + " " * 65_536, "too-long"),
            ("more than 100 keys", '{"keys":[' + ",".join(["{}"] * 101) + "]}", "malformed"),
        )
    ]
