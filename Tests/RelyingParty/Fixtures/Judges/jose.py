# SPDX-License-Identifier: Apache-2.0
"""Checks access tokens and callbacks with joserfc, as a back end would that knows the JWKS, the issuer,
the audience and the type that it expects.

Reads a file with [{"jwks": …, "token": …, "type": …, "issuer": …, "audience": …, "now": …}, …]; writes
a line for each: whose it is, or why it was refused. Without "now", the time is the machine's.
"""

import json
import pathlib
import sys

from joserfc import jwk, jwt
from joserfc.errors import JoseError

# Whom it is about: an access token has a subject, a callback an account.
CLAIMS = {"JWT": ("sub", "sid"), "signet-callback+jwt": ("account", "type")}
# How far clocks may differ, in seconds. It lengthens no token's life.
LEEWAY = 30


def keys(jwks):
    """The keys for ES256. A JWKS may have others, which are left out (RFC 7517, section 5)."""
    found = [key for key in jwks["keys"] if key["kty"] == "EC" and key["crv"] == "P-256"]
    return jwk.KeySet([jwk.import_key(key) for key in found])


def verify(case):
    named = CLAIMS[case["type"]]
    token = jwt.decode(case["token"], keys(case["jwks"]), algorithms=["ES256"])
    if token.header.get("typ") != case["type"]:
        raise ValueError("another type")
    jwt.JWTClaimsRegistry(case.get("now"), LEEWAY, iat={"essential": True}).validate(
        {name: value for name, value in token.claims.items() if name in ("iat", "nbf")})
    jwt.JWTClaimsRegistry(
        case.get("now"), 0,
        iss={"essential": True, "value": case["issuer"]},
        aud={"essential": True, "value": case["audience"]},
        exp={"essential": True}, jti={"essential": True},
        **{name: {"essential": True} for name in named},
    ).validate(
        {name: value for name, value in token.claims.items() if name not in ("iat", "nbf")})
    return token.claims[named[0]]


sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
for case in json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")):
    try:
        print("accepted", verify(case))
    # What is not in its form raises what its parts raise.
    except (JoseError, ValueError, TypeError, KeyError) as fault:
        print("refused", type(fault).__name__)
