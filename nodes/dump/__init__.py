"""Readers of a server's files without the server: they hold no lock, alter nothing, and show what is whole of a damaged file."""
