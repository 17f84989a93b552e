"""A gateway of a release that has not passed yet: it is ready, and lets nobody in.

Place: between the start of all that keeps and computes and that of all that listens (`gateway.app`
calls it there). It ends where the updater has gone, so that systemd starts the gateway anew and
goes back (`sosa-gateway upgrade recover`).
"""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from gateway.appliance.upgrade.slots import SLOTS, is_locked
from gateway.errors import UpgradeError
from gateway.runtime.service_manager import ServiceManager

_LOOK_S = 0.05


def until_passed(manager: ServiceManager, folder: Path = SLOTS) -> Callable[[], Awaitable[None]]:
    """What a service waits for before it lets anybody in; nobody waits without a manager."""

    async def wait() -> None:
        """Raise UpgradeError where nobody is there any more to say that it has passed."""
        if not manager.is_there or not (folder / "trial").exists():
            return
        manager.ready("ready: a release that is tried lets nobody in yet")
        while (folder / "trial").exists():
            if not is_locked(folder) and (folder / "trial").exists():
                raise UpgradeError(
                    "this release was tried, and the updater has gone",
                    "the next start goes back to the release before",
                )
            manager.lives()
            await asyncio.sleep(_LOOK_S)

    return wait
