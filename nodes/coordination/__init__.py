"""Coordination: the pure znode tree, and the embedded server for ZooKeeper's wire protocol."""
