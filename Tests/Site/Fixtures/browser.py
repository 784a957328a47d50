#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A person at the site, in headless Chromium, by the W3C WebDriver protocol alone.

    browser.py URL PORT ACCOUNT

URL is how browsers call the site; Chromium is told to find it on PORT of this machine. The script
signs in, sees what there is, signs out, and judges each page that it sees: its accessibility tree,
its colours, its width, and that Chromium had nothing to complain of. When the device is to approve,
it writes "shown: " and the text in JSON, and waits. Any finding ends it with status 1.
"""
import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

WAIT = 30
PR_SET_CHILD_SUBREAPER = 36
TAB, ENTER = "\ue004", "\ue007"
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Driver:
    """chromedriver, and one session of it."""

    def __init__(self, directory, url, port):
        host = url.split("//")[1]
        self.log = open(os.path.join(directory, "driver.log"), "w+b")
        self.base = "http://127.0.0.1:%d" % self.start(directory)
        arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--no-first-run", "--disable-background-networking", "--disable-component-update",
            "--disable-sync", "--user-data-dir=" + os.path.join(directory, "profile"),
            # Nothing is asked of any other machine.
            "--host-resolver-rules=MAP %s 127.0.0.1:%d, MAP * ~NOTFOUND" % (host, port),
        ]
        session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "acceptInsecureCerts": True,
            "timeouts": {"implicit": WAIT * 1000, "pageLoad": WAIT * 1000},
            "goog:loggingPrefs": {"browser": "ALL"},
            "goog:chromeOptions": {"args": arguments}}}})
        self.base += "/session/" + session["sessionId"]

    def start(self, directory):
        """Starts the driver and gives its port. It looks for one that is free for IPv4, then takes
        it for IPv6 as well: where somebody else was faster, it ends."""
        said = b""
        for _ in range(5):
            self.process = subprocess.Popen(
                ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=self.log,
                env={"PATH": os.environ["PATH"], "HOME": directory, "TMPDIR": directory,
                     "LANG": "C.UTF-8"})
            for line in self.process.stdout:
                if b"started successfully on port" in line:
                    return int(line.split()[-1].rstrip(b"."))
                said += line
            self.process.wait()
        raise SystemExit("chromedriver did not start: " + said.decode(errors="replace"))

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data=data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=4 * WAIT) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as fault:
            raise SystemExit("%s %s: %s" % (method, path, json.load(fault)["value"]["message"]))

    def close(self):
        with contextlib.suppress(SystemExit, OSError):
            self.call("DELETE", "")
        self.log.close()

    def open(self, url):
        self.call("POST", "/url", {"url": url})

    def find(self, path):
        return self.call("POST", "/element", {"using": "xpath", "value": path})[ELEMENT]

    def text(self, path):
        return self.call("GET", "/element/%s/text" % self.find(path))

    def click(self, path):
        self.call("POST", "/element/%s/click" % self.find(path), {})

    def type(self, path, text):
        self.call("POST", "/element/%s/value" % self.find(path), {"text": text})

    def script(self, text, *arguments):
        return self.call("POST", "/execute/sync", {"script": text, "args": list(arguments)})

    def devtools(self, name, parameters=None):
        return self.call(
            "POST", "/goog/cdp/execute", {"cmd": name, "params": parameters or {}})


class Person:
    """Looks at each page as its judge."""

    def __init__(self, driver):
        self.driver = driver

    def see(self, heading):
        """Waits for the page of this heading, and judges it."""
        try:
            self.driver.find("//main/h1[starts-with(., %s)]" % json.dumps(heading))
        except SystemExit as fault:
            raise SystemExit("%s, but %s: %s" % (
                fault, self.driver.call("GET", "/url"), self.driver.call("GET", "/source")))
        self.judge_tree(heading)
        self.judge_looks(heading)
        # What it merely says (that it has forgotten what it kept) is none, nor is the status of a
        # form that is to be corrected.
        complaints = [line for line in self.driver.call("POST", "/se/log", {"type": "browser"})
                      if line["level"] != "INFO" and "status of 400" not in line["message"]]
        require(not complaints, heading, "Chromium complains: %s" % complaints)

    def judge_tree(self, page):
        """Each page has one main, one heading of the first level, a title and a language, and
        what can be used or has a landmark's role has a name."""
        nodes = self.driver.devtools("Accessibility.getFullAXTree")["nodes"]
        seen = [node for node in nodes if not node.get("ignored")]
        by_role = {}
        for node in seen:
            by_role.setdefault(node["role"]["value"], []).append(node)

        def name(node):
            return node.get("name", {}).get("value", "").strip()

        def level(node):
            return [p["value"]["value"] for p in node["properties"] if p["name"] == "level"][0]

        require(len(by_role.get("main", [])) == 1, page, "not one main landmark")
        require(len(by_role.get("banner", [])) == 1, page, "not one banner landmark")
        levels = [level(node) for node in by_role.get("heading", [])]
        require(levels[:1] == [1] and levels.count(1) == 1, page, "not one h1, first: %s" % levels)
        require(all(b - a <= 1 for a, b in zip(levels, levels[1:])), page, "levels: %s" % levels)
        for role in ("textbox", "button", "link", "region", "heading", "form"):
            for node in by_role.get(role, []):
                require(name(node) or role == "form", page, "a %s without a name" % role)
        require(self.driver.script("return document.documentElement.lang") == "en", page, "language")
        require(self.driver.script("return document.title").endswith("– Signet"), page, "title")

    def judge_looks(self, page):
        """Nothing is cut off at 320 pixels, with text twice as large either, and what is read has
        contrast (WCAG 2.2: 1.4.3, 1.4.4, 1.4.10, 1.4.11), in both colour schemes."""
        for scheme in ("light", "dark"):
            self.driver.devtools("Emulation.setEmulatedMedia", {"features": [
                {"name": "prefers-color-scheme", "value": scheme}]})
            worst = self.driver.script(CONTRAST)
            require(worst[0] >= 4.5, page, "contrast in %s: %s" % (scheme, worst))
            require(worst[1] >= 3, page, "borders in %s: %s" % (scheme, worst))
        for width, size in ((320, "100%"), (640, "200%"), (1280, "200%")):
            self.driver.devtools("Emulation.setDeviceMetricsOverride", {
                "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False})
            wide = self.driver.script(WIDTH, size)
            require(wide <= width, page, "%d pixels wide at %d, %s" % (wide, width, size))
        self.driver.devtools("Emulation.clearDeviceMetricsOverride")
        self.driver.script(WIDTH, "100%")


# The lowest contrast of any text with what is behind it, and of the border of what is used.
CONTRAST = """
const parse = text => text.match(/[\\d.]+/g).map(Number);
const light = rgb => { const part = rgb.slice(0, 3).map(v => {
    v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2]; };
const behind = node => { for (; node; node = node.parentElement) {
    const colour = parse(getComputedStyle(node).backgroundColor);
    if (colour.length < 4 || colour[3] > 0) return colour; } return [255, 255, 255]; };
const ratio = (a, b) => { const [x, y] = [light(a), light(b)];
    return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05); };
let text = 21, border = 21;
for (const node of document.body.querySelectorAll('*')) {
    const style = getComputedStyle(node);
    if ([...node.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
        text = Math.min(text, ratio(parse(style.color), behind(node)));
    if (node.matches('input:not([type=hidden]), button'))
        border = Math.min(border, ratio(parse(style.borderTopColor), behind(node.parentElement)));
}
return [text, border];
"""
WIDTH = """
document.documentElement.style.fontSize = arguments[0];
return document.documentElement.scrollWidth;
"""


def adopt_orphans():
    """What is started from here and loses its parent becomes a child of this process."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise SystemExit("prctl: %s" % os.strerror(ctypes.get_errno()))


def end_children():
    """Ends all that was started from here, and waits until it is gone: the directory is theirs."""
    with contextlib.suppress(ChildProcessError):
        while True:
            with open("/proc/self/task/%d/children" % os.getpid()) as children:
                for child in children.read().split():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(int(child), signal.SIGKILL)
            os.wait()


def require(holds, page, text):
    if not holds:
        raise SystemExit("%s: %s" % (page, text))


def main():
    url, port, account = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    adopt_orphans()
    with tempfile.TemporaryDirectory() as directory:
        try:
            driver = Driver(directory, url, port)
            try:
                use(driver, Person(driver), url, account)
            finally:
                driver.close()
        finally:
            end_children()


def use(driver, person, url, account):
    driver.open(url + "/")
    person.see("Sign in")
    # Too many bytes, which no browser counts.
    driver.type("//input[@id='account']", "é" * 100)
    driver.click("//button[text()='Sign in']")
    person.see("Sign in: please correct the name")
    described = [node.get("description", {}).get("value") for node in
                 driver.devtools("Accessibility.getFullAXTree")["nodes"]
                 if node.get("role", {}).get("value") == "textbox"]
    require(described and described[0].startswith("Not an account name"), "correction", described)
    # By the keyboard: the link on top, then the field; Enter sends the form.
    driver.call("POST", "/element/%s/clear" % driver.find("//input[@id='account']"), {})
    driver.type("//a[.='Signet']", TAB)
    focused = driver.script("return [document.activeElement.id,"
                            " getComputedStyle(document.activeElement).outlineWidth]")
    require(focused == ["account", "3px"], "focus", focused)
    driver.type("//input[@id='account']", account + ENTER)
    driver.find("//h1[.='Approve on your device']")
    # A page that looks by itself may go while it is judged: so the one that stays.
    driver.open(url + "/waiting?refresh=off")
    person.see("Approve on your device")
    shown = driver.text("//*[@id='shown']")
    driver.click("//a[.='Update it automatically']")
    print("shown: " + json.dumps(shown), flush=True)
    # Nothing more is clicked until the device has approved.
    person.see("Your account")
    print("seen: " + json.dumps(driver.text("//main")), flush=True)
    cookies = driver.call("GET", "/cookie")
    require(len(cookies) == 1 and cookies[0]["httpOnly"] and cookies[0]["sameSite"] == "Strict",
            "cookies", str(cookies))
    require(cookies[0]["secure"] == url.startswith("https:"), "cookies", str(cookies))
    print("cookie: " + json.dumps(cookies[0]["name"]), flush=True)
    # By a link of another site, which browsers send no cookie with at first.
    driver.open("data:text/html,<a href='%s/'>link</a>" % url)
    driver.click("//a")
    person.see("Your account")
    driver.click("//button[text()='Sign out']")
    person.see("You are signed out")
    # The back button shows nothing of what was there.
    driver.call("POST", "/back", {})
    person.see("Sign in")
    driver.open(url + "/")
    person.see("Sign in")
    require(account not in driver.text("//body"), "signed out", "the account is still shown")
    print("done", flush=True)


if __name__ == "__main__":
    main()
