# SPDX-License-Identifier: Apache-2.0
"""The code of docs/developer/WEB-LOGIN.md, as it stands there, in the application of Examples/web-login.

Browsers are played here, devices by Examples/device.py, and the server is a real one.
"""
import concurrent.futures
import html
import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

import signet_verifier as signet
from devices import Device

ROOT = pathlib.Path(__file__).parents[2]
PAGE = (ROOT / "docs/developer/WEB-LOGIN.md").read_text(encoding="utf-8")
APPLICATION = ROOT / "Examples/web-login"
CODE = r"[0-9A-Z]{5}(?:-[0-9A-Z]{5}){3}"
PASSWORD = "correct horse"


def blocks(language):
    """The login, and what comes after it: two parts of one program."""
    login, rest = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    return login, rest


def admin(*words):
    return subprocess.run(
        [os.environ["SIGNET_PROGRAM"], "admin", "--config", os.environ["SIGNET_CONFIG"], *words],
        check=True, capture_output=True, text=True).stdout.strip()


class Browser:
    """Follows redirections and keeps its cookie, as browsers do."""

    def __init__(self, port):
        self.port = port
        self.cookie = ""
        self.get("/")

    def send(self, method, path, body=None):
        for _ in range(5):
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            connection.request(method, path, body, {
                "Cookie": self.cookie, "Content-Type": "application/x-www-form-urlencoded"})
            answer = connection.getresponse()
            self.status, self.page = answer.status, answer.read().decode()
            connection.close()
            if fresh := answer.headers["Set-Cookie"]:
                assert "HttpOnly" in fresh and "SameSite=Lax" in fresh, fresh
                self.cookie = fresh.split(";")[0]
            if self.status != 303:
                return self
            method, path, body = "GET", answer.headers["Location"], None
        raise AssertionError("it is redirected for ever")

    def get(self, path):
        return self.send("GET", path)

    @property
    def token(self):
        return re.search(r'name="token" value="([^"]+)"', self.page)[1]

    def post(self, path, token=None, **fields):
        fields["token"] = self.token if token is None else token
        return self.send("POST", path, urllib.parse.urlencode(fields))

    @property
    def title(self):
        return html.unescape(re.search(r"<title>(.*?)</title>", self.page)[1])

    @property
    def text(self):
        """What the page says that the device shows."""
        shown = re.search(r'<p id="text">(.*?)</p>', self.page)[1]
        return html.unescape(shown.replace("<br>", "\n"))


