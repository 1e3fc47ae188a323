"""`vssp-table1`, `vssp-fig8b`: sizes of journals and images, and the time that the repair of a file takes (VSSP §IV.B and C). On real processes."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from statistics import median

from benchmarks._journals import JournalBook, make_files
from benchmarks._model import Chart, Experiment, ExperimentOutcome, Point
from benchmarks.image import MIB, running
from nodes.real.turn import Turn

RECORDS = (50_000, 100_000, 200_000)
FILES_PER_DIRECTORY = 50
PAPER_ROWS = ((135.72, 43.64, 521), (10_237.72, 4_260.94, 23_878))
"""MB of journal, MB of image, thousands of records: the first and the last row."""
PAPER_1 = {
    "image_over_journal_least": round(PAPER_ROWS[0][1] / PAPER_ROWS[0][0], 3),
    "image_over_journal_most": round(PAPER_ROWS[1][1] / PAPER_ROWS[1][0], 3),
    "bytes_per_record_least": round(PAPER_ROWS[0][0] * 1e6 / (PAPER_ROWS[0][2] * 1e3)),
    "bytes_per_record_most": round(PAPER_ROWS[1][0] * 1e6 / (PAPER_ROWS[1][2] * 1e3)),
}
INODES = 300_000
DAMAGED = (0.05, 0.1, 0.25, 0.5, 0.75, 1.0)
ROUNDS = 5


async def journal_bytes(directory: Path, records: int) -> int:
    """Size in bytes of a journal that creates `records` files and directories."""
    book = JournalBook(directory, 1, Turn(asyncio.get_running_loop()))
    make_files(book, FILES_PER_DIRECTORY, lambda: book.records > records)
    await book.close()
    return book.size


def image_bytes(directory: Path, inodes: int) -> int:
    with running(directory, ["n1"]) as nodes:
        nodes["n1"].ask("fill", inodes=inodes)
        reported = nodes["n1"].ask("write", strategy="vssp", partitions=8, replicas=["n1"])
        return int(reported["size"])


def sizes(quick: bool) -> ExperimentOutcome:
    counts = (1_000, 2_000) if quick else RECORDS
    rows: dict[int, tuple[int, int]] = {}
    for count in counts:
        with tempfile.TemporaryDirectory(prefix="cloverlab-reproduce-") as name:
            directory = Path(name)
            rows[count] = (
                asyncio.run(journal_bytes(directory / "journal", count)),
                image_bytes(directory, count),
            )
    shares = [image / journal for journal, image in rows.values()]
    each = [journal / count for count, (journal, _) in rows.items()]
    figures = {
        "image_over_journal_least": round(min(shares), 3),
        "image_over_journal_most": round(max(shares), 3),
        "bytes_per_record_least": round(min(each)),
        "bytes_per_record_most": round(max(each)),
        "image_bytes_per_inode": round(rows[counts[-1]][1] / counts[-1]),
    }
    series: dict[str, list[Point]] = {
        word: [(float(count), row[place] / MIB) for count, row in rows.items()]
        for place, word in enumerate(("journal", "image"))
    }
    chart = Chart("Journal and image", "records, each makes an inode", "MiB", series)
    config = {"fabric": "processes", "records": counts, "files_per_directory": FILES_PER_DIRECTORY}
    return ExperimentOutcome(config, figures, PAPER_1, chart, [NOTE_1])


def repair(quick: bool) -> ExperimentOutcome:
    inodes, rounds = (5_000, 1) if quick else (INODES, ROUNDS)
    found: dict[float, list[float]] = {share: [] for share in DAMAGED}
    with (
        tempfile.TemporaryDirectory(prefix="cloverlab-reproduce-") as directory,
        running(Path(directory), ["n1", "n2"]) as nodes,
    ):
        nodes["n1"].ask("fill", inodes=inodes)
        reported = nodes["n1"].ask("write", strategy="vssp", partitions=1, replicas=["n1", "n2"])
        for number in range(rounds):
            for share in DAMAGED:
                found[share].append(float(nodes["n2"].ask("repair", source="n1", share=share)["s"]))
            print(f"round {number + 1} of {rounds}", file=sys.stderr)
    seconds = {share: median(each) for share, each in found.items()}
    figures = {f"s_{share:.0%}".replace("%", "pct"): round(s, 4) for share, s in seconds.items()}
    figures["time_50pct_over_100pct"] = round(seconds[0.5] / seconds[1.0], 3)
    figures["time_10pct_over_100pct"] = round(seconds[0.1] / seconds[1.0], 3)
    series: dict[str, list[Point]] = {
        "from the first damage": [(100 * share, s) for share, s in seconds.items()],
        "the whole file": [(100 * share, seconds[1.0]) for share in seconds],
    }
    chart = Chart("Repair of one replica", "per cent that is damaged", "seconds", series)
    config = {
        "fabric": "processes",
        "inodes": inodes,
        "image_mb": round(reported["size"] / MIB, 1),
        "rounds": rounds,
    }
    return ExperimentOutcome(config, figures, PAPER_8B, chart)


PAPER_8B = {"time_50pct_over_100pct": 0.5, "time_10pct_over_100pct": 0.1}
"""Paper's ratios: the time is in proportion to the damage, not to the file."""
NOTE_1 = "Every record makes an inode here, with a name of 20 bytes; the paper's are a mix, and three fifths of its operations leave no record."

EXPERIMENTS = [
    Experiment("vssp-table1", "VSSP §IV.B, Table I", "sizes of journals and images", sizes),
    Experiment("vssp-fig8b", "VSSP §IV.C, Fig. 8b", "repair of a file of which a part is damaged", repair),
]
