"""The reader of scenario files in YAML; errors name the file and the line."""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path
from typing import Any

import msgspec
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, ReusedAnchorWarning, YAMLError

from backend.errors import Malformed
from backend.scenarios.conditions import EVENTS, condition
from backend.scenarios.durations import nanoseconds, per_second
from backend.scenarios.model import ExpectPart, Scenario, StepPart
from backend.scenarios.shapes import shape_of
from backend.shape import new_config
from nodes.config import Holes
from nodes.families import family_named
from nodes.faults import check as faults
from nodes.invariants.registry import NAMES_OF_ALL
from nodes.mutations import Mutations
from nodes.workloads.generator import WITH_CONTENT

BYTES_MAX = 1 << 20
PARTS_MAX = 100_000
"""Most values in a file; a part that is repeated by a YAML alias counts each time."""
DEPTH_MAX = 20
VARIANTS_MAX = 100
"""Most values of a matrix."""
VARIED_STEPS_MAX = 5_000
"""Most steps of all scenarios that a matrix makes."""
OPEN_MAX = 200
"""Most brackets that are open at once: the YAML reader needs quadratic time for them."""
BRACKET = re.compile(rb"[\[\]{}]")
OPERATIONS = (
    "create", "mkdir", "stat", "list", "rename", "link", "move", "delete", "rmdir", "move_directory", "set_permission",
    "put", "append", "get",
)  # fmt: skip
DOES = ("fault", "workload", "mark", "recover", "expect")
INVARIANTS = NAMES_OF_ALL
CHECKPOINT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
WHERE = re.compile(r" - at `\$(?P<path>[^`]*)`$")
PART = re.compile(r"\.([A-Za-z_]+)|\[(\d+|\.\.\.)\]")
OLD_WORDS = {
    "letters": "roles",
    "log_octets": "log_bytes",
    "set_aside": "quarantined",
    "taken_back": "rolled_back",
    "told": "reported",
}
"""Keys of the release before, in expectations and clusters; `told` also begins a condition."""
ROW = re.compile(r"^[ASJPM-]+$")
warnings.simplefilter("ignore", ReusedAnchorWarning)


class MalformedFile(Malformed):
    """An error in a file, with its line where it is known."""

    def __init__(self, path: Path, reason: str, line: int | None = None):
        super().__init__(f"{path}:{line}: {reason}" if line else f"{path}: {reason}")
        self.reason = " ".join(reason.split())
        self.line = line


class ScenarioReading(msgspec.Struct):
    """The scenarios of a file, its lines, and what a person should know about the file."""

    scenarios: list[Scenario]
    lines: Lines
    notes: list[str]


class Lines:
    """Lines of the parts of a YAML document."""

    def __init__(self, path: Path, document: Any):
        self._path = path
        self._document = document

    def wrong(self, message: str, place: list[str | int]) -> MalformedFile:
        return MalformedFile(self._path, message, self.line(place))

    def line(self, place: list[str | int]) -> int:
        """The line of a part, or of the nearest part around it that the document has."""
        node: Any = self._document
        line = getattr(getattr(node, "lc", None), "line", 0) or 0
        for key in place:
            try:
                places = node.lc
                position = places.item(key) if isinstance(key, int) else places.key(key)
                line = position[0]
                node = node[key]
            except (AttributeError, KeyError, IndexError, TypeError):
                break
        return line + 1


def read(path: Path) -> list[Scenario]:
    """The scenarios of a file: one, or one for each value of its matrix. Raises Malformed with file and line."""
    reading = read_data(data_of(path, "scenario"), path)
    for note in reading.notes:
        print(f"{path}: {note}", file=sys.stderr)
    return reading.scenarios


def read_data(data: bytes, path: Path) -> ScenarioReading:
    """The scenarios of a file's content; `path` names it in errors. Raises MalformedFile."""
    document, lines = parsed(data, path, "scenario")
    try:
        notes = in_new_words(document)
        scenario = msgspec.convert(document, Scenario)
        varied = vary(scenario)
    except msgspec.ValidationError as error:
        raise lines.wrong(*reported(str(error))) from None
    except Malformed as error:
        raise MalformedFile(path, error.message) from None
    for each in varied:
        check(each, lines)
    return ScenarioReading(varied, lines, notes)


