"""The store brought to the form that this release reads, step by step; one that is newer is left.

Place: at the start, before the store is opened. The file `form` in its folder says the form, "1"
where there is none. Before a release is tried the updater keeps a copy, which the release of before
opens (docs/upgrades.md).
"""

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from gateway.errors import StorageError
from gateway.runtime.durable_files import write_durably
from gateway.runtime.folders import disk_error
from gateway.runtime.forms import Form

log = logging.getLogger(__name__)

_FIRST = "1"


class Step(NamedTuple):
    """From one form to the next: `change` is given the folder of the store, which nobody has open.

    Killed half-way it is given it again.
    """

    to: str
    change: Callable[[Path], None]


STEPS: Mapping[str, Step] = {}
"""By the form that a step begins with; there has been one form so far."""


def form_of(store: Path) -> str:
    """The form of the store in a folder. Raises OSError."""
    try:
        return (store / "form").read_text(encoding="ascii").strip()
    except (FileNotFoundError, NotADirectoryError):
        return _FIRST


def known_form(store: Path, form: Form, steps: Mapping[str, Step] = STEPS) -> str:
    """The form of a store that is read, or brought to what is. Raises OSError, StorageError."""
    found = form_of(store)
    if found not in form.reads and found not in steps:
        raise StorageError(
            f"the store in {store} has form {found!r:.20}, which this release cannot read",
            "it was written by a newer one: go back to that (sosa-gateway upgrade), or restore a "
            "backup of this one",
        )
    return found


def bring_up(store: Path, form: Form, steps: Mapping[str, Step] = STEPS) -> None:
    """Have the store in a form that is read. Raises StorageError for one that leads nowhere."""
    try:
        while (found := known_form(store, form, steps)) not in form.reads:
            step = steps[found]
            log.info("store_migrating", extra={"from": found, "to": step.to})
            step.change(store)
            write_durably(store / "form", step.to.encode())
    except (OSError, UnicodeDecodeError) as error:
        raise disk_error(
            f"the store in {store} cannot be brought to the form of this release",
            store,
            error,
            "mend the disk and start again",
        ) from error
