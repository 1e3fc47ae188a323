"""Faults tied to progress (placeholder until merged)."""

from __future__ import annotations


def arm(cluster, moment, strike):
    return None