def load(path: Path, kind: str) -> tuple[Any, Lines]:
    """A YAML document of bounded size as plain values, and its lines. `kind` names it in errors. Raises Malformed with file and line."""
    return parsed(data_of(path, kind), path, kind)


def data_of(path: Path, kind: str) -> bytes:
    """The bytes of a file of bounded size. Raises MalformedFile."""
    try:
        with path.open("rb") as file:
            data = file.read(BYTES_MAX + 1)
    except OSError as error:
        raise MalformedFile(path, error.strerror or "unreadable") from None
    if len(data) > BYTES_MAX:
        raise MalformedFile(path, f"a {kind} has at most {BYTES_MAX} bytes, this one has more")
    return data


def parsed(data: bytes, path: Path, kind: str) -> tuple[Any, Lines]:
    """The document of a file's bytes, as `load` returns it. Raises MalformedFile."""
    if most_open(data) > OPEN_MAX:
        raise MalformedFile(path, f"a {kind} is not nested so deeply")
    try:
        document = YAML(typ="rt", pure=True).load(data.decode())
    except UnicodeDecodeError:
        raise MalformedFile(path, "not UTF-8 text") from None
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise MalformedFile(path, error.problem or "not YAML", line) from None
    except (YAMLError, RecursionError, ValueError, AttributeError, TypeError) as error:
        raise MalformedFile(path, f"not YAML: {error}") from None
    try:
        return Plain(kind).of(document), Lines(path, document)
    except Malformed as error:
        raise MalformedFile(path, error.message) from None


def most_open(data: bytes) -> int:
    """The most brackets that are open at once, those in texts and comments included."""
    most = now = 0
    for found in BRACKET.finditer(data):
        now = now + 1 if found[0] in b"[{" else max(0, now - 1)
        most = max(most, now)
    return most


def in_new_words(scenario: Any) -> list[str]:
    """Puts the words of today in place of those of the release before; returns a note for each of them."""
    steps = scenario.get("steps") if isinstance(scenario, dict) else None
    parts = [
        part for part in (scenario, *(steps if isinstance(steps, list) else ())) if isinstance(part, dict)
    ]
    expected = [each for each in (part.get("expect") for part in parts) if isinstance(each, dict)]
    holders = [*expected, *(each.get("rows") for each in expected), *(part.get("cluster") for part in parts)]
    old = {"told" for part in parts if str(part.get("when")).startswith("told ")}
    for holder in (each for each in holders if isinstance(each, dict)):
        for word in OLD_WORDS.keys() & holder.keys():
            holder[OLD_WORDS[word]] = holder.pop(word)
            old.add(word)
    return [f"`{word}` is `{OLD_WORDS[word]}` now; this release still reads it" for word in sorted(old)]


class Plain:
    """A document without its lines, of bounded size: aliases make a small file a large document."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._parts = 0

    def of(self, node: Any, depth: int = 0) -> Any:
        """Raises Malformed."""
        self._parts += 1
        if depth > DEPTH_MAX:
            raise Malformed(f"a {self._kind} is not nested so deeply")
        if self._parts > PARTS_MAX:
            raise Malformed(
                f"a {self._kind} has at most {PARTS_MAX} values, with those that its aliases repeat"
            )
        if isinstance(node, dict):
            return {str(key): self.of(value, depth + 1) for key, value in node.items()}
        if isinstance(node, list):
            return [self.of(value, depth + 1) for value in node]
        if isinstance(node, bool) or node is None:
            return node
        for kind in (int, float, str):
            if isinstance(node, kind):
                return kind(node)
        return str(node)


def reported(message: str) -> tuple[str, list[str | int]]:
    """msgspec's message without its path, and the path."""
    found = WHERE.search(message)
    place: list[str | int] = []
    for name, index in PART.findall(found["path"] if found else ""):
        place.append(name if name else int(index) if index.isdigit() else 0)
    unknown = re.search(r"unknown field `([^`]*)`", message)
    if unknown:
        place.append(unknown[1])
    return message[: found.start()] if found else message, place


