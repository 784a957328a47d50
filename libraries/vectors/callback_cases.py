# SPDX-License-Identifier: Apache-2.0
"""Cases of callbacks: what the server sends to an application's URL."""
from forms import b64, numbers
from token_cases import AUDIENCE, ID, ISSUER, Tokens, compact

URL = "https://shop.example/callback?key=1"


class Callbacks(Tokens):
    """Makes callbacks by a server's key, most of them wrong in one way."""

    def claims(self, **other):
        return {
            "iss": ISSUER, "aud": URL, "iat": self.now, "exp": self.now + 300, "jti": ID,
            "type": "operation.approved", "time": self.now - 3600, "application": "shop",
            "account": "alice", "registration": "1" * 32, "operation": "2" * 32,
            "purpose": "operation",
        } | other

    def header(self, key=None, **other):
        return super().header(key) | {"typ": "signet-callback+jwt"} | other

    def case(self, name, expected, body=None, *, claims=None, later=0, jwks=None):
        values = {
            key: value for key, value in self.claims(**(claims or {})).items() if value is not None}
        made = {
            "name": name, "kind": "callback", "now": self.now + later,
            "input": {"body": self.sign(self.header(), values) if body is None else body},
            "keys": {"issuer": ISSUER, "url": URL, "jwks": jwks or self.jwks},
            "expected": expected,
        }
        if expected == "valid":
            made["claims"] = {
                "id": values["jti"], "type": values["type"], "time": values["time"],
                "application": values["application"], "account": values["account"],
                "issued": values["iat"], "expires": values["exp"],
            } | {
                key: values[key] for key in ("registration", "operation", "purpose", "reason")
                if key in values
            }
        return made


def cases(now):
    callbacks = Callbacks(now)
    return (
        valid(callbacks) + forms(callbacks) + signatures(callbacks) + payloads(callbacks)
        + contents(callbacks))


def valid(callbacks):
    blocked = {
        "type": "registration.blocked", "operation": None, "purpose": None, "reason": "failures"}
    account = {
        "type": "account.blocked", "registration": None, "operation": None, "purpose": None}
    extra = callbacks.claims() | {"x": {"y": [1.5, None, True, {}]}}
    return [
        callbacks.case("an operation that was approved", "valid"),
        callbacks.case("a registration that was blocked", "valid", claims=blocked),
        callbacks.case("an account that was blocked", "valid", claims=account),
        callbacks.case("a type that is not known", "valid", claims={"type": "device.renamed"}),
        callbacks.case("an account beyond ASCII", "valid", claims={"account": "Zoë 日本 😀"}),
        callbacks.case("an event of long ago that was signed now", "valid", claims={"time": 0}),
        callbacks.case("a claim that is not known", "valid",
                       callbacks.sign(callbacks.header(), extra)),
        callbacks.case("by the server's second key", "valid", callbacks.sign(
            callbacks.header(callbacks.next_key), callbacks.claims(), callbacks.next_key)),
        # Whether its id was seen before is for the caller to remember.
        callbacks.case("the same body again", "valid", later=10),
        callbacks.case("in its last second", "valid", later=299),
        callbacks.case("issued in 30 s", "valid", claims={"iat": callbacks.now + 30}),
    ]


def forms(callbacks):
    right = callbacks.sign(callbacks.header(), callbacks.claims())
    head, body, signature = right.split(".")
    token = Tokens(callbacks.now)
    return [
        callbacks.case(name, expected, made)
        for name, made, expected in (
            ("an empty body", "", "malformed"),
            ("the payload alone", compact(callbacks.claims()), "malformed"),
            ("a body that is cut off", right[:-1], "malformed"),
            ("a body without its signature", f"{head}.{body}.", "bad-signature"),
            ("four parts", f"{right}.{signature}", "malformed"),
            ("a line end at the end", right + "\n", "malformed"),
            ("a body of 8193 bytes", "a" * 8193, "too-long"),
            ("an access token", token.sign(token.header(), token.claims()), "unsupported-header"),
            ("the claims of a callback under the header of an access token",
             token.sign(token.header(), callbacks.claims()), "unsupported-header"),
            ("another type", callbacks.sign(
                callbacks.header(typ="callback+jwt"), callbacks.claims()), "unsupported-header"),
            ("alg none", f"{b64(compact(callbacks.header(alg='none')).encode())}.{body}.",
             "unsupported-header"),
            ("HS256", callbacks.sign(callbacks.header(alg="HS256"), callbacks.claims()),
             "unsupported-header"),
            ("a key in the header", callbacks.sign(
                callbacks.header(jwk=callbacks.stranger.jwk), callbacks.claims()),
             "unsupported-header"),
        )
    ]


def signatures(callbacks):
    right = callbacks.sign(callbacks.header(), callbacks.claims())
    head, _, signature = right.split(".")
    altered = b64(compact(callbacks.claims(type="operation.rejected")).encode())
    return [
        callbacks.case("an altered type", "bad-signature", f"{head}.{altered}.{signature}"),
        callbacks.case("another key's signature under this kid", "bad-signature", callbacks.sign(
            callbacks.header(), callbacks.claims(), callbacks.stranger)),
        callbacks.case("by a key that the server does not publish", "unknown-key", callbacks.sign(
            callbacks.header(callbacks.stranger), callbacks.claims(), callbacks.stranger)),
        callbacks.case("no keys at all", "unknown-key", jwks='{"keys":[]}'),
        callbacks.case("r = 0 and s = 0", "bad-signature",
                       f"{head}.{right.split('.')[1]}.{b64(numbers(0, 0))}"),
    ]


def payloads(callbacks):
    text = compact(callbacks.claims())

    def malformed(name, payload):
        return callbacks.case(name, "malformed", callbacks.sign(callbacks.header(), payload))

    return [
        malformed("a payload that is not JSON", "alice"),
        malformed("a payload that is a list", "[]"),
        malformed("a claim twice", text[:-1] + ',"account":"mallory"}'),
        malformed("an id in upper case", callbacks.claims(jti="A" * 32)),
        malformed("an id that is too short", callbacks.claims(jti="1" * 31)),
        malformed("an operation that is no id", callbacks.claims(operation="x")),
        malformed("a registration that is null", callbacks.claims(registration=None)),
        malformed("a reason that is a number", callbacks.claims(reason=1)),
        malformed("exp as a string", callbacks.claims(exp=str(callbacks.now + 300))),
        malformed("a time with a fraction", callbacks.claims(time=1.5)),
        malformed("aud as a list", callbacks.claims(aud=[URL])),
    ] + [
        malformed(f"no {name}", {
            key: value for key, value in callbacks.claims().items() if key != name})
        for name in ("iss", "aud", "iat", "exp", "jti", "type", "time", "application", "account")
    ]


def contents(callbacks):
    now = callbacks.now
    return [
        callbacks.case("by another server", "wrong-issuer",
                       claims={"iss": "https://evil.example"}),
        callbacks.case("for another URL", "wrong-audience",
                       claims={"aud": "https://shop.example/other"}),
        callbacks.case("for the URL without its query", "wrong-audience",
                       claims={"aud": URL.split("?")[0]}),
        callbacks.case("for the application's audience", "wrong-audience",
                       claims={"aud": AUDIENCE}),
        callbacks.case("stale by a second", "expired", later=300),
        callbacks.case("stale by days", "expired", later=10**6),
        callbacks.case("issued in 31 s", "not-yet-valid", claims={"iat": now + 31}),
    ]
