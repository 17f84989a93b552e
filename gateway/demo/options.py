"""`DemoOptions`: what a person asks of a demo."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """`replay`: a CSV file instead of the house; `speed`: None for each one's default.

    `config` is a gateway.toml for the ports, None the one in this folder. `landing` is a folder
    that the gateway ships its segments to.
    """

    replay: Path | None = None
    speed: float | None = None
    duration_s: float | None = None
    seed: int = 0
    landing: Path | None = None
    config: Path | None = None
