"""Where tests find the project's files, and the data that is no part of it."""

import os
from pathlib import Path

ROOT = Path(__file__).parents[1]
DATA = ROOT / "tests" / "data"
AGENTS = ROOT / "tests" / "kit" / "agents"

SHARED = Path(os.environ.get("SOSA_GATEWAY_SHARED", ROOT.parent / "shared"))
"""Recorded readings and the W3C suites; what needs them is skipped where they are missing."""
