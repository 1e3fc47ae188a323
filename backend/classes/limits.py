"""How often somebody may try: buckets of tokens, one for each address or person, and no more of them than memory is for."""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec


class TokenRule(msgspec.Struct, frozen=True):
    most: float
    """Tokens of a full bucket."""
    every_s: float
    """Time after which one more comes."""


class TokenBucket(msgspec.Struct):
    left: float
    at_s: float


class TokenLimit:
    """Buckets by key. When there are too many, further keys share one, so that a flood of addresses is one caller."""

    def __init__(self, rule: TokenRule, keys_max: int = 1_024, clock: Callable[[], float] = time.monotonic):
        self._rule = rule
        self._keys_max = keys_max
        self._clock = clock
        self._buckets: dict[str, TokenBucket] = {}

    def wait_s(self, key: str) -> float:
        """How long this caller has to wait for a token; 0 when there is one."""
        bucket = self._filled(key)
        return max(0.0, (1.0 - bucket.left) * self._rule.every_s)

    def take(self, key: str) -> None:
        """Takes a token; a bucket is never more than empty."""
        bucket = self._filled(key)
        bucket.left = max(0.0, bucket.left - 1.0)

    def _filled(self, key: str) -> TokenBucket:
        now_s, rule = self._clock(), self._rule
        bucket = self._bucket(key, now_s)
        bucket.left = min(rule.most, bucket.left + (now_s - bucket.at_s) / rule.every_s)
        bucket.at_s = now_s
        return bucket

    def _bucket(self, key: str, now_s: float) -> TokenBucket:
        if key not in self._buckets and len(self._buckets) >= self._keys_max:
            self._forget_full(now_s)
        if key not in self._buckets and len(self._buckets) >= self._keys_max:
            key = ""
        return self._buckets.setdefault(key, TokenBucket(self._rule.most, now_s))

    def _forget_full(self, now_s: float) -> None:
        """A bucket that is full again says nothing about its caller."""
        rule = self._rule
        self._buckets = {
            key: bucket
            for key, bucket in self._buckets.items()
            if bucket.left + (now_s - bucket.at_s) / rule.every_s < rule.most
        }
