#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A small web application with a login form, into which docs/developer/WEB-LOGIN.md adds sign-in by approval.

    SIGNET_URL=… SIGNET_KEY_FILE=… python3 app.py [PORT]

It needs that page's approval.py beside it, or in PYTHONPATH, and listens on 127.0.0.1. Its user is alice,
with the password "correct horse". What was added has "approval" in its lines.
"""
import collections
import hashlib
import hmac
import html
import http.cookies
import http.server
import secrets
import sys
import time
import urllib.parse

import approval
from signet_verifier import CallFailure

SALT = b"each user has an own one"
USERS = {"alice": hashlib.scrypt(b"correct horse", salt=SALT, n=2**14, r=8, p=1)}
# What this application keeps for each browser, by its cookie.
sessions = {}
attempts = collections.defaultdict(list)


def has_password(name, password):
    given = hashlib.scrypt(password.encode(), salt=SALT, n=2**14, r=8, p=1)
    return hmac.compare_digest(given, USERS.get(name, bytes(64)))


def admit(address):
    """Whether an address may try once more: ten times in a minute."""
    recent = [each for each in attempts[address] if each > time.monotonic() - 60]
    attempts[address] = recent + [time.monotonic()]
    return len(recent) < 10


def form(session, action, button, fields=""):
    return (f'<form method="post" action="{action}">{fields}<input type="hidden" name="token" '
            f'value="{session["token"]}"><button>{button}</button></form>')


class Application(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        session = self.session()
        if self.path == "/":
            self.home(session)
        elif self.path == "/approval" and "approval" in session:
            self.waiting(session)
        else:
            self.go("/")

    def do_POST(self):
        session = self.session()
        length = self.headers.get("Content-Length") or "0"
        if not length.isdecimal() or len(length) > 9:
            return self.page(400, "Not a form of this application")
        body = self.rfile.read(min(int(length), 4096))
        sent = dict(urllib.parse.parse_qsl(body.decode("utf-8", "replace")))
        # Only a page that this browser was shown has its token.
        if not hmac.compare_digest(sent.get("token", "").encode(), session["token"].encode()):
            return self.page(403, "Not from a page of this application")
        steps = {
            "/login": self.log_in, "/logout": self.log_out, "/device": self.activate,
            "/approval": self.begin, "/approval/poll": self.poll, "/approval/cancel": self.cancel,
        }
        if self.path not in steps:
            return self.page(404, "There is no such page")
        if "user" in session and self.path.startswith("/approval"):
            return self.go("/")
        try:
            return steps[self.path](session, sent)
        except CallFailure as failure:
            print("approval:", failure, file=sys.stderr, flush=True)
            return self.page(503, "Devices cannot be asked now. Please use your password.",
                             self.forms(sessions.get(self.cookie) or self.renew({})))

    def home(self, session):
        if "user" not in session:
            return self.page(200, "Sign in", self.forms(session))
        try:
            if "approved" in session and not approval.is_current(session):
                sessions.pop(self.cookie, None)
                approval.sign_out(session)
                return self.go("/")
        except CallFailure:
            return self.page(503, "Your sign-in cannot be checked now. Please try again.")
        password = '<label>Password <input type="password" name="password"></label>'
        return self.page(
            200, f"Signed in as {html.escape(session['user'])}",
            form(session, "/device", "Register a device", password) + form(session, "/logout", "Sign out"))

    def forms(self, session):
        account = '<label>Account <input name="account" autocomplete="username"></label>'
        password = '<label>Password <input type="password" name="password"></label>'
        return (form(session, "/login", "Sign in", account + password)
                + form(session, "/approval", "Sign in with my device", account))

    def log_in(self, session, sent):
        if not admit(self.client_address[0]):
            return self.page(429, "Too many attempts. Please wait a minute.")
        if not has_password(sent.get("account", ""), sent.get("password", "")):
            return self.page(401, "Wrong account or password", self.forms(session))
        approval.cancel(session)
        approval.sign_out(session)
        return self.sign_in({}, sent["account"])

    def sign_in(self, session, user):
        """A new cookie, so that one that was planted earlier is worth nothing."""
        sessions.pop(self.cookie, None)
        self.renew(session)["user"] = user
        return self.go("/")

    def log_out(self, session, _):
        sessions.pop(self.cookie, None)
        approval.sign_out(session)
        self.go("/")

    # What was added.

    def activate(self, session, sent):
        """The password again: a device is a second way in."""
        if not admit(self.client_address[0]):
            return self.page(429, "Too many attempts. Please wait a minute.")
        if not has_password(session.get("user", ""), sent.get("password", "")):
            return self.page(401, "Wrong password")
        code = approval.signet.activate(session["user"]).code
        return self.page(200, "Register a device", "<p>On your device, run <code>signet enable --server "
                         f"{html.escape(approval.os.environ['SIGNET_URL'])}</code> and type <code id=\"code\">{code}</code></p>")

    def begin(self, session, sent):
        if not admit(self.client_address[0]):
            return self.page(429, "Too many attempts. Please wait a minute.")
        name = sent.get("account", "").strip()
        if not 1 <= len(name.encode()) <= 128 or not name.isprintable():
            return self.page(400, "Not an account's name", self.forms(session))
        # In a new session: who planted the cookie of this one would poll with it.
        approval.cancel(session)
        sessions.pop(self.cookie, None)
        approval.begin(self.renew({}), name, self.client_address[0])
        return self.go("/approval")

    def waiting(self, session):
        text = html.escape(session["approval"]["text"]).replace("\n", "<br>")
        self.page(
            200, "Approve on your device",
            f'<p>Run <code>signet operations</code> on your device. It shows:</p><p id="text">{text}</p>'
            "<p>Approve it only if every character is the same.</p>"
            + form(session, "/approval/poll", "I have approved it").replace("<form", '<form id="poll"')
            + form(session, "/approval/cancel", "Cancel")
            + '<script>const poll = document.getElementById("poll")\n'
            "const timer = setTimeout(() => poll.requestSubmit(), 3000)\n"
            'poll.onsubmit = () => { clearTimeout(timer); poll.querySelector("button").disabled = true }</script>')

    def poll(self, session, _):
        state = approval.poll(session)
        if state == "waiting":
            return self.go("/approval")
        if state == "approved":
            signed = session["signet"]
            if signed["account"] in USERS:
                return self.sign_in({"signet": signed, "approved": True}, signed["account"])
            approval.sign_out(session)
        return self.page(200, "This sign-in has ended", "<p>It was not approved in time.</p>" + self.forms(session))

    def cancel(self, session, _):
        approval.cancel(session)
        self.go("/")

    # Cookies and answers.

    def session(self):
        self.fresh = None
        found = http.cookies.SimpleCookie(self.headers.get("Cookie", "")).get("session")
        self.cookie = found.value if found else ""
        return sessions.get(self.cookie) or self.renew({})

    def renew(self, session):
        self.fresh = self.cookie = secrets.token_urlsafe()
        sessions[self.fresh] = session
        session["token"] = secrets.token_urlsafe()
        return session

    def go(self, path):
        self.answer(303, b"", [("Location", path)])

    def page(self, status, title, content=""):
        self.answer(status, f"<!DOCTYPE html><title>{title}</title><h1>{title}</h1>{content}".encode(), [
            ("Content-Type", "text/html; charset=utf-8"), ("X-Frame-Options", "DENY"),
            ("Referrer-Policy", "no-referrer")])

    def answer(self, status, body, headers):
        self.send_response(status)
        if self.fresh:  # With HTTPS, add Secure.
            self.send_header("Set-Cookie", f"session={self.fresh}; HttpOnly; SameSite=Lax; Path=/")
        for name, value in headers + [("Content-Length", str(len(body))), ("Cache-Control", "no-store")]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int((sys.argv[1:] or ["8080"])[0])), Application)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