def vary(scenario: Scenario) -> list[Scenario]:
    if not scenario.matrix:
        return [scenario]
    (key, values), *others = scenario.matrix.items()
    if others:
        raise Malformed("matrix has one key")
    if len(values) > VARIANTS_MAX:
        raise Malformed(f"matrix has at most {VARIANTS_MAX} values")
    if len(values) * len(scenario.steps) > VARIED_STEPS_MAX:
        raise Malformed(f"the scenarios of a matrix have at most {VARIED_STEPS_MAX} steps together")
    return [put(scenario, "{" + key + "}", value) for value in values]


def put(scenario: Scenario, word: str, value: str) -> Scenario:
    data = msgspec.to_builtins(msgspec.structs.replace(scenario, matrix={}))
    varied = msgspec.convert(replaced(data, word, value), Scenario)
    if varied.name != scenario.name:
        return varied
    return msgspec.structs.replace(varied, name=f"{scenario.name} ({value})")


def replaced(data: Any, word: str, value: str) -> Any:
    """The data with a value for a word in each of its texts."""
    if isinstance(data, str):
        return data.replace(word, value)
    if isinstance(data, dict):
        return {replaced(key, word, value): replaced(each, word, value) for key, each in data.items()}
    return [replaced(each, word, value) for each in data] if isinstance(data, list | tuple) else data


# --- meaning ---------------------------------------------------------------------------------------------------------


def check(scenario: Scenario, lines: Lines) -> None:
    """Checks the constraints that types do not express. Raises Malformed."""
    for name in ("session_timeout", "heartbeat", "ack_timeout", "client_timeout", "renew_scan", "grant"):
        text_is(nanoseconds, getattr(scenario.cluster, name), lines, ["cluster", name])
    text_is(family_named, scenario.cluster.protocol, lines, ["cluster", "protocol"])
    for kind, switches, struct in (
        ("hole", scenario.cluster.holes, Holes),
        ("mutation", scenario.cluster.mutations, Mutations),
    ):
        known = struct.__struct_fields__
        for name in switches:
            if name not in known:
                raise lines.wrong(
                    f"{name!r} is not a known {kind}; there are {', '.join(known)}", ["cluster", f"{kind}s"]
                )
    try:
        config = new_config(shape_of(scenario.cluster), "clover")
    except Malformed as error:
        raise lines.wrong(error.message, ["cluster"]) from None
    size = len(config.groups[0].members)
    if scenario.cluster.min_in_step > size:
        raise lines.wrong(f"a group of {size} servers never has more in step", ["cluster", "min_in_step"])
    if scenario.workload is not None:
        text_is(per_second, scenario.workload.rate, lines, ["workload", "rate"])
        for kind in scenario.workload.mix:
            if kind not in OPERATIONS:
                raise lines.wrong(
                    f"{kind!r} is not an operation; there are {', '.join(OPERATIONS)}",
                    ["workload", "mix", kind],
                )
            if kind in WITH_CONTENT and not scenario.cluster.counts()["data_node"]:
                raise lines.wrong(f"{kind} needs data_nodes in the cluster", ["workload", "mix", kind])
    for index, step in enumerate(scenario.steps):
        check_step(step, lines, ["steps", index])
    check_end(scenario, lines)
    check_expect(scenario.expect, lines, ["expect"])
    if scenario.trial is not None:
        check_trial(scenario, lines)


def check_trial(scenario: Scenario, lines: Lines) -> None:
    if scenario.steps or scenario.matrix:
        raise lines.wrong("a trial has no steps and no matrix beside it", ["trial"])
    try:
        scenario.plan()
    except ValueError as error:
        message, place = reported(str(error))
        raise lines.wrong(message, ["trial", *place]) from None


