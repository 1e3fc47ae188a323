"""What must always hold, checked from events alone (protocols.md §10)."""
