"""Every library that is installed for the servers, the control plane or the page is imported there."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

from tests.architecture.test_imports import ROOT, imports

MODULES = {"prometheus-client": "prometheus_client", "ruamel.yaml": "ruamel"}
"""Where a module is not called like its package."""
LOADED: set[str] = set()
"""By another library alone."""
FROM = re.compile(r"""(?:from|import)\s*\(?["']([^"'.][^"']*)["']""")


def unused_in_python(wanted: Iterable[str], sources: Iterable[str]) -> set[str]:
    imported = {name.split(".")[0] for source in sources for name in imports(source)}
    return {name for name in wanted if MODULES.get(name, name) not in imported}


def package(specifier: str) -> str:
    return "/".join(specifier.split("/")[: 2 if specifier.startswith("@") else 1])


def unused_on_the_page(wanted: Iterable[str], sources: Iterable[str]) -> set[str]:
    return set(wanted) - {package(each) for source in sources for each in FROM.findall(source)}


def test_python_libraries_are_imported() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    wanted = [re.split("[~=<>]", each)[0] for each in listed]
    tops = ("nodes", "backend", "benchmarks")
    sources = [path.read_text() for top in tops for path in (ROOT / top).rglob("*.py")]
    assert unused_in_python(wanted, sources) == LOADED


def test_libraries_of_the_page_are_imported() -> None:
    wanted = json.loads((ROOT / "frontend" / "package.json").read_text())["dependencies"]
    sources = [path.read_text() for path in (ROOT / "frontend" / "src").rglob("*.ts*")]
    assert unused_on_the_page(wanted, sources) == set()


def test_an_unused_library_is_seen(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("from ruamel.yaml import YAML\nimport kazoo.client")
    (tmp_path / "a.ts").write_text('import "@mantine/core/styles.css";\nimport { max } from "d3";')
    python = unused_in_python(["ruamel.yaml", "kazoo", "rich"], [(tmp_path / "a.py").read_text()])
    assert python == {"rich"}
    page = unused_on_the_page(["@mantine/core", "d3", "codemirror"], [(tmp_path / "a.ts").read_text()])
    assert page == {"codemirror"}
