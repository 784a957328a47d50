# SPDX-License-Identifier: Apache-2.0
"""How a server's keys are fetched, kept and fetched again."""
import http.server
import json
import pathlib
import threading
import unittest

import signet_verifier as signet

VECTORS = pathlib.Path(__file__).parents[2] / "vectors"
CASES = json.loads((VECTORS / "token.json").read_text(encoding="utf-8"))["cases"]
TOKEN = next(case for case in CASES if case["name"] == "a token")
STRANGER = next(
    case for case in CASES if case["name"] == "a token by a key that the server does not publish")
UNSUPPORTED = next(case for case in CASES if case["name"] == "ES384")
JWKS = TOKEN["keys"]["jwks"].encode()
FIRST = json.loads(JWKS)["keys"][0]
FIRST_ALONE = json.dumps({"keys": [FIRST]}).encode()
SECOND = json.loads(JWKS)["keys"][1]["kid"]


class Server:
    """What is fetched, and how often it was."""

    def __init__(self, document=JWKS):
        self.document = document
        self.fetches = 0

    def __call__(self):
        self.fetches += 1
        if isinstance(self.document, Exception):
            raise self.document
        return self.document


def code(call):
    try:
        call()
        return "valid"
    except signet.VerificationFailure as failure:
        return failure.code


class KeySourceTests(unittest.TestCase):
    def setUp(self):
        self.now = 1000.0
        self.server = Server()
        self.keys = signet.KeySource(self.server, clock=lambda: self.now)
        self.tokens = signet.TokenVerifier(
            TOKEN["keys"]["issuer"], TOKEN["keys"]["audience"], self.keys,
            clock=lambda: TOKEN["now"])

    def verify(self, case=TOKEN):
        return code(lambda: self.tokens.verify(case["input"]["token"]))

    def test_nothing_is_fetched_before_the_first_token(self):
        self.assertEqual(self.server.fetches, 0)
        self.assertEqual([self.verify(), self.verify()], ["valid", "valid"])
        self.assertEqual(self.server.fetches, 1)

    def test_a_header_that_no_server_writes_fetches_nothing(self):
        self.assertEqual(self.verify(UNSUPPORTED), "unsupported-header")
        self.assertEqual(self.server.fetches, 0)

    def test_an_unknown_key_fetches_once_and_not_again_for_ten_seconds(self):
        self.verify()
        self.now += 10
        for _ in range(100):
            self.assertEqual(self.verify(STRANGER), "unknown-key")
        self.assertEqual(self.server.fetches, 2)
        self.now += 9.9
        self.verify(STRANGER)
        self.assertEqual(self.server.fetches, 2)
        self.now += 0.1
        self.verify(STRANGER)
        self.assertEqual(self.server.fetches, 3)

    def test_a_new_key_is_found(self):
        self.server.document = FIRST_ALONE
        self.assertEqual(self.verify(), "valid")
        self.assertIsNone(self.keys.point(SECOND))
        self.server.document = JWKS
        self.now += 10
        self.assertIsNotNone(self.keys.point(SECOND))

    def test_a_retired_key_is_refused_once_the_keys_were_fetched_again(self):
        self.assertIsNotNone(self.keys.point(SECOND))
        self.server.document = FIRST_ALONE
        self.now += 149
        self.assertIsNotNone(self.keys.point(SECOND))
        self.now += 1
        self.assertIsNone(self.keys.point(SECOND))

    def test_keys_outlive_a_failure_until_they_are_300_s_old(self):
        self.verify()
        self.server.document = OSError("no route to the server")
        self.now += 299
        self.assertEqual(self.verify(), "valid")
        self.assertEqual(self.server.fetches, 2)
        self.now += 1
        self.assertEqual(self.verify(), "unavailable")
        self.server.document = JWKS
        self.now += 9
        self.assertEqual(self.verify(), "valid")

    def test_no_keys_no_tokens(self):
        for document in (OSError("away"), b"<html>", b'{"keys":', b"x" * 70_000):
            self.setUp()
            self.server.document = document
            self.assertEqual(self.verify(), "unavailable")

    def test_a_bad_document_does_not_replace_good_keys(self):
        self.verify()
        self.server.document = json.dumps({"keys": [FIRST | {"kid": "other"}]}).encode()
        self.now += 200
        self.assertEqual(self.verify(), "valid")

    def test_of_many_threads_one_fetches(self):
        barrier = threading.Barrier(8)
        results = []

        def verify():
            barrier.wait()
            results.append(self.verify())

        threads = [threading.Thread(target=verify) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, ["valid"] * 8)
        self.assertEqual(self.server.fetches, 1)


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/jwks.json")
            self.end_headers()
            return
        body = {"/jwks.json": JWKS, "/long": b" " * 70_000}.get(self.path)
        self.send_response(404 if body is None else 200)
        self.end_headers()
        try:
            self.wfile.write(body or b"")
        except ConnectionError:
            pass

    def log_message(self, *_):
        pass


class FetchTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        cls.thread = threading.Thread(target=cls.server.serve_forever)
        cls.thread.start()

    @classmethod
    def tearDownClass(cls):
        cls.server.shutdown()
        cls.thread.join()
        cls.server.server_close()

    def url(self, path):
        return f"http://127.0.0.1:{self.server.server_port}{path}"

    def test_the_document_is_fetched(self):
        self.assertEqual(signet.https_fetch(self.url("/jwks.json"))(), JWKS)

    def test_redirections_faults_and_long_answers_are_refused(self):
        for path in ("/moved", "/nothing", "/long"):
            with self.assertRaises(OSError, msg=path):
                signet.https_fetch(self.url(path))()

    def test_plain_http_is_for_this_machine_alone(self):
        for url in ("http://id.example.org/jwks.json", "file:///etc/passwd", "ftp://x/y", ""):
            self.assertRaises(ValueError, signet.https_fetch, url)


class BearerTests(unittest.TestCase):
    def test_the_token_of_one_header(self):
        for header in ("Bearer abc", "bearer abc", ["Bearer abc"]):
            self.assertEqual(signet.bearer_token(header), "abc")
        for header in (None, [], "", "Bearer", "Basic abc", "Signet statement"):
            self.assertEqual(code(lambda: signet.bearer_token(header)), "wrong-scheme")
        self.assertEqual(
            code(lambda: signet.bearer_token(["Bearer a", "Bearer b"])), "repeated-header")


if __name__ == "__main__":
    unittest.main()
