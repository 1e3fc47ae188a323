"""The programs of the peers: fetched once by Maven with its own settings, and our Java clients compiled against them."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from backend.errors import LabError

JAVA_SOURCES = Path(__file__).parent / "java"
FETCH_S = 900.0
COMPILE_S = 120.0
POM = """<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>cloverlab</groupId>
  <artifactId>peers</artifactId>
  <version>1</version>
  <dependencies>
{dependencies}
  </dependencies>
</project>
"""
DEPENDENCY = """    <dependency>
      <groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>
    </dependency>"""
TOOLS = {
    "java": "a Java runtime of version 17 (Debian: openjdk-17-jdk-headless)",
    "javac": "a Java development kit of version 17 (Debian: openjdk-17-jdk-headless)",
    "mvn": "Maven with a repository that it can reach (Debian: maven)",
}
"""What has to be installed, by the command that is missing."""


class PeerMissing(LabError):
    """A peer that cannot be measured here, with the reason and what would help in one line."""


def cache() -> Path:
    """Where downloads are kept from one run to the next."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(given) if given else Path.home() / ".cache") / "cloverlab" / "peers"


def pom(artifacts: tuple[str, ...]) -> str:
    """Maven's project file for these artifacts, each written as group:name:version."""
    return POM.format(dependencies="\n".join(DEPENDENCY.format(*each.split(":")) for each in artifacts))


def require_tools(peer: str) -> None:
    """Raises PeerMissing."""
    for tool, needed in TOOLS.items():
        if shutil.which(tool) is None:
            raise PeerMissing(f"{peer} is left out: there is no `{tool}` here; install {needed}")


def class_path(peer: str, artifacts: tuple[str, ...], sources: tuple[str, ...]) -> str:
    """Java's class path with the jars of the peer and the compiled clients, from the cache where it has them. Raises PeerMissing."""
    require_tools(peer)
    jars = cache() / f"{peer}-{digest(pom(artifacts).encode())}"
    if not jars.is_dir():
        fetch(peer, artifacts, jars)
    texts = b"".join((JAVA_SOURCES / name).read_bytes() for name in sources)
    classes = jars.with_name(f"{jars.name}-classes-{digest(texts)}")
    if not classes.is_dir():
        paths = [str(JAVA_SOURCES / name) for name in sources]
        make(peer, classes, ["javac", "-nowarn", "-cp", f"{jars}/*", *paths], "-d", COMPILE_S)
    return f"{classes}:{jars}/*"


def fetch(peer: str, artifacts: tuple[str, ...], jars: Path) -> None:
    """Copies the artifacts and all that they need. Raises PeerMissing."""
    project = jars.with_name(f"{jars.name}-project")
    project.mkdir(parents=True, exist_ok=True)
    (project / "pom.xml").write_text(pom(artifacts))
    copy = ["mvn", "-q", "-B", "-f", str(project / "pom.xml"), "dependency:copy-dependencies"]
    make(peer, jars, [*copy, "-DincludeScope=runtime"], "-DoutputDirectory=", FETCH_S)
    shutil.rmtree(project, ignore_errors=True)


def make(peer: str, target: Path, command: list[str], option: str, limit_s: float) -> None:
    """Runs a command that fills a directory; the directory has its name only when it is whole. Raises PeerMissing."""
    partial = target.with_name(f"{target.name}.{os.getpid()}.part")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    into = [f"{option}{partial}"] if option.endswith("=") else [option, str(partial)]
    try:
        done = subprocess.run([*command, *into], capture_output=True, text=True, timeout=limit_s)
        if done.returncode:
            reason = first_error(done.stdout + done.stderr)
            raise PeerMissing(
                f"{peer} is left out: {command[0]} fails: {reason}; {TOOLS[command[0]]} is needed"
            )
        if not target.is_dir():
            partial.rename(target)
    except subprocess.TimeoutExpired:
        raise PeerMissing(
            f"{peer} is left out: {command[0]} took more than {limit_s:.0f} s; what it fetched is kept, run it again"
        ) from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def first_error(output: str) -> str:
    """The first line of a tool's output that reports an error, shortened."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()] or lines or ["no output"]
    return errors[0].removeprefix("[ERROR]").strip()[:200]


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]
