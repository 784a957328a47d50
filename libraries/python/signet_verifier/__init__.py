# SPDX-License-Identifier: Apache-2.0
"""Verifies what Signet signs, offline: request codes, access tokens, verdicts and callbacks.

libraries/README.md in Signet's repository says how to use this, and what only the server can tell.
"""
from .callbacks import CallbackEvent, CallbackVerifier
from .failures import CODES, VerificationFailure
from .keys import KeySet, KeySource, https_fetch
from .nonces import NONCE_SECONDS, WINDOW_SECONDS, MemoryNonces, NonceStore
from .requests import Device, MACToken, RequestVerifier, VerifiedRequest, active_devices
from .sshsig import fingerprint
from .tokens import AccessToken, TokenVerifier, bearer_token
from .verdicts import Verdict, VerdictVerifier

__all__ = [
    "CODES", "NONCE_SECONDS", "WINDOW_SECONDS", "AccessToken", "CallbackEvent", "CallbackVerifier",
    "Device", "KeySet", "KeySource", "MACToken", "MemoryNonces", "NonceStore", "RequestVerifier",
    "TokenVerifier", "Verdict", "VerdictVerifier", "VerificationFailure", "VerifiedRequest",
    "active_devices", "bearer_token", "fingerprint", "https_fetch",
]
