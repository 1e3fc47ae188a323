"""The names of what is in every cluster beside its servers."""

CLIENT = "client1"
COORDINATION = "coordination"
RELAYS = "relays"
CONTROL = "control"
EVERYBODY = "*"
