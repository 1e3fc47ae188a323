"""Short files, lock files without addresses, and no trace of the machine that they were written on."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINES_MOST = 400
ADDRESS = re.compile(r"https?://", re.IGNORECASE)
MACHINE = re.compile(
    r"/work/(main|shared|\.library)|/root/|pypi\.org|registry\.npmjs\.org|files\.pythonhosted"
)


def committed() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    return [ROOT / name for name in listed.decode().split("\0") if name and (ROOT / name).is_file()]


def text_of(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def test_no_file_is_too_long() -> None:
    for path in committed():
        if path.suffix in (".py", ".ts", ".tsx") and path.relative_to(ROOT).parts[0] != "tests":
            lines = text_of(path).count("\n")
            assert lines <= LINES_MOST, f"{path.relative_to(ROOT)} has {lines} lines"


def test_lock_files_bear_no_addresses() -> None:
    for name in ("requirements.lock", "requirements-test.lock", "frontend/package-lock.json"):
        assert not ADDRESS.search(text_of(ROOT / name)), name


def test_nothing_reports_of_the_machine() -> None:
    for path in committed():
        if path.suffix in (".png", ".lock") or path == Path(__file__).resolve():
            continue
        found = MACHINE.search(text_of(path))
        assert found is None, f"{path.relative_to(ROOT)} says {found[0] if found else ''}"


def test_an_address_and_a_machine_path_are_seen() -> None:
    assert ADDRESS.search('"resolved": "HTTPS://example/x.tgz"')
    assert MACHINE.search("see /work/main/x") and MACHINE.search("index = https://pypi.org/simple")
