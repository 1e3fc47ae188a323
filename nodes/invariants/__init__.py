"""What must always hold, checked from events alone (nodes/invariants/README.md)."""
