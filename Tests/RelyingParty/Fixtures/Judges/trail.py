# SPDX-License-Identifier: Apache-2.0
"""Checks an export of the audit trail as docs/admin/SERVER-OPERATE.md describes it.

Reads a file with the output of `signet-server admin audit export`; writes the last position and hash, or the
first position that does not follow from the one before it.
"""

import hashlib
import json
import sys

TEXTS = ["event", "outcome", "application", "account", "registration", "address", "agent",
         "detail", "apiKey"]

position, digest = 0, bytes(32)
for text in open(sys.argv[1], encoding="utf-8"):
    line = json.loads(text)
    number = lambda value: value.to_bytes(8, "big", signed=True)
    content = b"signet audit 1" + digest
    content += number(line["position"]) + number(line["id"])
    content += number(line["sealed"]) + number(line["time"])
    for name in TEXTS:
        value = line[name].encode()
        content += number(len(value)) + value
    position += 1
    digest = hashlib.sha256(content).digest()
    if line["position"] != position or line["hash"] != digest.hex():
        sys.exit(f"wrong at {position}")
print(f"{position}:{digest.hex()}")
