"""Scenarios: a cluster, a workload, timed or conditional faults, and expectations; on any fabric."""
