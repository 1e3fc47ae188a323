"""Scenarios: a cluster, a workload, timed or conditional faults, and what is expected; on any fabric."""
