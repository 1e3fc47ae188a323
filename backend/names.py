"""The names of the processes that every cluster has beside its servers."""

CLIENT = "client1"
COORDINATION = "coordination"
RELAYS = "relays"
CONTROL = "control"
EVERYBODY = "*"
