# SPDX-License-Identifier: Apache-2.0
"""Checks access tokens and callbacks with PyJWT, as a back end would that knows the JWKS, the issuer,
the audience and the type that it expects.

Reads a file with [{"jwks": …, "token": …, "type": …, "issuer": …, "audience": …}, …]; writes a line for
each: whose it is, or why it was refused.
"""

import json
import pathlib
import sys

import jwt

# Whom it is about: an access token has a subject, a callback an account.
CLAIMS = {"JWT": ("sub", "sid"), "signet-callback+jwt": ("account", "type")}


def verify(case):
    named = CLAIMS[case["type"]]
    header = jwt.get_unverified_header(case["token"])
    if header.get("typ") != case["type"]:
        raise jwt.InvalidTokenError("another type")
    keys = {key.key_id: key.key for key in jwt.PyJWKSet.from_dict(case["jwks"]).keys}
    if header.get("kid") not in keys:
        raise jwt.InvalidKeyError("no such key")
    claims = jwt.decode(
        case["token"], keys[header["kid"]], algorithms=["ES256"], audience=case["audience"],
        issuer=case["issuer"],
        options={"require": ["exp", "iat", "aud", "iss", "jti", *named]})
    return claims[named[0]]


for case in json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")):
    try:
        print("accepted", verify(case))
    except jwt.PyJWTError as fault:
        print("refused", type(fault).__name__)
