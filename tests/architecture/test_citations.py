"""Citations resolve in the repository: safety rules, sections of papers, pages, links, symbols, switches."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from nodes.config import Holes
from nodes.mutations import Mutations
from tests.architecture import citations
from tests.architecture.citations import ROOT, Citation
from tests.architecture.test_repository import committed, text_of

TEXTS = (".py", ".md", ".yaml", ".yml", ".ts", ".tsx", ".sh", ".toml", "")
MINE = ("citations.py", "test_citations.py")
SWITCH = re.compile(r"^paper: .*\bhole (\w+)", re.MULTILINE)
STEP = re.compile(r"step|Algorithm|Recovery|^§4\.2\.3")
"""Rows of procedures."""
Find = Callable[[str], Iterator[Citation]]


@cache
def texts() -> dict[Path, str]:
    chosen = [path for path in committed() if path.suffix in TEXTS and path.name not in (*MINE, "LICENSE")]
    return {path: text_of(path) for path in chosen}


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text()


def lost(find: Find, resolves: Callable[[Path, str], bool], suffixes: tuple[str, ...] = TEXTS) -> list[str]:
    """One line for each citation that does not resolve."""
    return [
        f"{path.relative_to(ROOT)}:{line} cites {what}"
        for path, text in texts().items()
        if path.suffix in suffixes
        for line, what in find(text)
        if not resolves(path, what)
    ]


def test_every_safety_rule_that_is_cited_has_a_heading() -> None:
    known = citations.rules_of(page("safety.md"))
    assert known and not (found := lost(citations.rules, lambda _, rule: rule in known)), found


def test_every_section_of_a_paper_that_is_cited_has_a_row() -> None:
    known = citations.sections_of(page("papers.md"))
    assert known and not (found := lost(citations.sections, lambda _, place: place in known)), found


def names(finder: Find, cell: str) -> list[str]:
    return [what for _, what in finder(cell)]


def test_every_row_of_a_paper_leads_to_code_and_to_a_test() -> None:
    """A dash says that there is none; that what is named is there is the affair of the tests below."""
    for row in citations.rows_of(page("papers.md")):
        code, tests = names(citations.symbols, row.code), names(citations.symbols, row.tests)
        assert code or names(citations.files, row.code) or row.code == "\N{EM DASH}", row
        assert tests or names(citations.files, row.tests) or row.tests == "\N{EM DASH}", row
        assert all(citations.is_run(symbol) for symbol in tests), row


def test_every_step_of_a_paper_leads_to_what_does_it_and_to_a_test_that_is_run() -> None:
    rows = [row for row in citations.rows_of(page("papers.md")) if STEP.search(row.place)]
    assert len(rows) > 15
    for row in rows:
        assert any(citations.is_procedure(symbol) for symbol in names(citations.symbols, row.code)), row
        assert names(citations.symbols, row.tests), row


def test_every_test_of_a_papers_sentence_is_in_its_row() -> None:
    cited = {
        symbol
        for row in citations.rows_of(page("papers.md"))
        for symbol in names(citations.symbols, row.tests)
    }
    for path in (ROOT / "tests" / "papers").glob("test_*.py"):
        tests = {
            f"tests/papers/{path.name}::{name}"
            for name in citations.defined(path)
            if name.startswith("test_")
        }
        assert tests and tests <= cited, tests - cited


def test_every_page_that_is_named_is_there() -> None:
    names = {path.name for path in committed()}

    def resolves(path: Path, name: str) -> bool:
        return citations.stands(path, name) if "/" in name else name in names

    assert not (found := lost(citations.pages, resolves)), found


def test_every_link_leads_to_a_file_and_a_heading() -> None:
    assert not (found := lost(citations.links, citations.leads, (".md",))), found


def test_every_symbol_that_is_named_is_defined() -> None:
    assert not (found := lost(citations.symbols, citations.is_defined, (".md",))), found


def test_every_file_that_a_page_names_is_there() -> None:
    assert not (found := lost(citations.files, citations.stands, (".md",))), found


def test_every_switch_has_its_place_in_the_rules() -> None:
    rules = page("safety.md")
    missing = [hole for hole in Holes.__struct_fields__ if f"`{hole}`" not in rules]
    assert not missing, missing
    named = {name for text in texts().values() for name in SWITCH.findall(text)}
    assert named <= set(Holes.__struct_fields__), named
    switches = {*Holes.__struct_fields__, *Mutations.__struct_fields__}
    listed = set(re.findall(r"^- \*\*(?:Switch|Mutation)\*\*: (.*)$", rules, re.MULTILINE))
    reported = {name for line in listed for name in re.findall(r"`(\w+)`", line)}
    assert reported and reported <= switches, reported - switches


def test_every_rule_says_what_it_corrects_and_what_checks_it() -> None:
    sections = re.split(r"^## Rule (\d+): ", page("safety.md"), flags=re.MULTILINE)
    numbers, bodies = sections[1::2], sections[2::2]
    assert numbers == [str(number) for number in range(1, len(numbers) + 1)]
    checks = "".join(path.read_text() for path in (ROOT / "nodes" / "invariants").glob("*.py"))
    names = set(re.findall(r'^    name = "(.+)"$', checks, re.MULTILINE))
    for number, body in zip(numbers, bodies, strict=True):
        said = dict(re.findall(r"^- \*\*(\w+)\*\*: (.+)$", body, re.MULTILINE))
        assert {"Corrects", "Code", "Invariant", "Tests"} <= set(said), number
        assert "Switch" in said or "Mutation" in said, number
        invariants = {name for name in said["Invariant"].split("; ") if "orphan scan" not in name}
        assert invariants and invariants <= names, (number, invariants - names)
        assert "`tests/" in said["Tests"], number


# --- the finder -----------------------------------------------------------------------------------------------------


def found(find: Find, text: str) -> list[str]:
    return [what for _, what in find(text)]


def test_rules_are_found_in_every_form() -> None:
    assert found(citations.rules, "safety rules 1-4, 7") == ["1", "2", "3", "4", "7"]
    assert found(citations.rules, "(CFS §3.1; safety rule 99)") == ["99"]
    assert found(citations.rules, "Rules 11 to 13 and 20; a rule") == ["11", "12", "13", "20"]
    assert found(citations.rules, "as safety\nrule 5 says") == ["5"]


def test_sections_are_found_under_the_paper_that_was_named_last() -> None:
    assert found(citations.sections, "CFS §4.2.2 step 4, Fig. 5; VSSP §III.D, Alg. 2") == [
        "CFS §4.2.2", "CFS §4.2.2 step 4", "CFS Fig. 5", "VSSP §III.D", "VSSP Algorithm 2",
    ]  # fmt: skip
    assert found(citations.sections, "DCFS2 §5.1, Figures 6 to 8\nand §5.2.1, Tables 4 and 5") == [
        "DCFS2 §5.1", "DCFS2 Fig. 6", "DCFS2 Fig. 7", "DCFS2 Fig. 8", "DCFS2 §5.2.1", "DCFS2 Table 4", "DCFS2 Table 5",
    ]  # fmt: skip
    assert found(citations.sections, "(DCFS3, Recovery; CFS §5.2\N{EN DASH}5.4)") == [
        "DCFS3 Recovery",
        "CFS §5.2",
        "CFS §5.4",
    ]
    assert found(citations.sections, "nobody's §1") == ["no paper §1"]
    assert found(citations.sections, "CFS §5.5.2\nand Table 3") == ["CFS §5.5.2", "any Table 3"]


def test_what_the_pages_have_is_read_off_them() -> None:
    assert citations.rules_of("# Rules\n## Rule 3: members\n## Other") == {"3"}
    known = citations.sections_of(
        "# P\n\n## CFS: A\n| §1 | x |\n| §4.4 steps 1 to 3 | Fig. 9 |\n## DCFS3: B\n| Recovery | y |\n"
    )
    assert known == {"CFS §1", "CFS §4.4", *(f"CFS §4.4 step {n}" for n in (1, 2, 3)), "DCFS3 Recovery"}


def test_a_planted_bad_citation_is_lost() -> None:
    known = citations.rules_of(page("safety.md"))
    assert [rule for rule in found(citations.rules, "safety rules 1 and 99") if rule not in known] == ["99"]
    places = citations.sections_of(page("papers.md"))
    bad = [place for place in found(citations.sections, "CFS §4.2.2, §9.9, Fig. 77") if place not in places]
    assert bad == ["CFS §9.9", "CFS Fig. 77"]


def test_a_planted_bad_link_is_lost() -> None:
    readme = ROOT / "README.md"
    text = "[a](docs/safety.md#rule-0) [b](docs/nowhere.md) [c](https://example.org/x) ```\n[d](no)\n```"
    assert found(citations.links, text)[:2] == ["docs/safety.md#rule-0", "docs/nowhere.md"]
    assert not any(citations.leads(readme, target) for target in ("docs/safety.md#rule-0", "docs/nowhere.md"))
    assert citations.leads(readme, "docs/safety.md")


def test_a_planted_bad_name_is_lost() -> None:
    assert found(citations.pages, "see `elsewhere.md` and docs/safety.md.") == [
        "elsewhere.md",
        "docs/safety.md",
    ]
    assert found(citations.symbols, "`nodes/units.py::Nothing.at_all`") == ["nodes/units.py::Nothing.at_all"]
    path = ROOT / "README.md"
    assert not citations.is_defined(path, "nodes/units.py::Nothing") and citations.is_defined(
        path, "nodes/scope.py::Scope"
    )
    assert found(citations.files, "`nodes/nowhere.py` `a.py`") == ["nodes/nowhere.py"]
    assert not citations.stands(path, "nodes/nowhere.py") and citations.stands(
        path, "tests/*/test_citations.py"
    )
