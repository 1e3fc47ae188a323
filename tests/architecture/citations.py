"""Finds the citations in files: safety rules, sections of papers, pages, links, symbols. `test_citations.py` resolves each one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PAPERS = ("CFS", "SAA", "VSSP", "DCFS2", "DCFS3")
ANY = "any"
DASH = "\N{EN DASH}"

RULE = re.compile(rf"\b[Rr]ules?\s+(\d+(?:(?:,\s+|\s+and\s+|\s+to\s+|-|{DASH})\d+)*)")
PAPER = re.compile(rf"\b(?P<paper>{'|'.join(PAPERS)})\b(?:, (?P<title>[A-Z][A-Za-z]+(?:[ -][A-Za-z]+)*))?")
NUMBER = r"\d+[a-z]?\b"
LIST = rf"{NUMBER}(?:(?:,? and |, | to |-|{DASH}){NUMBER})*"
PLACE = re.compile(
    rf"§\s?(?P<section>(?:[IVX]+|\d+)(?:\.[0-9A-F]+)*)(?:,? steps? (?P<steps>{LIST}))?(?:{DASH}(?P<until>\d+(?:\.\d+)*))?"
    rf"|\bFig(?:s?\.|ures?)\s?(?P<figures>{LIST})"
    rf"|\bTables?\s(?P<tables>[IVX]+\b|{LIST})"
    rf"|\bAlg(?:orithms?|\.)\s(?P<algorithms>{LIST})"
)
PAGE = re.compile(r"(?<![\w*{-])[A-Za-z0-9_][\w./-]*\.md\b")
LINK = re.compile(r"(?<!\\)\[[^\]\[]*\]\(([^)\s]+)\)")
SYMBOL = re.compile(r"(?P<file>[\w./-]+\.py)::(?P<name>\w+(?:\.\w+)*)")
FILE = re.compile(r"`(?P<file>[\w.*-]+(?:/[\w.*-]+)+\.(?:py|yaml|md|tsx?|json|sh))`")
HEADING = re.compile(r"^#{1,6} (.+?)\s*$", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


class Citation(NamedTuple):
    line: int
    what: str


def line_at(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def numbers(listed: str) -> Iterator[str]:
    """`1, 3 to 5` is 1, 3, 4, 5; letters after a number stay."""
    parts = re.findall(rf"({NUMBER})(?=(,? and |, | to |-|{DASH})?)", listed)
    for index, (number, _) in enumerate(parts):
        yield number
        if parts[index][1] in (" to ", "-", DASH) and number.isdigit() and parts[index + 1][0].isdigit():
            yield from (str(between) for between in range(int(number) + 1, int(parts[index + 1][0])))


def rules(text: str) -> Iterator[Citation]:
    """`safety rules 1-4`, `rule 16`, `Rules 11 and 12`: each number."""
    for found in RULE.finditer(text):
        listed = re.sub(r"\s+", " ", found[1])
        yield from (Citation(line_at(text, found.start()), number) for number in numbers(listed))


def places(found: re.Match[str]) -> Iterator[str]:
    """The places that one match of PLACE names: `§4.2.2`, `§4.2.2 step 4`, `Fig. 5`, `Table 3`, `Algorithm 2`."""
    if section := found["section"]:
        yield f"§{section}"
        yield from (f"§{section} step {number}" for number in numbers(found["steps"] or ""))
        if found["until"]:
            yield f"§{found['until']}"
    yield from (f"Fig. {number}" for number in numbers(found["figures"] or ""))
    if found["tables"]:
        tables = [found["tables"]] if found["tables"][0] in "IVX" else numbers(found["tables"])
        yield from (f"Table {number}" for number in tables)
    yield from (f"Algorithm {number}" for number in numbers(found["algorithms"] or ""))


def sections(text: str) -> Iterator[Citation]:
    """Each place of a paper: `CFS §4.2.2`, `DCFS3 Recovery`. A section belongs to the last named paper.

    A figure, table or algorithm belongs to the paper or section before it on the same line; otherwise it is `any Fig. 5`.
    """
    paper, named_at = "no paper", 0
    found = sorted([*PAPER.finditer(text), *PLACE.finditer(text)], key=lambda match: match.start())
    for match in found:
        line = line_at(text, match.start())
        if match.re is PLACE:
            named_at = line if match["section"] else named_at
            of = paper if named_at == line else ANY
            yield from (Citation(line, f"{of} {place}") for place in places(match))
            continue
        paper, named_at = match["paper"], line
        if match["title"] and paper == "DCFS3":
            yield Citation(line, f"{paper} {match['title']}")


def pages(text: str) -> Iterator[Citation]:
    """Markdown files that are named anywhere."""
    yield from (Citation(line_at(text, found.start()), found[0]) for found in PAGE.finditer(text))


def without_code(text: str) -> str:
    """Fenced blocks blanked, lines kept."""
    return FENCE.sub(lambda found: "\n" * found[0].count("\n"), text)


def links(text: str) -> Iterator[Citation]:
    """Targets of Markdown links to a file or a heading; addresses are left out."""
    for found in LINK.finditer(without_code(text)):
        if not re.match(r"[a-z]+:", found[1]):
            yield Citation(line_at(text, found.start()), found[1])


def symbols(text: str) -> Iterator[Citation]:
    yield from (Citation(line_at(text, found.start()), found[0]) for found in SYMBOL.finditer(text))


def files(text: str) -> Iterator[Citation]:
    for found in FILE.finditer(text):
        if "NAME" not in found["file"]:
            yield Citation(line_at(text, found.start()), found["file"])


# --- resolution -----------------------------------------------------------------------------------------------------


def slug(heading: str) -> str:
    """The anchor of a heading on its page."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")


