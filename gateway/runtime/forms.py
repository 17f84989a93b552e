"""`Forms`: in which form a release writes what it keeps, and which forms it reads.

Place: `gateway/forms.json` of each release says it, so that the updater can compare two releases
without running either. A form that is read by both can be gone back from (docs/upgrades.md).
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Self

FILE = Path(__file__).parents[1] / "forms.json"
"""That of this release."""


@dataclass(frozen=True, slots=True)
class Form:
    """How one thing is written, and how it may be written to be read."""

    writes: str
    reads: frozenset[str]

    def can_read(self, other: "Form") -> bool:
        """Whether what the other writes is read here."""
        return other.writes in self.reads


@dataclass(frozen=True, slots=True)
class Forms:
    """The forms of a release: of the journal's lines, of the store."""

    journal: Form
    store: Form

    @classmethod
    def read(cls, file: Path = FILE) -> Self:
        """As a release says it. Raises OSError, and ValueError for what says nothing of the kind.

        >>> Forms.read().journal.can_read(Forms.read().journal)
        True
        """
        told = json.loads(file.read_bytes())
        try:
            parts = (told[name] for name in ("journal", "store"))
            return cls(*(Form(str(each["writes"]), frozenset(each["reads"])) for each in parts))
        except (KeyError, TypeError) as error:
            raise ValueError(f"{file} does not say which forms it reads and writes") from error
