# SPDX-License-Identifier: Apache-2.0
"""Checks access tokens with PyJWT, as a back end would that knows the JWKS and the audience alone.

Reads {"jwks": …, "audience": …, "issuer": …, "tokens": […]}; writes a line for each token: its
subject, or why it was refused.
"""

import json
import sys

import jwt

given = json.load(sys.stdin)
keys = jwt.PyJWKSet.from_dict(given["jwks"]).keys


def key_of(token):
    name = jwt.get_unverified_header(token).get("kid")
    for key in keys:
        if key.key_id == name:
            return key.key
    raise jwt.InvalidKeyError("no such key")


for token in given["tokens"]:
    try:
        claims = jwt.decode(
            token, key_of(token), algorithms=["ES256"], audience=given["audience"],
            issuer=given["issuer"],
            options={"require": ["exp", "iat", "sub", "aud", "iss", "jti"]})
        print("accepted", claims["sub"])
    except jwt.PyJWTError as fault:
        print("refused", type(fault).__name__)
