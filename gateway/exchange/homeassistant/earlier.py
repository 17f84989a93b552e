"""`Earlier`: the topics at which this gateway has something retained, kept over a restart.

Place: under the publisher. At another broker what is retained outlives us: what is not announced
any more, because its mapping has gone meanwhile or nothing is to be published now, is taken back.
"""

import json
import logging
from collections.abc import Iterable
from pathlib import Path

from gateway.runtime.durable_files import remove_durably, write_durably

log = logging.getLogger(__name__)


class Earlier:
    """A file below data_dir; writing waits for the disk."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "homeassistant.json"

    @property
    def is_there(self) -> bool:
        """Whether something may be retained."""
        return self._path.exists()

    def read(self) -> frozenset[str]:
        """The topics; a file that cannot be read has none, and the log says so."""
        try:
            told = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return frozenset()
        except (OSError, ValueError) as error:
            log.warning(
                "announced_not_known", extra={"file": str(self._path), "reason": str(error)}
            )
            return frozenset()
        listed = told if isinstance(told, list) else []
        return frozenset(each for each in listed if isinstance(each, str))

    def write(self, topics: Iterable[str]) -> None:
        """Keep these, before they are published; the log says where the disk does not take it."""
        found = sorted(topics)
        try:
            if found:
                write_durably(self._path, json.dumps(found).encode())
            else:
                remove_durably(self._path)
        except OSError as error:
            log.error("announced_not_kept", extra={"file": str(self._path), "reason": str(error)})
