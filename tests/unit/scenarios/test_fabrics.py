"""What a file asks of a fabric that cannot do it is refused before anything is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.errors import FaultUnsupported
from backend.fabrics.verbs import ELSEWHERE
from backend.scenarios.cli import run_command

FILE = """
name: Messages come twice
teaches: that only the simulator can do this
steps:
  - {{at: 1s, fault: take_lock, target: g1}}
  - {{at: 2s, fault: {verb}, target: active of g1, options: {{share: 0.5}}}}
end: {{at: 3s}}
"""


@pytest.mark.parametrize("on", ["processes", "containers"])
@pytest.mark.parametrize("verb", ELSEWHERE)
def test_a_verb_of_the_simulator_is_refused_in_one_line(tmp_path: Path, verb: str, on: str) -> None:
    file = tmp_path / "twice.yaml"
    file.write_text(FILE.format(verb=verb))
    with pytest.raises(FaultUnsupported, match=rf"^only the simulator .*; real servers cannot do {verb}$"):
        run_command(file, on, None, None, 1.0)
    assert run_command(file, "simulated", None, None, 1.0) == 0
