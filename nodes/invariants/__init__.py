"""Invariants of a cluster, checked from events alone (nodes/invariants/README.md)."""
