# SPDX-License-Identifier: Apache-2.0
"""The store of nonces, and how a verifier uses one."""
import base64
import json
import pathlib
import threading
import unittest

import signet_verifier as signet

VECTORS = pathlib.Path(__file__).parents[2] / "vectors"
NOW = 1_795_195_440


class Time:
    """A clock that is set by hand."""

    def __init__(self, now=NOW):
        self.now = now

    def __call__(self):
        return self.now


def code(call):
    try:
        call()
        return "valid"
    except signet.VerificationFailure as failure:
        return failure.code


class MemoryNoncesTests(unittest.TestCase):
    def test_a_nonce_is_new_once(self):
        nonces = signet.MemoryNonces(clock=Time())
        self.assertTrue(nonces.add("a", NOW))
        self.assertFalse(nonces.add("a", NOW))
        self.assertTrue(nonces.add("b", NOW))

    def test_a_nonce_is_stored_for_five_minutes_and_its_time_is_then_refused(self):
        time = Time()
        nonces = signet.MemoryNonces(clock=time)
        nonces.add("a", NOW)
        time.now = NOW + 300
        self.assertFalse(nonces.add("a", NOW))
        time.now = NOW + 301
        self.assertEqual(code(lambda: nonces.add("a", NOW)), "clock")

    def test_no_step_of_the_clock_makes_a_code_valid_twice(self):
        time = Time()
        nonces = signet.MemoryNonces(clock=time)
        nonces.add("a", NOW)
        time.now = NOW + 10_000
        nonces.add("b", NOW + 10_000)
        time.now = NOW
        self.assertEqual(code(lambda: nonces.add("a", NOW)), "clock")
        self.assertTrue(nonces.add("c", NOW + 1))
        self.assertFalse(nonces.add("b", NOW + 10_000))

    def test_a_full_store_refuses_and_forgets_nothing(self):
        time = Time()
        nonces = signet.MemoryNonces(limit=2, clock=time)
        nonces.add("a", NOW)
        nonces.add("b", NOW + 1)
        self.assertEqual(code(lambda: nonces.add("c", NOW)), "unavailable")
        self.assertFalse(nonces.add("a", NOW))
        time.now = NOW + 301
        self.assertTrue(nonces.add("c", NOW + 301))
        self.assertFalse(nonces.add("b", NOW + 1))

    def test_of_many_threads_with_one_code_one_succeeds(self):
        nonces = signet.MemoryNonces(clock=Time())
        barrier = threading.Barrier(8)
        results = []

        def add():
            barrier.wait()
            results.append(sum(nonces.add(str(number), NOW) for number in range(500)))

        threads = [threading.Thread(target=add) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sum(results), 500)

    def test_a_limit_below_one_is_a_mistake(self):
        self.assertRaises(ValueError, signet.MemoryNonces, limit=0)


class DevicesTests(unittest.TestCase):
    ENTRY = {
        "account": "alice", "device": "d1" * 16, "credential": "c1" * 16,
        "fingerprint": "SHA256:x", "registration": "a1" * 16, "status": "ACTIVE",
    }

    def test_a_registration_without_its_credential_is_no_device(self):
        self.assertEqual(len(signet.active_devices([self.ENTRY])), 1)
        entry = {name: value for name, value in self.ENTRY.items() if name != "credential"}
        with self.assertRaises(ValueError):
            signet.active_devices([entry])
        # It has none before its key is proven.
        self.assertEqual(signet.active_devices([entry | {"status": "CREATED"}]), [])


