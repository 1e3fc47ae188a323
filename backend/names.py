"""The names of the processes that every cluster has beside its servers."""

CLIENT = "client1"
COORDINATION = "coordination"
RELAYS = "relays"
CONTROL = "control"
EVERYBODY = "*"
DEFAULT_PORT = 8080
"""Port of the control plane."""
