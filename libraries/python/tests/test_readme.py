# SPDX-License-Identifier: Apache-2.0
"""The Python in libraries/README.md does what the text says."""
import base64
import contextlib
import io
import json
import pathlib
import re
import types
import unittest

import signet_verifier as signet

LIBRARIES = pathlib.Path(__file__).parents[2]
README = (LIBRARIES / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


class Request:
    """What the examples use of a Flask request."""

    def __init__(self, given):
        self.headers = types.SimpleNamespace(getlist=lambda name: [given["authorization"]])
        self.method = given.get("method")
        self.environ = {"RAW_URI": given.get("resource")}
        self.body = base64.urlsafe_b64decode(given.get("body", "") + "==")

    def get_data(self):
        return self.body


def named(name):
    recorded = json.loads((LIBRARIES / "vectors/recorded.json").read_text(encoding="utf-8"))
    return recorded, next(case for case in recorded["cases"] if case["name"] == name)


class ReadmeTests(unittest.TestCase):
    def test_a_request_is_verified_in_ten_lines(self):
        recorded, case = named("a POST with a body")
        space = {"registrations_of": lambda account: recorded["registrations"]}
        exec(compile(BLOCKS[0], "README.md", "exec"), space)
        self.assertLessEqual(len([line for line in BLOCKS[0].splitlines() if line]), 10)
        verifier = space["verifier"]
        verifier._clock = lambda: case["now"] + 31
        with self.assertRaises(signet.VerificationFailure) as raised:
            space["sender"](Request(case["input"]))
        self.assertEqual(raised.exception.code, "clock")
        verifier._clock = verifier._nonces._clock = lambda: case["now"]
        self.assertEqual(space["sender"](Request(case["input"])).account, "alice")

    def test_a_token_is_verified(self):
        _, case = named("a login of alice")
        space = {}
        exec(compile(BLOCKS[1], "README.md", "exec"), space)
        space["keys"]._fetch = lambda: case["keys"]["jwks"].encode()
        space["tokens"]._clock = lambda: case["now"]
        header = {"authorization": "Bearer " + case["input"]["token"]}
        self.assertEqual(space["user"](Request(header)), "alice")

    def test_the_store_in_redis_makes_a_code_valid_once(self):
        block = re.search(r"^  ```python\n(.*?)^  ```", README, re.MULTILINE | re.DOTALL)[1]
        space = {}
        exec(re.sub(r"^  ", "", block, flags=re.MULTILINE), space)
        stored = {}

        class Redis:
            def set(self, key, value, nx, ex):
                if key in stored:
                    return None
                stored[key] = (value, nx, ex)
                return True

        nonces = space["RedisNonces"](Redis())
        self.assertEqual([nonces.add("a", 1), nonces.add("a", 1), nonces.add("b", 1)],
                         [True, False, True])
        self.assertEqual(stored["signet:a"], (1, True, 330))

    def test_a_call_that_cannot_be_made_says_so(self):
        # Nothing listens there.
        block = BLOCKS[2].replace("https://id.example.org", "http://127.0.0.1:1")
        self.assertNotEqual(block, BLOCKS[2])
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(block, "README.md", "exec"), {"api_key": "sgk_" + "k" * 43})
        self.assertEqual(said.getvalue(), "not-sent False\n")

    def test_every_call_is_listed(self):
        table = README[README.index("| Python | JavaScript |") : README.index("- **What fails**")]
        calls = {name for name in vars(signet.SignetClient) if not name.startswith("_")}
        self.assertEqual(set(re.findall(r"`([a-z_]+)(?:`|\()", table)) & calls, calls)

    def test_the_codes_are_listed(self):
        table = README[README.index("## Failure codes") : README.index("## Speed")]
        rows = [row.split("|")[1] for row in table.splitlines() if row.startswith("| `")]
        self.assertEqual(
            {code for row in rows for code in re.findall(r"`([a-z-]+)`", row)}, signet.CODES)


if __name__ == "__main__":
    unittest.main()