class WebLogin:
    """The tests, for either language."""

    def setUp(self):
        self.shop = signet.SignetClient(os.environ["SIGNET_URL"], os.environ["SIGNET_KEY"])
        for login in self.pending():
            self.shop.cancel(login.operation)
        for one in self.active():
            self.shop.remove(one.registration)
        self.template(120)
        self.directory = tempfile.TemporaryDirectory()
        directory = pathlib.Path(self.directory.name)
        name = f"web-{os.getpid()}-{time.monotonic_ns()}"
        # As the page says it.
        self.assertIn("--scopes logins,registrations,verify", PAGE)
        key = admin("key", "add", "shop", name, "--scopes", "logins,registrations,verify")
        (directory / "web.key").write_text(key + "\n")
        # Joined as the page says it: the second part below the first.
        self.assertIn("Write this below it, in the same file.", PAGE)
        login, rest = blocks(self.language)
        (directory / f"approval.{self.suffix}").write_text(f"{login}\n\n{rest}", encoding="utf-8")
        shutil.copy(APPLICATION / f"app.{self.suffix}", directory)
        self.prepare(directory)
        self.gate = Gate()
        self.environment = os.environ | {
            "SIGNET_URL": self.gate.url, "SIGNET_KEY_FILE": str(directory / "web.key")}
        self.process = subprocess.Popen(
            [*self.command, str(directory / f"app.{self.suffix}"), "0"], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env=self.environment)
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1])
        self.device = None

    def tearDown(self):
        self.process.terminate()
        _, self.said = self.process.communicate(timeout=30)
        if self.device:
            self.device.end()
        self.gate.close()
        self.directory.cleanup()

    def prepare(self, _):
        pass

    def pending(self):
        return [each for each in self.shop.operations("alice") if each.status == "PENDING"]

    def active(self):
        return [each for each in self.shop.registrations("alice") if each.status == "ACTIVE"]

    def template(self, seconds):
        # As the page says it.
        text = re.search(r"template add demo sign-in \\\n +\$'(.*?)' --purpose login", PAGE)[1]
        text = text.replace("\\n", "\n")
        admin("template", "remove", "shop", "sign-in")
        admin("template", "add", "shop", "sign-in", text, "--purpose", "login", "--seconds", str(seconds))

    def register(self):
        """A device for alice, with the code that the application's page shows."""
        browser = Browser(self.port).post("/login", account="alice", password=PASSWORD)
        self.assertEqual(browser.title, "Signed in as alice")
        browser.post("/device", password=PASSWORD)
        self.device = Device(re.search(CODE, browser.page)[0])
        self.assertEqual(self.device.account, "alice")

    def approve(self, browser=None):
        browser = browser or Browser(self.port)
        browser.post("/approval", account=" alice ")
        self.assertEqual(browser.title, "Approve on your device")
        self.assertEqual(self.device.question(), browser.text)
        self.assertEqual(self.device.answer("y"), "APPROVED")
        return browser

    def test_an_approval_signs_in_the_browser_that_asked(self):
        self.register()
        browser, stranger = Browser(self.port), Browser(self.port)
        browser.post("/approval", account="alice")
        self.assertRegex(browser.text, r"^Sign in to the shop from 127\.0\.0\.1\?\nThe page shows [A-Z2-9]{6}\.$")
        self.assertEqual(browser.post("/approval/poll").title, "Approve on your device")
        self.assertNotIn("sgs_", browser.page)
        # Another visitor's login for the same account.
        stranger.post("/approval", account="alice")
        self.assertNotEqual(stranger.text, browser.text)
        self.assertEqual(self.device.question(), browser.text)
        self.assertEqual(self.device.answer("y"), "APPROVED")
        self.assertEqual(self.device.question(), stranger.text)
        self.assertEqual(self.device.answer("n"), "REJECTED")
        self.assertEqual(stranger.post("/approval/poll").title, "Approve on your device")
        before = browser.cookie
        self.assertEqual(browser.post("/approval/poll").title, "Signed in as alice")
        self.assertNotEqual(browser.cookie, before)
        self.assertEqual(stranger.get("/").title, "Sign in")
        # The cookie of before the sign-in is worth nothing.
        late = Browser(self.port)
        late.cookie = before
        self.assertEqual(late.get("/").title, "Sign in")
        browser.post("/logout")
        self.assertEqual(browser.get("/").title, "Sign in")

    def test_the_first_part_is_a_login_by_itself(self):
        self.register()
        directory = pathlib.Path(self.directory.name)
        (directory / f"approval.{self.suffix}").write_text(blocks(self.language)[0], encoding="utf-8")
        (directory / f"alone.{self.suffix}").write_text(self.alone, encoding="utf-8")
        with subprocess.Popen(
                [*self.command, str(directory / f"alone.{self.suffix}")], text=True, bufsize=1,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.environment) as alone:
            def say(word):
                alone.stdin.write(word + "\n")
                return json.loads(alone.stdout.readline())

            try:
                text = say("begin")
                self.assertEqual(say("poll"), ["waiting", None])
                self.assertEqual(self.device.question(), text)
                self.assertEqual(self.device.answer("y"), "APPROVED")
                self.assertEqual(say("poll"), ["approved", "alice"])
                self.assertEqual(say("poll"), ["over", "alice"])
            finally:
                alone.stdin.close()
        self.assertEqual(alone.returncode, 0)

    def test_of_many_polls_one_signs_in(self):
        self.register()
        browser = self.approve()
        others = [Browser(self.port) for _ in range(8)]
        for other in others:
            other.cookie, other.page = browser.cookie, browser.page
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            titles = list(pool.map(lambda one: one.post("/approval/poll").title, others))
        self.assertEqual(titles.count("Signed in as alice"), 1, titles)
        self.assertLessEqual(set(titles), {
            "Signed in as alice", "This sign-in has ended", "Not from a page of this application", "Sign in"})
        signed = others[titles.index("Signed in as alice")]
        self.assertEqual(signed.get("/").title, "Signed in as alice")

    def test_the_password_still_works(self):
        browser = Browser(self.port)
        self.assertEqual(browser.post("/login", account="alice", password="x").status, 401)
        self.assertEqual(
            browser.post("/login", account="alice", password=PASSWORD).title, "Signed in as alice")
        self.assertEqual(browser.post("/device", password="x").status, 401)
        self.assertEqual(browser.post("/device", token="", password=PASSWORD).status, 403)

    def test_a_form_of_another_page_does_nothing(self):
        browser, other = Browser(self.port), Browser(self.port)
        for token in ("", "x", other.token):
            for path in ("/approval", "/approval/poll", "/approval/cancel", "/device", "/login", "/logout"):
                browser.get("/")
                self.assertEqual(browser.post(path, token=token, account="alice").status, 403)
        self.assertEqual(browser.get("/approval").title, "Sign in")

    def test_a_device_needs_a_user_who_is_signed_in(self):
        browser = Browser(self.port)
        self.assertEqual(browser.post("/device", password=PASSWORD).status, 401)
        self.assertNotRegex(browser.page, CODE)

    def test_an_account_that_is_not_there_looks_like_one_that_is(self):
        self.register()
        pages = []
        for name in ("nobody", "alice", "bob\u202e"):
            browser = Browser(self.port).post("/approval", account=name)
            if browser.status == 200:
                pages.append(re.sub(r"shows \w+|value=\"[^\"]+\"", "", browser.page))
                self.assertEqual(browser.post("/approval/poll").title, "Approve on your device")
        self.assertEqual(len(pages), 2)
        self.assertEqual(pages[0], pages[1])

    def test_what_is_not_approved_in_time_ends(self):
        self.register()
        self.template(10)
        browser = Browser(self.port).post("/approval", account="alice")
        self.assertEqual(self.device.question(), browser.text)
        self.assertEqual(self.device.answer("n"), "REJECTED")
        end = time.monotonic() + 30
        while browser.post("/approval/poll").title == "Approve on your device":
            self.assertLess(time.monotonic(), end)
            time.sleep(0.5)
        self.assertEqual(browser.title, "This sign-in has ended")
        # From there, the next one begins.
        self.template(120)
        self.approve(browser)
        self.assertEqual(browser.post("/approval/poll").title, "Signed in as alice")

    def test_a_login_is_cancelled(self):
        self.register()
        browser = Browser(self.port).post("/approval", account="alice")
        self.device.question()
        self.assertEqual(browser.post("/approval/cancel").title, "Sign in")
        self.assertEqual(self.pending(), [])
        self.assertIn("conflict", self.device.answer("y"))
        self.assertEqual(browser.get("/approval").title, "Sign in")
        # A second one in the same browser cancels the first.
        browser.post("/approval", account="alice")
        first, = self.pending()
        self.assertEqual(self.device.question(), first.text)
        browser.get("/")
        browser.post("/approval", account="alice")
        self.assertEqual(self.shop.operation(first.operation).status, "CANCELED")

    def test_a_planted_cookie_cannot_poll(self):
        self.register()
        planter, victim = Browser(self.port), Browser(self.port)
        victim.cookie, victim.page = planter.cookie, planter.page
        self.approve(victim)
        self.assertNotEqual(victim.cookie, planter.cookie)
        self.assertEqual(planter.post("/approval/poll").status, 403)
        self.assertEqual(planter.get("/").title, "Sign in")
        self.assertEqual(planter.post("/approval/poll").title, "This sign-in has ended")
        self.assertEqual(victim.post("/approval/poll").title, "Signed in as alice")

    def test_a_user_who_is_signed_in_polls_nothing(self):
        self.register()
        browser = self.approve()
        self.assertEqual(browser.post("/approval/poll").title, "Signed in as alice")
        for path in ("/approval/poll", "/approval", "/approval/cancel"):
            self.assertEqual(browser.post(path, account="alice").title, "Signed in as alice")
        self.assertEqual(self.pending(), [])
        one, = self.active()
        self.shop.block(one.registration)
        self.assertEqual(browser.get("/").title, "Sign in")

    def test_a_sign_in_ends_with_its_device(self):
        self.register()
        browser = self.approve()
        self.assertEqual(browser.post("/approval/poll").title, "Signed in as alice")
        self.assertEqual(browser.get("/").title, "Signed in as alice")
        one, = self.active()
        self.shop.block(one.registration)
        self.assertEqual(browser.get("/").title, "Sign in")

    def test_an_access_token_is_refreshed_once(self):
        admin("application", "set", "shop", "--access-seconds", "30")
        try:
            self.register()
            browser = self.approve()
            self.assertEqual(browser.post("/approval/poll").title, "Signed in as alice")
            time.sleep(31)
            others = [Browser(self.port) for _ in range(8)]
            for other in others:
                other.cookie = browser.cookie
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                titles = list(pool.map(lambda one: one.get("/").title, others))
            self.assertEqual(titles, ["Signed in as alice"] * 8)
            self.assertEqual(browser.get("/").title, "Signed in as alice")
        finally:
            admin("application", "set", "shop", "--access-seconds", "300")

    def test_while_the_server_is_away_the_password_works(self):
        self.register()
        signed, waiting = self.approve(), Browser(self.port).post("/approval", account="alice")
        self.assertEqual(signed.post("/approval/poll").title, "Signed in as alice")
        self.gate.close()
        browser = Browser(self.port).post("/approval", account="alice")
        self.assertEqual((browser.status, browser.title), (
            503, "Devices cannot be asked now. Please use your password."))
        self.assertEqual(
            browser.post("/login", account="alice", password=PASSWORD).title, "Signed in as alice")
        self.assertEqual(waiting.post("/approval/poll").status, 503)
        # Whether it still counts cannot be known: it does not, and is not lost.
        self.assertEqual(signed.get("/").status, 503)
        self.gate.open()
        self.assertEqual(signed.get("/").title, "Signed in as alice")
        self.assertEqual(self.device.question(), waiting.get("/approval").text)
        self.device.answer("y")
        self.assertEqual(waiting.post("/approval/poll").title, "Signed in as alice")

    def test_an_address_has_few_attempts(self):
        browser = Browser(self.port)
        statuses = []
        for _ in range(12):
            browser.get("/")
            statuses.append(browser.post("/approval", account="nobody").status)
        self.assertEqual(statuses, [200] * 10 + [429] * 2)

    def test_no_secret_is_printed_or_shown(self):
        self.register()
        browser = self.approve()
        shown = browser.page + browser.post("/approval/poll").page
        self.gate.close()
        shown += browser.get("/").page
        self.gate.open()
        self.process.terminate()
        shown += "".join(self.process.communicate(timeout=30))
        for secret in ("sgk_", "sgs_", "sgr_"):
            self.assertNotIn(secret, shown)


