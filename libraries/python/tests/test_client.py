# SPDX-License-Identifier: Apache-2.0
"""What a client makes of answers, what it sends, and what it never shows."""
import base64
import contextlib
import dataclasses
import json
import pathlib
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import traceback
import unittest

import signet_verifier as signet

ANSWERS = json.loads(
    (pathlib.Path(__file__).parents[2] / "vectors/calls/answers.json").read_text(encoding="utf-8"))
ID, KEY = ANSWERS["id"], ANSWERS["key"]
SECRET = KEY[4:]


class Peer:
    """A server that answers each connection with the same bytes, and keeps what it was sent."""

    def __init__(self, *parts, context=None, pause=0.0, hold=False):
        self.requests = []
        self.connections = 0
        self._parts, self._context, self._pause, self._hold = parts, context, pause, hold
        self._over = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._threads = [threading.Thread(target=self._serve)]
        self._threads[0].start()

    def _serve(self):
        while not self._over.is_set():
            with contextlib.suppress(OSError):
                sock, _ = self._listener.accept()
                self.connections += 1
                self._threads.append(threading.Thread(target=self._answer, args=(sock,)))
                self._threads[-1].start()

    def _answer(self, sock):
        with contextlib.suppress(OSError), sock:
            sock.settimeout(10)
            if self._context:
                sock = self._context.wrap_socket(sock, server_side=True)
            data = b""
            while b"\r\n\r\n" not in data:
                part = sock.recv(65_536)
                if not part:
                    return
                data += part
            head, body = data.split(b"\r\n\r\n", 1)
            length = [line for line in head.lower().split(b"\r\n") if b"content-length" in line]
            while length and len(body) < int(length[0].split(b":")[1]):
                body += sock.recv(65_536)
            self.requests.append((head.decode(), body))
            for part in self._parts:
                sock.sendall(part)
                if self._pause:
                    self._over.wait(self._pause)
            if self._hold:
                self._over.wait(10)
            sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._over.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join()


def raw(case):
    return "".join(
        part if isinstance(part, str) else part[0] * part[1] for part in case["answer"]
    ).encode("latin1")


def named(name):
    return raw(next(case for case in ANSWERS["cases"] if case["name"] == name))


def client(port, **other):
    return signet.SignetClient(f"http://127.0.0.1:{port}", KEY, **other)


def plain(result):
    if isinstance(result, list):
        return [plain(one) for one in result]
    values = {} if result is None else dataclasses.asdict(result)
    names = {"device_name": "deviceName", "secure_boot": "secureBoot", "last_used": "lastUsed"}
    return None if result is None else {
        names.get(name, name): list(value) if isinstance(value, tuple) else value
        for name, value in values.items() if value is not None
    }


CALLS = {
    "registration": lambda one: one.registration(ID),
    "registrations": lambda one: one.registrations("alice"),
    "introspect": lambda one: one.introspect("token"),
}


