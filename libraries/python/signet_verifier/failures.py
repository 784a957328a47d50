# SPDX-License-Identifier: Apache-2.0
"""Why something was refused: one closed list of codes, the same in every language.

libraries/README.md says what each code means and which the caller may want to tell apart.
"""
from __future__ import annotations

from typing import FrozenSet

CODES: FrozenSet[str] = frozenset(
    {
        "too-long", "malformed", "wrong-scheme", "repeated-header", "unsupported-header",
        "invalid-key", "unknown-key", "bad-signature", "bad-mac", "wrong-request",
        "wrong-audience", "wrong-issuer", "wrong-account", "wrong-device", "wrong-challenge",
        "denied", "policy", "expired", "not-yet-valid", "clock", "replayed", "unavailable",
    }
)


class VerificationFailure(Exception):
    """What was to be verified is refused; `code` is one of `CODES`.

    The text is for the log of the back end. Do not send it to the client, which learns only that
    its request was refused.
    """

    def __init__(self, code: str, detail: str) -> None:
        if code not in CODES:
            raise ValueError(f"{code!r} is not a failure code")
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
