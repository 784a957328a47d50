#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A back end that is notified by signet-server: the example of docs/developer/SERVER-INTEGRATE.md.

    receiver.py ISSUER URL JWKS PORT

It listens on 127.0.0.1, prints a line for each event that it has not seen before, and for each body
that it refuses. JWKS is a URL. It needs the package signet_verifier (libraries/python).
"""
import sys
import urllib.request

# --- in SERVER-INTEGRATE.md from here
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from signet_verifier import CallbackVerifier, KeySource, VerificationFailure, https_fetch

LONGEST = 8192


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers.get("Content-Length", "0"))
        if length > LONGEST:
            return self.answer(413)
        try:
            event = self.server.callbacks.verify(self.rfile.read(length))
        except VerificationFailure as failure:
            print("refused:", failure, flush=True)
            # 503 if the server's keys cannot be fetched: the event is then sent again.
            return self.answer(503 if failure.code == "unavailable" else 400)
        # An event may come several times, and in any order: remember its id where you act on it.
        if event.id not in self.server.seen:
            self.server.seen.add(event.id)
            print(event.type, event.account, event.operation or event.registration, flush=True)
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()


def serve(issuer, url, fetch, port):
    server = ThreadingHTTPServer(("127.0.0.1", port), Receiver)
    server.callbacks = CallbackVerifier(issuer, url, KeySource(fetch))
    server.seen = set()
    server.serve_forever()
# --- to here


def main():
    issuer, url, jwks, port = sys.argv[1:]
    if jwks.startswith("https://"):
        fetch = https_fetch(jwks)
    else:
        def fetch():
            with urllib.request.urlopen(jwks, timeout=5) as answer:
                return answer.read(65_537)
    Receiver.log_message = lambda *_: None
    serve(issuer, url, fetch, int(port))


if __name__ == "__main__":
    main()