class Gate:
    """A way to the server that can be closed."""

    def __init__(self):
        self.target = urllib.parse.urlsplit(os.environ["SIGNET_URL"])
        self.listener = None
        self.port = 0
        self.open()
        self.url = f"http://127.0.0.1:{self.port}"

    def open(self):
        self.listener = socket.create_server(("127.0.0.1", self.port))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, args=(self.listener,), daemon=True).start()

    def close(self):
        if self.listener:
            self.listener.shutdown(socket.SHUT_RDWR)
            self.listener.close()
            self.listener = None

    def serve(self, listener):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            server = socket.create_connection((self.target.hostname, self.target.port))
            for one, other in ((client, server), (server, client)):
                threading.Thread(target=self.pass_on, args=(one, other), daemon=True).start()

    @staticmethod
    def pass_on(one, other):
        try:
            while data := one.recv(65_536):
                other.sendall(data)
            other.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # The other side has ended.


class PythonTests(WebLogin, unittest.TestCase):
    language, suffix, command = "python", "py", [sys.executable, "-W", "error"]
    alone = """
import json
import sys

import approval

session = {}
for line in sys.stdin:
    if line == "begin\\n":
        approval.begin(session, "alice", "127.0.0.1")
        said = session["approval"]["text"]
    else:
        said = [approval.poll(session), session.get("signet", {}).get("account")]
    print(json.dumps(said), flush=True)
"""

    def test_a_length_that_is_none_is_refused(self):
        for length in (b"-5", b"x", b"+5", b"9" * 5000):
            with socket.create_connection(("127.0.0.1", self.port), timeout=10) as sock:
                sock.sendall(b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: " + length + b"\r\n\r\n")
                self.assertIn(b" 400 ", sock.recv(100), length)


class JavaScriptTests(WebLogin, unittest.TestCase):
    language, suffix, command = "js", "js", ["node"]
    alone = """
import { createInterface } from 'node:readline'
import * as approval from './approval.js'

const session = {}
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'begin') await approval.begin(session, 'alice', '127.0.0.1')
  const said = line === 'begin' ? session.approval.text
    : [await approval.poll(session), session.signet?.account ?? null]
  console.log(JSON.stringify(said))
}
"""

    def prepare(self, directory):
        (directory / "package.json").write_text('{ "type": "module" }')
        (directory / "node_modules").mkdir()
        (directory / "node_modules/signet-verifier").symlink_to(ROOT / "libraries/javascript")


class PageTests(unittest.TestCase):
    def test_the_code_is_as_short_as_the_page_says(self):
        """Blank lines count, and no line is long instead."""
        self.assertIn("The login is forty lines", PAGE)
        self.assertRegex(PAGE, r"As many\s+again are for what comes after it")
        for language in ("python", "js"):
            login, rest = (part.splitlines() for part in blocks(language))
            self.assertLessEqual(len(login), 40, language)
            self.assertLessEqual(len(rest), 44, language)
            self.assertLessEqual(max(map(len, login + rest)), 100, language)


if __name__ == "__main__":
    unittest.main()