@cache
def anchors(path: Path) -> frozenset[str]:
    found: set[str] = set()
    for heading in HEADING.findall(without_code(path.read_text())):
        name, again = slug(heading), 1
        while name in found:
            name, again = f"{slug(heading)}-{again}", again + 1
        found.add(name)
    return frozenset(found)


def leads(path: Path, target: str) -> bool:
    """Whether a link in this file resolves to a file, and to a heading in it."""
    name, _, anchor = target.partition("#")
    goal = (path.parent / name).resolve() if name else path
    return goal.exists() and (not anchor or goal.suffix != ".md" or anchor in anchors(goal))


def rules_of(page: str) -> set[str]:
    """The rules with a heading."""
    return {found[1] for heading in HEADING.findall(page) if (found := re.match(r"Rule (\d+): ", heading))}


def sections_of(page: str) -> set[str]:
    """Sections by the paper's short name, from papers.md: the first cells of the tables in each chapter."""
    known: set[str] = set()
    for chapter in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        paper = chapter.split(":", 1)[0]
        for cell in re.findall(r"^\| ([^|]+?) \|", chapter, re.MULTILINE):
            named = [place for found in PLACE.finditer(cell) for place in places(found)]
            known |= {f"{paper} {place}" for place in named or [cell]}
            known |= {f"{ANY} {place}" for place in named if not place.startswith("§")}
    return known


class Row(NamedTuple):
    """One line of a paper's table."""

    place: str
    code: str
    tests: str


def rows_of(page: str) -> list[Row]:
    cells = (line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| "))
    return [Row(each[0], each[2], each[3]) for each in cells if len(each) == 4 and each[2] != "code"]


def is_procedure(symbol: str) -> bool:
    """Whether a symbol is a function or a method by its name."""
    return symbol.rsplit("::", 1)[1].split(".")[-1].lstrip("_")[:1].islower()


def is_run(symbol: str) -> bool:
    """Whether pytest runs it: a test, or a schedule that is in its module's table."""
    name, _, test = symbol.partition("::")
    if Path(name).name.startswith("test_"):
        return test.startswith("test_")
    return bool(re.search(rf'^    "{test}": \(?{test}\b', (ROOT / name).read_text(), re.MULTILINE))


@cache
def defined(path: Path) -> frozenset[str]:
    """Dotted names of a module's definitions."""
    found: set[str] = set()

    def walk(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                found.add(prefix + node.name)
                if isinstance(node, ast.ClassDef):
                    walk(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                found.update(prefix + target.id for target in targets if isinstance(target, ast.Name))

    walk(ast.parse(path.read_text()).body, "")
    return frozenset(found)


def bases(path: Path) -> list[Path]:
    """Directories against which a file's references are resolved: the root, `nodes/`, `scenarios/`, and every folder above the file."""
    return [
        ROOT,
        ROOT / "nodes",
        ROOT / "scenarios",
        *(folder for folder in path.parents if folder.is_relative_to(ROOT)),
    ]


def stands(path: Path, name: str) -> bool:
    """Whether a file named in this one exists."""
    return any(True for base in bases(path) for _ in base.glob(name))


def is_defined(path: Path, symbol: str) -> bool:
    name, _, dotted = symbol.partition("::")
    return any(dotted in defined(base / name) for base in bases(path) if (base / name).is_file())
