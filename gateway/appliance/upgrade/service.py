"""The gateway as systemd runs it: stopped, started until it is ready, and seen to serve.

Place: between the updater and systemd. Source: systemctl(1), systemd.service(5) (Type=notify: a
start is done when the gateway has said READY=1).
"""

import subprocess
from time import monotonic, sleep
from typing import Protocol

from gateway.errors import UpgradeError

UNIT = "sosa-gateway.service"
_SERVES_S = 60.0
_SERVING = "StatusText=serving"


class Service(Protocol):
    """What an updater does with the gateway."""

    def stop(self) -> None:
        """Have it stand still; nothing where it does. Raises UpgradeError."""

    def start(self) -> None:
        """Start it, and wait until it is ready. Raises UpgradeError where that fails."""

    def serves(self) -> bool:
        """Whether it serves within a minute, once it may."""


class SystemdService:
    """The unit of the package."""

    def stop(self) -> None:
        """By systemd, which waits until what was accepted is on the disk."""
        self._systemctl("stop", UNIT)

    def start(self) -> None:
        """By systemd; a start that failed before counts for nothing."""
        self._systemctl("start", UNIT)

    def serves(self) -> bool:
        """Asked a few times a second."""
        until = monotonic() + _SERVES_S
        while monotonic() < until:
            told = self._systemctl("show", "--property=ActiveState,StatusText", UNIT).splitlines()
            if "ActiveState=active" in told and _SERVING in told:
                return True
            if "ActiveState=failed" in told or "ActiveState=inactive" in told:
                return False
            sleep(0.3)
        return False

    def _systemctl(self, *arguments: str) -> str:
        try:
            done = subprocess.run(
                ("systemctl", *arguments), check=False, capture_output=True, text=True
            )
        except OSError as error:
            raise UpgradeError(f"there is no systemd: {error}", "upgrade by install.sh") from error
        if done.returncode:
            raise UpgradeError(
                f"systemctl {' '.join(arguments)}: {done.stderr.strip()}",
                f"journalctl -u {UNIT} says why",
            )
        return done.stdout


class StandingStill:
    """For a start that goes on by itself: systemd waits for us, and starts it behind us."""

    def stop(self) -> None:
        """Nothing: systemd has not started it."""

    def start(self) -> None:
        """Nothing: systemd starts it next."""

    def serves(self) -> bool:
        """Nobody waits for it."""
        return True
