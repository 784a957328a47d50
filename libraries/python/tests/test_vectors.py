# SPDX-License-Identifier: Apache-2.0
"""Every case of libraries/vectors has the result that it states, and no other."""
import base64
import dataclasses
import json
import pathlib
import unittest

import signet_verifier as signet
from signet_verifier import p256

VECTORS = pathlib.Path(__file__).parents[2] / "vectors"
# So that a file that is missing, or cut, is noticed.
LEAST_CASES = 400


def unb64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def camel(name):
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def plain(claims):
    """A result in the form that the vectors have it in."""
    values = {camel(name): value for name, value in dataclasses.asdict(claims).items()}
    for name in ("enrolment", "counter"):
        if values.get(name) is not None:
            values[name] = str(values[name])
    for name, value in values.items():
        if isinstance(value, bytes):
            values[name] = base64.urlsafe_b64encode(value).rstrip(b"=").decode()
        if isinstance(value, tuple):
            values[name] = list(value)
    return {name: value for name, value in values.items() if value is not None}


def judge_request(case, clock):
    keys, given = case["keys"], case["input"]
    policy = case.get("policy", {})
    nonces = signet.MemoryNonces(clock=clock)
    for entry in case.get("seen", []):
        nonces.add(entry["key"], entry["issued"])
    devices = [
        signet.Device(
            entry["account"], entry["device"], entry["credential"], entry["fingerprint"],
            entry["registration"])
        for entry in keys.get("devices", [])
    ]
    tokens = {
        entry["token"]: signet.MACToken(**entry | {"secret": unb64(entry["secret"])})
        for entry in keys.get("macTokens", [])
    }
    verifier = signet.RequestVerifier(
        audience=keys["audience"], nonces=nonces,
        # As careless as is allowed: all devices, whatever is asked for.
        devices=(lambda account, device: devices) if "devices" in keys else None,
        mac_tokens=tokens.get if "macTokens" in keys else None,
        require_tpm=policy.get("requireTPM", False),
        require_secure_boot=policy.get("requireSecureBoot", False), clock=clock)
    return plain(verifier.verify(
        given["authorization"], given["method"], given["resource"], unb64(given["body"])))


def judge_token(case, clock):
    keys = case["keys"]
    verifier = signet.TokenVerifier(
        keys["issuer"], keys["audience"], signet.KeySet(keys["jwks"].encode()), clock=clock)
    return plain(verifier.verify(case["input"]["token"]))


def judge_verdict(case, clock):
    keys, expect = case["keys"], case["expect"]
    verifier = signet.VerdictVerifier(keys["key"], keys["audience"], clock=clock)
    expected = {
        "max_age" if name == "maxAge" else name:
            unb64(value) if name in ("challenge", "module") else value
        for name, value in expect.items()
    }
    given = case["input"]
    return plain(verifier.verify(given["statement"], given["signature"], **expected))


def judge_callback(case, clock):
    keys = case["keys"]
    verifier = signet.CallbackVerifier(
        keys["issuer"], keys["url"], signet.KeySet(keys["jwks"].encode()), clock=clock)
    return plain(verifier.verify(case["input"]["body"].encode()))


def judge_keys(case, _):
    return {"count": len(signet.KeySet(case["input"]["jwks"].encode()))}


def judge_signature(case, _):
    message, signature = (unb64(case["input"][name]) for name in ("message", "signature"))
    if not p256.verify(unb64(case["keys"]["publicKey"]), signature, message):
        raise signet.VerificationFailure("bad-signature", "")
    return {}


JUDGES = {
    "callback": judge_callback, "request": judge_request, "token": judge_token,
    "verdict": judge_verdict, "keys": judge_keys, "signature": judge_signature,
}


class VectorTests(unittest.TestCase):
    def test_every_case_has_the_stated_result(self):
        count = 0
        for path in sorted(VECTORS.glob("*.json")):
            for case in json.loads(path.read_text(encoding="utf-8"))["cases"]:
                count += 1
                with self.subTest(path.name, case=case["name"]):
                    self.check(case)
        self.assertGreater(count, LEAST_CASES)

    def check(self, case):
        claims = None
        try:
            claims = JUDGES[case["kind"]](case, lambda: float(case["now"]))
            outcome = "valid"
        except signet.VerificationFailure as failure:
            outcome = failure.code
        self.assertEqual(outcome, case["expected"])
        self.assertEqual(claims, case.get("claims"))

    def test_every_code_is_stated_by_some_case(self):
        stated = {
            case["expected"]
            for path in VECTORS.glob("*.json")
            for case in json.loads(path.read_text(encoding="utf-8"))["cases"]
        }
        # What cannot be got cannot be a vector; see test_keys.py and test_nonces.py.
        self.assertEqual(stated, (signet.CODES | {"valid"}) - {"unavailable"})


if __name__ == "__main__":
    unittest.main()
