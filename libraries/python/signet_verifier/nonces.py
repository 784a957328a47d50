# SPDX-License-Identifier: Apache-2.0
"""Stores that make a request code valid once."""
from __future__ import annotations

import heapq
import threading
import time
from typing import Callable, List, Protocol, Set, Tuple

from .failures import VerificationFailure

# How far a code's time may be from the clock, before and after it, in seconds.
WINDOW_SECONDS = 30
# How long a nonce is stored after its code was issued, in seconds.
NONCE_SECONDS = 300


class NonceStore(Protocol):
    """What a verifier needs of a store; several processes of a back end must share one."""

    def add(self, key: str, issued: int) -> bool:
        """Stores a key at least until `NONCE_SECONDS` after `issued`; False if it is there already.

        Looking and storing must be one step: of any number of concurrent calls with one key, one
        returns True. A store that cannot tell raises `VerificationFailure("unavailable", …)`.
        """
        ...


class MemoryNonces:
    """A store in the memory of one process, for use by any number of threads.

    It never drops a nonce that could still be used: when it holds `limit` of them, it refuses
    further codes as `unavailable`. It records up to which time it has deleted nonces, and refuses
    older codes as `clock`, so no change of the clock makes a code valid twice.
    """

    def __init__(
        self, limit: int = 100_000, clock: Callable[[], float] = time.time
    ) -> None:
        if limit < 1:
            raise ValueError("limit must be at least 1")
        self._limit = limit
        self._clock = clock
        self._lock = threading.Lock()
        self._keys: Set[str] = set()
        self._by_time: List[Tuple[int, str]] = []
        # Codes that expire before this may have been deleted.
        self._forgotten_before = 0

    def add(self, key: str, issued: int) -> bool:
        """See `NonceStore.add`."""
        expires = issued + NONCE_SECONDS
        with self._lock:
            self._forget(int(self._clock()))
            if key in self._keys:
                return False
            if expires < self._forgotten_before:
                raise VerificationFailure("clock", "the nonces of that time have been deleted")
            if len(self._keys) >= self._limit:
                raise VerificationFailure("unavailable", "the store of nonces is full")
            self._keys.add(key)
            heapq.heappush(self._by_time, (expires, key))
            return True

    def _forget(self, now: int) -> None:
        while self._by_time and self._by_time[0][0] < now:
            expires, key = heapq.heappop(self._by_time)
            self._keys.remove(key)
            self._forgotten_before = max(self._forgotten_before, expires + 1)