class AnswerTests(unittest.TestCase):
    def test_every_case_has_the_stated_result(self):
        for case in ANSWERS["cases"]:
            with self.subTest(case["name"]), Peer(raw(case)) as peer:
                call = CALLS[case.get("call", "registration")]
                try:
                    result = plain(call(client(peer.port, longest_answer=ANSWERS["longest"])))
                    self.assertEqual((case["expected"], case["result"]), ("valid", result))
                except signet.CallFailure as failure:
                    self.judge(case, failure)
                self.assertEqual(peer.connections, 1)
        self.assertGreater(len(ANSWERS["cases"]), 90)

    def test_a_chunk_of_a_negative_size_does_not_make_it_longer(self):
        head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n"
        with Peer(head, *[bytes(65_536)] * 64, hold=True) as peer:
            with self.assertRaises(signet.CallFailure) as caught:
                client(peer.port, longest_answer=1000, timeout=5).registration(ID)
        self.assertEqual(caught.exception.code, "unusable-answer")
        self.assertIn("too long", caught.exception.message)

    def test_a_refusal_does_not_repeat_the_key(self):
        body = json.dumps({"status": 403, "title": "no", "code": "refused", "scope": f"x {KEY}",
                           "requirement": KEY}).replace("sgk_", "\\u0073gk_").encode()
        head = "HTTP/1.1 403 No\r\nContent-Type: application/problem+json\r\nContent-Length: "
        with Peer(f"{head}{len(body)}\r\n\r\n".encode() + body) as peer:
            with self.assertRaises(signet.CallFailure) as caught:
                client(peer.port).registration(ID)
        self.assertEqual(caught.exception.details, {"scope": "x sgk_…", "requirement": "sgk_…"})

    def test_the_code_of_a_request_that_is_refused_has_the_form_of_one(self):
        for code in (KEY.replace("sgk_", "\\u0073gk_"), "two words", "", "A", "no-answer"):
            body = f'{{"valid": false, "code": "{code}"}}'.encode()
            head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
            with Peer(f"{head}{len(body)}\r\n\r\n".encode() + body) as peer:
                with self.assertRaises(signet.CallFailure) as caught:
                    client(peer.port).verify_request("Signet x", "GET", "/")
            self.assertEqual(caught.exception.code, "unusable-answer")

    def judge(self, case, failure):
        found = {
            "expected": failure.code, "status": failure.status, "message": failure.message,
            "retryAfter": failure.retry_after, "details": failure.details,
            "mayHaveHappened": failure.may_have_happened,
        }
        self.assertEqual({name: found[name] for name in found if name in case},
                         {name: case[name] for name in found if name in case})
        self.assert_hidden(failure)

    def assert_hidden(self, failure):
        shown = [str(failure), repr(failure), repr(vars(failure)), repr(failure.__context__)]
        # As programs that report errors do it, with the variables of each frame of the library.
        frames = traceback.TracebackException.from_exception(failure, capture_locals=True)
        shown += [repr(frame.locals) for frame in frames.stack if "signet_verifier" in frame.filename]
        for text in shown:
            self.assertNotIn(SECRET, text)

    def failure(self, call):
        with self.assertRaises(signet.CallFailure) as raised:
            call()
        self.assert_hidden(raised.exception)
        return raised.exception

    def test_silence_ends_a_call_and_slowness_does_not(self):
        text = named("a registration")
        for parts in ([], [text[:20]], [text[:-5]]):
            with Peer(*parts, hold=True) as peer:
                failure = self.failure(lambda: client(peer.port, timeout=0.2).registration(ID))
                self.assertTrue(failure.may_have_happened)
        # Far longer than the limit altogether, never silent for so long.
        slowly = [text[place : place + 40] for place in range(0, len(text), 40)]
        with Peer(*slowly, pause=0.1) as peer:
            self.assertEqual(client(peer.port, timeout=0.4).registration(ID).account, "alice")

    def test_an_answer_without_end_ends(self):
        for endless in (b"HTTP/1.1 200 OK\r\n", b""):
            with Peer(endless, *[b"x"] * 400, pause=0.02) as peer:
                begun = time.monotonic()
                self.failure(lambda: client(peer.port, timeout=0.1).registration(ID))
                self.assertLess(time.monotonic() - begun, 5)

    def test_nothing_is_sent_where_nothing_listens(self):
        with Peer() as peer:
            port = peer.port
        failure = self.failure(lambda: client(port).registration(ID))
        self.assertEqual((failure.code, failure.may_have_happened), ("not-sent", False))


class TLSTests(AnswerTests):
    test_every_case_has_the_stated_result = None
    test_silence_ends_a_call_and_slowness_does_not = None
    test_an_answer_without_end_ends = None
    test_nothing_is_sent_where_nothing_listens = None

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.certificate = cls.directory.name + "/certificate.pem"
        key = cls.directory.name + "/key.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-nodes", "-keyout", key, "-out", cls.certificate, "-days", "2", "-subj", "/CN=x",
             "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
        cls.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        cls.context.load_cert_chain(cls.certificate, key)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def call(self, host, **other):
        with Peer(named("a registration"), context=self.context) as peer:
            one = signet.SignetClient(f"https://{host}:{peer.port}", KEY, timeout=5, **other)
            try:
                return one.registration(ID).account
            finally:
                self.sent = peer.requests

    def test_the_authority_that_is_named_is_trusted_and_no_other(self):
        self.assertEqual(self.call("localhost", authority=self.certificate), "alice")
        failure = self.failure(lambda: self.call("localhost"))
        self.assertEqual(failure.code, "not-sent")
        self.assertIn("certificate", failure.message)
        self.assertEqual(self.sent, [])

    def test_a_certificate_for_another_name_is_refused(self):
        failure = self.failure(lambda: self.call("127.0.0.1", authority=self.certificate))
        self.assertEqual((failure.code, self.sent), ("not-sent", []))

    def test_plain_http_is_no_tls(self):
        with Peer(named("a registration")) as peer:
            one = signet.SignetClient(f"https://localhost:{peer.port}", KEY, timeout=1)
            self.assertEqual(self.failure(lambda: one.registration(ID)).code, "not-sent")