class VerifierTests(unittest.TestCase):
    def setUp(self):
        cases = json.loads((VECTORS / "request.json").read_text(encoding="utf-8"))["cases"]
        self.case = next(case for case in cases if case["name"] == "a POST with a body")
        self.time = Time(self.case["now"])

    def verifier(self, nonces, **other):
        devices = [
            signet.Device(
                entry["account"], entry["device"], entry["credential"], entry["fingerprint"])
            for entry in self.case["keys"]["devices"]
        ]
        return signet.RequestVerifier(
            self.case["keys"]["audience"], nonces, devices=lambda *_: devices, clock=self.time,
            **other)

    def verify(self, verifier, **other):
        given = self.case["input"] | other
        body = base64.urlsafe_b64decode(given["body"] + "==")
        return verifier.verify(
            given["authorization"], given["method"], given["resource"], body)

    def test_a_code_is_valid_once(self):
        verifier = self.verifier(signet.MemoryNonces(clock=self.time))
        self.assertEqual(self.verify(verifier).account, "alice")
        self.assertEqual(code(lambda: self.verify(verifier)), "replayed")

    def test_a_refused_request_does_not_use_the_code_up(self):
        verifier = self.verifier(signet.MemoryNonces(clock=self.time))
        self.assertEqual(code(lambda: self.verify(verifier, method="PUT")), "wrong-request")
        self.assertEqual(self.verify(verifier).account, "alice")

    def test_a_store_that_is_full_or_gone_refuses_every_code(self):
        verifier = self.verifier(signet.MemoryNonces(limit=1, clock=self.time))
        verifier._nonces.add("x", self.time.now)
        self.assertEqual(code(lambda: self.verify(verifier)), "unavailable")

        class Away:
            def add(self, key, issued):
                raise ConnectionError("no route to the store")

        self.assertRaises(ConnectionError, self.verify, self.verifier(Away()))

    def test_only_true_of_a_store_means_new(self):
        for answer in (None, False, 0, 1, "OK"):
            class Store:
                def add(self, key, issued):
                    return answer

            self.assertEqual(code(lambda: self.verify(self.verifier(Store()))), "replayed")

    def test_another_verification_of_signatures_can_be_passed_in(self):
        asked = []

        def verify(point, signature, message):
            asked.append((len(point), len(signature), message[:6]))
            return "yes"

        verifier = self.verifier(
            signet.MemoryNonces(clock=self.time), verify_signature=verify)
        self.assertEqual(code(lambda: self.verify(verifier)), "bad-signature")
        self.assertEqual(asked, [(65, 64, b"SSHSIG")])

    def test_headers_are_taken_as_text_or_bytes_or_a_list_of_one(self):
        right = self.case["input"]["authorization"]
        for header in (right, right.encode(), [right], (right.encode(),)):
            verifier = self.verifier(signet.MemoryNonces(clock=self.time))
            self.assertEqual(self.verify(verifier, authorization=header).account, "alice")
        for header in ([], "", b"", "\ud800", "Signet \udc80"):
            verifier = self.verifier(signet.MemoryNonces(clock=self.time))
            self.assertIn(
                code(lambda: self.verify(verifier, authorization=header)),
                ("wrong-scheme", "malformed"))

    def test_a_digest_may_take_the_place_of_the_body(self):
        import hashlib

        given = self.case["input"]
        body = base64.urlsafe_b64decode(given["body"] + "==")
        verifier = self.verifier(signet.MemoryNonces(clock=self.time))
        found = verifier.verify(
            given["authorization"], given["method"], given["resource"].encode(),
            body_digest=hashlib.sha256(body).digest())
        self.assertEqual(found.counter, 42)

    def test_every_shortened_or_altered_header_is_refused(self):
        right = self.case["input"]["authorization"]
        verifier = self.verifier(
            signet.MemoryNonces(clock=self.time), verify_signature=lambda *_: False)
        for length in range(len(right)):
            self.assertNotEqual(
                code(lambda: self.verify(verifier, authorization=right[:length])), "valid")
        for place in range(len(right)):
            other = right[:place] + chr(ord(right[place]) ^ 1) + right[place + 1 :]
            self.assertNotEqual(
                code(lambda: self.verify(verifier, authorization=other)), "valid")


class ActiveDevicesTests(unittest.TestCase):
    def test_only_active_registrations_are_devices(self):
        file = json.loads((VECTORS / "recorded.json").read_text(encoding="utf-8"))
        answer = file["registrations"]
        devices = signet.active_devices(answer)
        self.assertEqual([device.account for device in devices], ["alice", "Zoë Ødegård"])
        for status in ("CREATED", "PENDING_COMMIT", "BLOCKED", "REMOVED"):
            self.assertEqual(
                signet.active_devices([entry | {"status": status} for entry in answer]), [])


if __name__ == "__main__":
    unittest.main()
