"""What a gateway does with its data before it opens anything of it."""

import logging
from pathlib import Path

from gateway.admin.keeping.replacement import finish
from gateway.runtime.forms import Forms
from gateway.store.disk.migration import bring_up

log = logging.getLogger(__name__)


def with_its_data(data: Path, store: Path | None) -> None:
    """Finish what a restore began, and have the store in the form of this release.

    `store` is its folder, None where it is in memory. Raises StorageError.
    """
    plan = finish(data)
    if plan is not None:
        log.warning("data_replaced", extra={"reason": plan.why})
    if store is not None:
        bring_up(store, Forms.read().store)
