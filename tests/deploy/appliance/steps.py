"""What is kept between the steps: which have passed, what was measured, what was acknowledged.

All of it lies beside the card in build/appliance, so that a run that was cut short goes on behind
its last step: `make test-appliance RESUME=yes`.
"""

import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tests.deploy.appliance.machine import has_kvm
from tests.deploy.debian_root import ARCHITECTURE
from tests.paths import ROOT

ARCH = os.environ.get("SOSA_GATEWAY_APPLIANCE_ARCH", ARCHITECTURE)
CUTS = int(os.environ.get("SOSA_GATEWAY_APPLIANCE_CUTS", "10"))
RESUMES = os.environ.get("SOSA_GATEWAY_APPLIANCE_RESUME", "") == "yes"
PATIENCE_S = 60 if has_kvm(ARCH) else 900
"""With one answer: an emulated processor takes minutes for what makes guessing a secret dear."""

STEP_S = 900 if has_kvm(ARCH) else 14_400
"""Patience with one step, some of which start the device three times."""

FOLDER = ROOT / "build" / "appliance" / ARCH
_PASSED, _REPORT, _ACKNOWLEDGED = "passed.json", "report.txt", "acknowledged.json"


def measured(words: str) -> None:
    """Seen with `pytest -s`, and kept."""
    sys.stdout.write(f"\n{words}\n")
    with (FOLDER / _REPORT).open("a", encoding="utf-8") as report:
        report.write(f"{words}\n")


def passed() -> list[str]:
    """Steps that a run before has behind it."""
    return list(_read(FOLDER / _PASSED))


def remember(step: str, seconds: float) -> None:
    """It has passed."""
    _write(FOLDER / _PASSED, [*passed(), step])
    measured(f"{step}: {seconds:.0f} s")


def acknowledged() -> set[int]:
    """Every reading of which a sensor was told, in any step, that it is taken."""
    return set(_read(FOLDER / _ACKNOWLEDGED))


def acknowledge(readings: Iterable[int]) -> None:
    """More of them."""
    _write(FOLDER / _ACKNOWLEDGED, sorted(acknowledged() | set(readings)))


def _read(file: Path) -> list[Any]:
    return list(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else []


def _write(file: Path, values: Sequence[Any]) -> None:
    fresh = file.with_suffix(".fresh")
    fresh.write_text(json.dumps(values), encoding="utf-8")
    fresh.rename(file)
