#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the vectors that are made up: all but recorded.json.

    libraries/vectors/generate.py

Keys are in keys/ and serve for nothing else. Everything but the signatures, which openssl draws at
random, is the same each time. recorded.json is by record.py.
"""
import json
import pathlib

import answer_cases
import callback_cases
import curve_cases
import mac_cases
import request_cases
import token_cases
import verdict_cases

# 2026-11-20T17:24:00Z, as in docs/developer/PROTOCOL.md.
NOW = 1_795_195_440


def write(name, about, cases, *, keep=None, **more):
    """Writes a file of cases; `server` is for record.py alone, unless it is to be kept."""
    for case in cases:
        if keep != "server":
            case.pop("server", None)
    names = [case["name"] for case in cases]
    twice = {name for name in names if names.count(name) > 1}
    assert not twice, twice
    text = json.dumps({"about": about} | more | {"cases": cases}, indent=1, ensure_ascii=False)
    path = pathlib.Path(__file__).parent / f"{name}.json"
    path.write_text(text + "\n", encoding="utf-8")
    accepted = sum(case["expected"] == "valid" for case in cases)
    print(f"{path.name}: {len(cases)} cases, {accepted} of them valid")


def main():
    write("request", "Authorization: Signet", request_cases.cases(request_cases.World(NOW)))
    write("mac", "Authorization: SignetMAC", mac_cases.cases(request_cases.World(NOW)))
    write("token", "access tokens and JWKS", token_cases.cases(NOW))
    write("callback", "callbacks", callback_cases.cases(NOW))
    write("verdict", "verdicts", verdict_cases.cases(NOW))
    write("curve", "ECDSA on P-256 with SHA-256", curve_cases.cases())
    write("calls/answers", "answers to calls of the server", answer_cases.cases(), id=answer_cases.ID,
          key=answer_cases.KEY, longest=answer_cases.LONGEST)


if __name__ == "__main__":
    main()
