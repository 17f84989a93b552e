"""The settings of the archive that queries over time read: [archive] of gateway.toml.

Place: a section of `gateway.config.settings`, of which it knows nothing; docs/archive.md, "Now and
then".
"""

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field

from gateway.config.values import Count, Section


class ArchiveSettings(Section):
    """Which archive: a folder that `sosa-gateway archive` fills; "" is none.

    A query over time takes at most so many observations (`rows`), and its process `memory_bytes`.
    """

    path: str = ""
    rows: Count = 100_000
    memory_bytes: Annotated[int, Field(ge=134_217_728)] = 536_870_912

    @property
    def folder(self) -> Path | None:
        """The archive's folder, None where there is none."""
        return Path(self.path) if self.path else None

    def at(self, folder: Path) -> Self:
        """The same, a relative path taken from `folder`."""
        return self.model_copy(update={"path": self.path and str(folder / self.path)})
