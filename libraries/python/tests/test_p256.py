# SPDX-License-Identifier: Apache-2.0
"""The curve's arithmetic against the openssl command, and the encodings against themselves."""
import os
import pathlib
import random
import subprocess
import tempfile
import unittest

from signet_verifier import encoding, p256
from signet_verifier.failures import VerificationFailure
from signet_verifier.strict_json import parse

KEY = pathlib.Path(__file__).parents[2] / "vectors/keys/device.pem"


def openssl(*words, data=b""):
    return subprocess.run(["openssl", *words], input=data, capture_output=True, check=True).stdout


def numbers(der):
    length = der[3]
    r, s = der[4 : 4 + length], der[6 + length :]
    return b"".join(int.from_bytes(part, "big").to_bytes(32, "big") for part in (r, s))


class CurveTests(unittest.TestCase):
    def test_signatures_by_fresh_keys_of_openssl_are_accepted_and_altered_ones_refused(self):
        seeded = random.Random(1)
        with tempfile.TemporaryDirectory() as directory:
            for _ in range(12):
                path = os.path.join(directory, "key.pem")
                openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256",
                        "-out", path)
                point = openssl("pkey", "-in", path, "-pubout", "-outform", "DER")[-65:]
                message = seeded.randbytes(seeded.randrange(200))
                signature = numbers(openssl("dgst", "-sha256", "-sign", path, data=message))
                self.assertTrue(p256.verify(point, signature, message))
                self.assertFalse(p256.verify(point, signature, message + b"x"))
                for _ in range(8):
                    altered = bytearray(signature)
                    altered[seeded.randrange(64)] ^= 1 << seeded.randrange(8)
                    self.assertFalse(p256.verify(point, bytes(altered), message))

    def test_the_point_of_a_key_is_on_the_curve_and_no_other_with_its_x_but_the_opposite(self):
        point = openssl("pkey", "-in", str(KEY), "-pubout", "-outform", "DER")[-65:]
        x, y = p256.read_point(point)
        for other in range(-3, 4):
            data = b"\4" + x.to_bytes(32, "big") + ((y + other) % p256.P).to_bytes(32, "big")
            self.assertEqual(p256.read_point(data) is not None, other == 0)
        self.assertIsNotNone(
            p256.read_point(b"\4" + x.to_bytes(32, "big") + (p256.P - y).to_bytes(32, "big")))


class EncodingTests(unittest.TestCase):
    def test_what_is_written_is_read_and_only_that(self):
        seeded = random.Random(2)
        for _ in range(2000):
            data = seeded.randbytes(seeded.randrange(12))
            text = encoding.percent_encode(data)
            self.assertEqual(encoding.percent_decode(text), data)
            if encoding.percent_decode(data) is not None:
                self.assertEqual(encoding.percent_encode(encoding.percent_decode(data)), data)
            self.assertEqual(
                encoding.base64url_decode(encoding.base64url_encode(data)), data)
            if encoding.base64url_decode(data) is not None:
                self.assertEqual(
                    encoding.base64url_encode(encoding.base64url_decode(data)), data)

    def test_times_are_read_in_one_form(self):
        self.assertEqual(encoding.time_decode(b"1970-01-01T00:00:00Z"), 0)
        self.assertEqual(encoding.time_decode(b"2028-02-29T23:59:59Z"), 1_835_481_599)
        self.assertEqual(
            encoding.time_decode(b"9999-12-31T23:59:59Z"), encoding.LAST_SECOND)
        for text in (b"2027-02-29T00:00:00Z", b"2026-11-20 17:24:00Z", b"2026-11-20T17:24:00z",
                     b"2026-1-20T017:24:00Z", b"+026-11-20T17:24:00Z", b"2026-11-20T17:24:0 Z",
                     b"", "２026-11-20T17:24:00Z".encode()):
            self.assertIsNone(encoding.time_decode(text), text)


class JSONTests(unittest.TestCase):
    def test_values_are_read(self):
        self.assertEqual(
            parse(b' {"a": [1, -2, 0.5, 1e3, true, false, null, "x\\u00e9\\ud83d\\ude00\\n"],'
                  b'"b": {}, "c": []} '),
            {"a": [1, -2, 0.5, 1000.0, True, False, None, "x\u00e9\U0001f600\n"], "b": {}, "c": []})

    def test_a_document_that_is_cut_or_wrong_anywhere_is_refused(self):
        document = b'{"a":[1,{"b":"c\\n"}],"d":null}'
        self.assertEqual(parse(document), {"a": [1, {"b": "c\n"}], "d": None})
        for length in range(len(document)):
            self.assertRaises(VerificationFailure, parse, document[:length])
        for text in (b"", b"[1,]", b"{,}", b"{1:2}", b"[1 2]", b"tru", b"nul", b"+1", b".5", b"1.",
                     b"1e", b"--1", b"'a'", b'"\\x"', b'"\\u12"', b'"\\ud800"', b'"\\udc00"',
                     b'"\\ud800\\u0041"', b"[}", b"]", b'{"a" 1}', b"[1]]",
                     b"\xef\xbb\xbf1", b"\x0b1"):
            self.assertRaises(VerificationFailure, parse, text)

    def test_nesting_does_not_use_the_stack(self):
        self.assertIsInstance(parse(b"[" * 512 + b"]" * 512), list)
        self.assertRaises(VerificationFailure, parse, b"[" * 100_000)


if __name__ == "__main__":
    unittest.main()