class SentTests(unittest.TestCase):
    def sent(self, call, answer="a registration", path=""):
        with Peer(named(answer)) as peer:
            one = signet.SignetClient(f"http://127.0.0.1:{peer.port}{path}", KEY)
            with contextlib.suppress(signet.CallFailure):
                call(one)
            (head, body), = peer.requests
        lines = head.split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines[1:])
        self.assertEqual(headers["Authorization"], f"Bearer {KEY}")
        self.assertEqual(headers["Host"], f"127.0.0.1:{peer.port}")
        self.assertEqual(len(lines[1:]), len(headers))
        return lines[0], json.loads(body) if body else None

    def test_names_are_one_segment_of_the_path(self):
        for name, segment in {
            "alice": "alice", "..": "%2E%2E", "../x": "%2E%2E%2Fx", "a b": "a%20b", "a/b": "a%2Fb",
            "a?b#c": "a%3Fb%23c", "%2e": "%252e", "é日": "%C3%A9%E6%97%A5", "~*'()!": "%7E%2A%27%28%29%21",
            "a\r\nX: y": "a%0D%0AX%3A%20y", "\0": "%00",
        }.items():
            line, _ = self.sent(lambda one, name=name: one.registrations(name))
            self.assertEqual(line, f"GET /v1/accounts/{segment}/registrations HTTP/1.1")
        one = client(1)
        for name in ("", None, 7, b"alice", "\ud800"):
            with self.assertRaises(ValueError):
                one.registrations(name)

    def test_a_method_is_a_word(self):
        for method in ("", "get", "GET /x HTTP/1.1\r\nX: y\r\n", "GET ", "GET\n"):
            with self.assertRaises(ValueError):
                client(1).call(method, "x")

    def test_a_server_below_a_path(self):
        for path in ("/signet", "/signet/"):
            line, _ = self.sent(lambda one: one.registration(ID), path=path)
            self.assertEqual(line, f"GET /signet/v1/registrations/{ID} HTTP/1.1")

    def test_what_is_not_given_is_not_sent(self):
        line, body = self.sent(lambda one: one.begin_login("alice", "sign-in", {"code": "X"}))
        self.assertEqual(line, "POST /v1/login/init HTTP/1.1")
        self.assertEqual(body, {"account": "alice", "template": "sign-in", "data": {"code": "X"}})
        _, body = self.sent(lambda one: one.begin_login(
            "alice", "sign-in", {}, visitor="192.0.2.1", additional={"agent": "é"}, expires_in=60))
        self.assertEqual(body, {
            "account": "alice", "template": "sign-in", "data": {}, "visitor": "192.0.2.1",
            "additional": {"agent": "é"}, "expiresIn": 60})

    def test_commands_are_paths(self):
        line, body = self.sent(lambda one: one.admin("application set", name="shop", maxFailures=3))
        self.assertEqual((line, body), (
            "POST /v1/admin/application/set HTTP/1.1", {"name": "shop", "maxFailures": 3}))
        line, body = self.sent(lambda one: one.admin("audit"))
        self.assertEqual((line, body), ("POST /v1/admin/audit HTTP/1.1", {}))

    def test_a_digest_is_sent_in_place_of_a_body(self):
        _, body = self.sent(lambda one: one.verify_request(["Signet x"], "GET", "/a?b", b"secret"))
        digest = base64.urlsafe_b64decode(body["body"] + "=")
        self.assertEqual((body["authorization"], len(digest)), ("Signet x", 32))
        with self.assertRaises(signet.VerificationFailure):
            client(1).verify_request(["Signet x", "Signet y"], "GET", "/")

    def test_verbs(self):
        for verb in ("block", "unblock", "remove"):
            line, body = self.sent(lambda one, verb=verb: getattr(one, verb)(ID))
            self.assertEqual(
                (line, body), (f"POST /v1/registrations/{ID}/{verb} HTTP/1.1", {}))
        line, body = self.sent(lambda one: one.commit(ID, "SHA256:x"))
        self.assertEqual((line, body), (
            f"POST /v1/registrations/{ID}/commit HTTP/1.1", {"fingerprint": "SHA256:x"}))
        line, body = self.sent(lambda one: one.cancel(ID))
        self.assertEqual((line, body), (f"POST /v1/operations/{ID}/cancel HTTP/1.1", {}))


class MakingTests(unittest.TestCase):
    def test_a_url_is_of_https_or_of_this_machine(self):
        for url in ("https://id.example.org", "https://id.example.org:8443/signet/",
                    "http://localhost:8443", "http://127.0.0.1", "http://[::1]:1"):
            signet.SignetClient(url, KEY)
        for url in ("http://id.example.org", "http://localhost.example.org", "ftp://localhost", "",
                    "https://", "id.example.org", "https://a@id.example.org", "https://x/?a", "https://x/#a",
                    "https://x:y", "http://127.0.0.1.example.org", "https://a b", "https://x\r\ny"):
            with self.assertRaises(ValueError, msg=url):
                signet.SignetClient(url, KEY)

    def test_a_key_that_is_none_is_not_shown(self):
        for key in ("", None, KEY + "\n", KEY[:-1], KEY + "k", "sgr" + KEY[3:], " " + KEY, KEY.encode()):
            with self.assertRaises(ValueError) as raised:
                signet.SignetClient("https://id.example.org", key)
            self.assertNotIn(SECRET[:20], str(raised.exception))

    def test_no_text_of_a_client_has_the_key(self):
        one = client(1)
        for text in (repr(one), str(one), repr(vars(one)), repr(vars(one._connector))):
            self.assertNotIn(SECRET, text)

    def test_no_text_of_an_answer_has_its_secret(self):
        tokens = signet.Tokens(access_token="S3CRET", refresh_token="S3CRET", expires_in=1)
        for one in (tokens, signet.PendingLogin(ID, "S3CRET", "text", 1),
                    signet.Activation("alice", "shop", "S3CRET", 1)):
            self.assertNotIn("S3CRET", repr(one))

    def test_limits_are_positive(self):
        for limits in ({"timeout": 0}, {"timeout": -1}, {"longest_answer": 0}):
            with self.assertRaises(ValueError):
                client(1, **limits)


if __name__ == "__main__":
    unittest.main()
