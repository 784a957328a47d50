# SPDX-License-Identifier: Apache-2.0
"""What a server, or whoever answers in its place, may answer to a call, byte for byte, and what a client
makes of it: `valid` with a result, or the failure's code, status and the rest.

Every case is of the call that shows the state of the registration `ID`, unless it says another. An
answer is a list: a text of one character a byte, or a pair of a character and how often it comes.
"""
import json
import re

ID = "20" * 16
OTHER = "21" * 16
KEY = "sgk_" + "k" * 43
REGISTRATION = {
    "registration": ID, "account": "alice", "device": "d1" * 16, "status": "ACTIVE", "flags": [],
    "failures": 0, "created": 1_795_195_440,
}
LONGEST = 50_000


def answer(body, status="200 OK", kind="application/json", length=None, more=()):
    data = (body if isinstance(body, str) else json.dumps(body)).encode("utf-8", "surrogateescape")
    lines = [f"HTTP/1.1 {status}"] + ([f"Content-Type: {kind}"] if kind else []) + list(more)
    if length != "":
        lines.append(f"Content-Length: {len(data) if length is None else length}")
    # One character a byte.
    return "\r\n".join(lines + ["", ""]) + data.decode("latin1")


def problem(status, code, title="a text", more=(), **members):
    number = int(status.split()[0])
    return answer(
        {"code": code, "status": number, "title": title, "type": "urn:signet:problem:" + code}
        | members, status, "application/problem+json", more=more)


def chunked(*chunks, end="0\r\n\r\n"):
    head = answer("", length="", more=["Transfer-Encoding: chunked"])
    return head + "".join(f"{len(chunk):x}\r\n{chunk}\r\n" for chunk in chunks) + end


def valid(name, raw, result=REGISTRATION, **other):
    return {"name": name, "answer": raw, "expected": "valid", "result": result} | other


def refused(name, raw, code, status, **other):
    """A failure; `...` is a status that is not judged: the readers of HTTP refuse it sooner or later."""
    judged = {} if status is ... else {"status": status}
    return {"name": name, "answer": raw, "expected": code} | judged | other


def unusable(name, raw, status=200, **other):
    return refused(name, raw, "unusable-answer", status, mayHaveHappened=True, **other)


def without(name):
    return {member: value for member, value in REGISTRATION.items() if member != name}


def cases():
    text = json.dumps(REGISTRATION)
    found = accepted(text) + refusals() + other_answers(text) + wrong_members(text) + lengths(text)
    return [case | {"answer": parts(case["answer"])} for case in found]


def parts(text):
    found, place = [], 0
    for run in re.finditer(r"(.)\1{999,}", text):
        found += [text[place : run.start()], [run[1], len(run[0])]]
        place = run.end()
    return [part for part in found + [text[place:]] if part]


def accepted(text):
    proven = REGISTRATION | {
        "credential": "c1" * 16, "fingerprint": "SHA256:x", "deviceName": "laptop", "key": "tpm",
        "secureBoot": "on", "attested": ["key"], "factors": ["fingerprint"], "lastUsed": 1,
        "reason": "device",
    }
    return [
        valid("a registration", answer(REGISTRATION)),
        valid("one with all members", answer(proven), proven),
        valid("a member that a later server adds", answer(REGISTRATION | {"colour": {"a": [1]}})),
        valid("a name beyond ASCII", answer(REGISTRATION | {"deviceName": "é"}),
              REGISTRATION | {"deviceName": "é"}),
        valid("a charset that is named", answer(text, kind="application/json; charset=utf-8")),
        valid("chunks, as a proxy may make them", chunked(text[:7], text[7:])),
        valid("an answer before the answer", "HTTP/1.1 100 Continue\r\n\r\n" + answer(text)),
        valid("HTTP 1.0", answer(text).replace("HTTP/1.1", "HTTP/1.0", 1)),
        valid("bytes after the answer", answer(text) + answer(text)),
    ]


def refusals():
    return [
        refused("a wrong key", problem("401 Unauthorized", "api-key-refused"),
                "api-key-refused", 401, message="a text", mayHaveHappened=False),
        refused("another application's", problem("404 Not Found", "not-found"), "not-found", 404),
        refused("a scope that is missing",
                problem("403 Forbidden", "scope-missing", scope="registrations"),
                "scope-missing", 403, details={"scope": "registrations"}),
        refused("a conflict", problem("409 Conflict", "conflict"), "conflict", 409),
        refused("no database", problem("503 Service Unavailable", "unavailable", more=["Retry-After: 7"]),
                "unavailable", 503, retryAfter=7, mayHaveHappened=True),
        refused("a Retry-After that is no number",
                problem("503 Service Unavailable", "unavailable", more=["Retry-After: soon"]),
                "unavailable", 503, retryAfter=None),
        refused("a code that a later server has", problem("418 No", "tea-pot"), "tea-pot", 418),
        refused("a title with the key",
                problem("401 Unauthorized", "api-key-refused", title=f"not {KEY}!"),
                "api-key-refused", 401, message="not sgk_…!"),
        refused("a title that would add a line",
                problem("409 Conflict", "conflict", title="a\nb\x1b[31m\u202ec\u2028"), "conflict", 409,
                message="a\ufffdb\ufffd[31m\ufffdc\ufffd"),
        refused("a title without end", problem("409 Conflict", "conflict", title="x" * 9000),
                "conflict", 409, message="x" * 500),
    ]


