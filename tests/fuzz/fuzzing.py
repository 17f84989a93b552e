"""Processes that feed a parser, watched from outside: what ends or stops one is a finding."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from subprocess import PIPE

from tests.fuzz.run import FINDING
from tests.paths import ROOT

CORPUS = Path(__file__).parent / "corpus"
KEPT = ROOT / "build" / "fuzz"
SILENCE_S = 20.0
"""CPU and wait of one input, and the start of the process."""

MOST_TRIES = 60
"""Inputs that are tried to make a finding smaller."""


@dataclass(frozen=True, slots=True)
class Finding:
    """An input, and what it made of its parser."""

    data: bytes
    what: str


def fuzz(name: str, start: int, seconds: float, folder: Path) -> Finding | dict[str, int]:
    """Feed a parser for some time; what it found, or how many cases there were."""
    kept = KEPT / name
    kept.mkdir(parents=True, exist_ok=True)
    present = folder / "present"
    arguments = [name, str(start), str(seconds), str(present), str(kept), str(CORPUS / name)]
    what, told = _watched(["fuzz", *arguments], present, seconds)
    if what:
        return Finding(present.read_bytes(), what)
    counts: dict[str, int] = json.loads(told.splitlines()[-1])
    return counts


def replay(inputs: dict[str, list[Path]], folder: Path) -> Finding | None:
    """Feed parsers with files, all in one process."""
    present = folder / "present"
    parts = [f"{name}={','.join(map(str, files))}" for name, files in inputs.items() if files]
    what, _ = _watched(["replay", str(present), *parts], present, 0.0)
    return Finding(present.read_bytes(), what) if what else None


def _watched(arguments: list[str], present: Path, seconds: float) -> tuple[str, str]:
    """What went wrong, or nothing, and what the process told."""
    present.write_bytes(b"")
    command = [sys.executable, "-m", "tests.fuzz.run", *arguments]
    end = time.monotonic() + seconds + SILENCE_S
    with subprocess.Popen(command, cwd=ROOT, stdout=PIPE, stderr=PIPE, text=True) as process:
        try:
            while True:
                try:
                    told, errors = process.communicate(timeout=1.0)
                    break
                except subprocess.TimeoutExpired:
                    now = time.monotonic()
                    silent = time.time() - present.stat().st_mtime > SILENCE_S
                    if silent or now > end + SILENCE_S:
                        process.kill()
                        process.communicate()
                        return f"took more than {SILENCE_S:g} s", ""
        finally:
            process.kill()
    if process.returncode == FINDING:
        found = json.loads(told.splitlines()[-1])
        return f"{found['finding']} at {found['place']}", told
    if process.returncode < 0:
        return f"ended by {signal.Signals(-process.returncode).name}", told
    return (
        f"exit status {process.returncode}: {errors[-500:]}" if process.returncode else ""
    ), told


def minimised(name: str, finding: Finding, folder: Path) -> bytes:
    """A smaller input that goes wrong as well, by leaving out ever smaller pieces."""
    data, tries = finding.data, 0
    size = max(1, len(data) // 2)
    file = folder / "try"
    while tries < MOST_TRIES:
        at, is_smaller = 0, False
        while at < len(data) and tries < MOST_TRIES:
            file.write_bytes(data[:at] + data[at + size :])
            tries += 1
            if replay({name: [file]}, folder) is not None:
                data, is_smaller = file.read_bytes(), True
            else:
                at += size
        if size == 1 and not is_smaller:
            break
        size = max(1, size // 2)
    return data


def keep(name: str, data: bytes) -> Path:
    """Put an input into the corpus, under the name of its digest."""
    place = CORPUS / name / f"found-{sha256(data).hexdigest()[:16]}"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)
    return place
