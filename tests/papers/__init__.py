"""One test for each claimed sentence of the papers, with its section. The tests use the simulator, and judge only messages and events.

A sentence with a schedule in another suite is not repeated here.
"""