def other_answers(text):
    elsewhere = ["Location: /v1/registrations/" + ID]
    return [
        unusable("a redirection", answer("", "302 Found", None, more=elsewhere), 302),
        unusable("a permanent redirection with the right body",
                 answer(text, "308 Permanent Redirect", more=elsewhere), 308),
        unusable("a redirection that is a problem",
                 problem("301 Moved Permanently", "moved", more=elsewhere), 301),
        unusable("a proxy's own page", answer("<html>", "502 Bad Gateway", "text/html"), 502),
        unusable("an error without a body", answer("", "500 Internal Server Error", None), 500),
        unusable("a problem of another status",
                 problem("404 Not Found", "not-found").replace("404 Not Found", "403 Forbidden", 1), 403),
        unusable("a problem as plain JSON", answer(
            {"code": "not-found", "status": 404, "title": "x"}, "404 Not Found"), 404),
        unusable("a problem with status 200", problem("200 OK", "not-found")),
        unusable("a problem without a code", answer(
            {"status": 404, "title": "x"}, "404 Not Found", "application/problem+json"), 404),
        unusable("a problem that says that nothing was sent",
                 problem("500 Internal Server Error", "not-sent"), 500),
        unusable("a code that is none", problem("409 Conflict", "a\nb"), 409),
        unusable("another success", answer(text, "201 Created"), 201),
        unusable("no content", "HTTP/1.1 204 No Content\r\n\r\n", 204),
        unusable("another protocol", "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
                 "Upgrade: websocket\r\n\r\n", 101),
        unusable("no type", answer(text, kind=None)),
        unusable("another type", answer(text, kind="text/html")),
        unusable("no HTTP", "SSH-2.0-OpenSSH_9.2p1\r\n", None),
        unusable("a header without end", "HTTP/1.1 200 OK\r\nX: " + "x" * 200_000, ...),
        refused("nothing at all", "", "no-answer", None, mayHaveHappened=True),
        unusable("a list", answer([REGISTRATION]), ...),
        unusable("a text after the document", answer(text + "{}")),
        unusable("a document that is cut off", answer(text[:-1])),
        unusable("an empty document", answer("")),
        unusable("a name twice", answer(text[:-1] + ', "status": "ACTIVE"}')),
        unusable("a byte order mark", answer("\ufeff" + text)),
        unusable("bytes that are not UTF-8", answer(text.replace("alice", "al\udcffice"))),
        unusable("an unpaired surrogate", answer(text.replace("alice", "al\\ud800ice"))),
        unusable("NaN", answer(text.replace("0,", "NaN,"))),
    ]


def wrong_members(text):
    wrong = {
        "failures": ["0", True, -1, 0.5, 1e3, 2**53, None], "flags": ["", {}, [1], None],
        "status": [1, None, ["ACTIVE"]], "account": [None, 7, ["alice"]],
        "device": ["D1" * 16, "d1" * 15, "", None], "credential": [None, "", "c1" * 17],
        "lastUsed": [None, "1"],
    }
    return [
        unusable(f"without '{name}'", answer(without(name)), ...) for name in REGISTRATION
    ] + [
        unusable(f"'{name}' that is {json.dumps(value)}", answer(REGISTRATION | {name: value}), ...)
        for name, values in wrong.items() for value in values
    ] + [
        unusable("another registration", answer(REGISTRATION | {"registration": OTHER}), ...),
        unusable("an account's list with another account's",
                 answer({"registrations": [REGISTRATION, REGISTRATION | {"account": "bob"}]}),
                 ..., call="registrations"),
        unusable("a list that is none", answer({"registrations": REGISTRATION}), ...,
                 call="registrations"),
        valid("an empty list", answer({"registrations": []}), [], call="registrations"),
        valid("a token that is not valid", answer({"active": False}), None, call="introspect"),
        unusable("a token that is perhaps valid", answer({"active": "true"}), ..., call="introspect"),
        unusable("a token that is valid, of nobody", answer({"active": True}), ..., call="introspect"),
    ]


def lengths(text):
    return [
        unusable("more bytes announced than come", answer(text, length=len(text) + 1)),
        unusable("fewer bytes announced than the document has", answer(text, length=len(text) - 1), ...),
        unusable("no length", answer(text, length="")),
        unusable("two lengths", answer(text, more=[f"Content-Length: {len(text) - 1}"]), ...),
        unusable("a length that is none", answer(text, length="many"), ...),
        unusable("chunks that are cut off", chunked(text, end="")),
        unusable("a chunk that is cut off", chunked(text)[:-9]),
        unusable("a chunk of no length", chunked(text, end="x\r\n\r\n"), ...),
        unusable("an answer that is too long", answer(text + " " * LONGEST)),
        unusable("chunks that are too long", chunked(text, *[" " * 20_000] * 3)),
        unusable("a length that is announced as too long", answer(text, length=10**15)),
        valid("an answer of the longest length", answer(text + " " * (LONGEST - len(text)))),
    ]
