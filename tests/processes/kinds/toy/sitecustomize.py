"""Python imports this module first when its folder is on PYTHONPATH: the toy's row is in the table before anything is derived from it."""

from nodes.kinds import KINDS, Column, ProcessKind, numbered
from nodes.trace.journal_events import JournalStored

KINDS["toy_node"] = ProcessKind(
    name="toy_node", label="toy", named=numbered("toy"), server="tests.processes.kinds.toy.server",
    help="Servers that count.", reports=JournalStored, columns=(Column("sn", "counted", summed=True),),
    says="they count", stays="they count", sign="M2 2h12v12h-12Z", linked="clients",
)  # fmt: skip
