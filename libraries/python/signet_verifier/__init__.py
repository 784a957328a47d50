# SPDX-License-Identifier: Apache-2.0
"""For back ends: verifies what Signet signs, offline, and calls signet-server.

libraries/README.md in Signet's repository says how to use this, and what only the server can tell.
"""
from .answers import Activation, Authentication, Login, Operation, PendingLogin, Registration, Tokens
from .answers import TokenState
from .callbacks import CallbackEvent, CallbackVerifier
from .calls import CALL_CODES, CallFailure
from .client import SignetClient
from .failures import CODES, VerificationFailure
from .keys import KeySet, KeySource, https_fetch
from .nonces import NONCE_SECONDS, WINDOW_SECONDS, MemoryNonces, NonceStore
from .requests import Device, MACToken, RequestVerifier, VerifiedRequest, active_devices
from .sshsig import fingerprint
from .tokens import AccessToken, TokenVerifier, bearer_token
from .verdicts import Verdict, VerdictVerifier

__all__ = [
    "CALL_CODES", "CODES", "NONCE_SECONDS", "WINDOW_SECONDS", "AccessToken", "Activation",
    "Authentication", "CallFailure", "CallbackEvent", "CallbackVerifier", "Device", "KeySet",
    "KeySource", "Login", "MACToken", "MemoryNonces", "NonceStore", "Operation", "PendingLogin",
    "Registration", "RequestVerifier", "SignetClient", "TokenState", "TokenVerifier", "Tokens",
    "Verdict", "VerdictVerifier", "VerificationFailure", "VerifiedRequest", "active_devices",
    "bearer_token", "fingerprint", "https_fetch",
]
