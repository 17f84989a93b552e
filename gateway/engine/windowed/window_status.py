"""`WindowStatus`: one open window as people look at it."""

from dataclasses import dataclass

from gateway.windows.info import WindowInfo
from gateway.windows.window import Window


@dataclass(frozen=True, slots=True)
class WindowStatus:
    """A window and who has it.

    `names` are the IRIs that subscriptions call it by, `subscriptions` how many they are, `spus`
    what these share. `patterns`, `plans` and `matches` are those of its automaton: patterns looked
    for, plans that complete them, and solutions told so far; 0 without one.
    """

    window: Window
    names: tuple[str, ...]
    subscriptions: int
    spus: int
    info: WindowInfo
    patterns: int = 0
    plans: int = 0
    matches: int = 0
