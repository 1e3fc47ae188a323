"""Scenarios for the page: their list, the check of a text, and runs."""