def text_is(parse: Any, text: str | None, lines: Lines, place: list[str | int]) -> None:
    if text is None:
        return
    try:
        parse(text)
    except ValueError as error:
        raise lines.wrong(str(error), place) from None


def check_step(step: StepPart, lines: Lines, place: list[str | int]) -> None:
    for name in ("at", "after", "within"):
        text_is(nanoseconds, getattr(step, name), lines, [*place, name])
    text_is(nanoseconds, step.span, lines, [*place, "for"])
    text_is(condition, step.when, lines, [*place, "when"])
    if sum(value is not None for value in (step.at, step.after, step.when)) > 1:
        raise lines.wrong(
            "a step begins `at` a time, `after` the one before, or `when` a condition holds", place
        )
    does = [name for name in DOES if getattr(step, name) is not None]
    if len(does) != 1:
        raise lines.wrong(f"a step does one thing: {', '.join(DOES[:-1])} or {DOES[-1]}", place)
    if step.fault is not None:
        check_fault(step, lines, place)
    elif step.target is not None or step.options or step.span is not None:
        raise lines.wrong("target, options and for belong to a fault", place)
    check_names([name for name in (step.mark, step.recover) if name is not None], lines, place)
    if step.expect is not None:
        check_expect(step.expect, lines, [*place, "expect"])
    elif step.within is not None:
        raise lines.wrong("within belongs to an expectation", [*place, "within"])
    if step.workload is not None:
        text_is(per_second, step.workload.rate, lines, [*place, "workload", "rate"])


def check_fault(step: StepPart, lines: Lines, place: list[str | int]) -> None:
    """Checks a fault against the table, for any fabric; the fabric of the run refuses the faults that it cannot inject."""
    assert step.fault is not None
    try:
        verb = faults.verb_named(step.fault)
        given = faults.resolved(verb, step.options)
        faults.check_count(verb, targets(step), given)
    except faults.WrongFault as error:
        where = ["options", error.option] if error.option else ["target"]
        raise lines.wrong(str(error), [*place, *where]) from None
    except faults.FaultUnsupported as error:
        raise lines.wrong(str(error), [*place, "fault"]) from None


def check_names(names: list[str], lines: Lines, place: list[str | int]) -> None:
    for name in names:
        if not CHECKPOINT.fullmatch(name):
            raise lines.wrong(
                f"{name[:63]!r} is not a valid name of a checkpoint: 1 to 63 letters, digits, dots, dashes and underscores",
                place,
            )


def targets(step: StepPart) -> list[str]:
    if step.target is None:
        return []
    return [step.target] if isinstance(step.target, str) else list(step.target)


def check_end(scenario: Scenario, lines: Lines) -> None:
    end = scenario.end
    if (end.at is None) == (end.when is None):
        raise lines.wrong("a scenario ends `at` a time or `when` a condition holds", ["end"])
    text_is(nanoseconds, end.at, lines, ["end", "at"])
    text_is(nanoseconds, end.within, lines, ["end", "within"])
    text_is(condition, end.when, lines, ["end", "when"])


def check_expect(expect: ExpectPart, lines: Lines, place: list[str | int]) -> None:
    text_is(nanoseconds, expect.longest_outage, lines, [*place, "longest_outage"])
    for key in ("invariants", "broken"):
        wanted = getattr(expect, key)
        for name in wanted if isinstance(wanted, list) else []:
            if name not in INVARIANTS:
                raise lines.wrong(
                    f"{name!r} is not an invariant; there are {', '.join(INVARIANTS)}", [*place, key]
                )
    check_names([*expect.checkpoints, *([expect.rolled_back] if expect.rolled_back else [])], lines, place)
    for kind in expect.reported:
        if kind not in EVENTS:
            raise lines.wrong(
                f"{kind[:40]!r} is not an event; there are {', '.join(EVENTS)}", [*place, "reported"]
            )
    rows = [] if expect.rows is None else expect.rows.roles
    for row in [*rows, *([expect.roles] if expect.roles else [])]:
        if not ROW.match(row.replace(" ", "")):
            raise lines.wrong(f"{row[:40]!r} is not a row of the roles A P S M J -", place)
