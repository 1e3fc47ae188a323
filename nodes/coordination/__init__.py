"""Coordination: the pure znode tree, and the embedded server that speaks ZooKeeper's wire protocol."""
