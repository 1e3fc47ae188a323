"""One test for each sentence of the papers that is claimed here, with its section; in the simulator, by what is sent and told alone.

Where another suite has a schedule of its own for a sentence, it is not repeated.
"""
