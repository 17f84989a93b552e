"""`Updater`: brings a release into its slot, tries it, and keeps it or goes back.

    verified -> unpacked -> gateway stopped -> data kept -> trial begins -> slot in use -> checked,
    started -> passed | given up: data put back, old slot in use, started

While `trial` is there, the gateway opens its store, applies the journal and tells systemd that it
is ready, but lets nobody in: nothing is acknowledged that going back would lose. The end of the
trial is one file that goes away. Killed at any moment, `recover` goes back from what had not
passed; the unit of the gateway calls it before each start. Always the package's own code does this,
which no release replaces.
"""

import logging
import os
import subprocess
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from gateway.appliance.upgrade.kept_data import forget, keep, put_back, require_all_since
from gateway.appliance.upgrade.payload import unpack
from gateway.appliance.upgrade.service import Service
from gateway.appliance.upgrade.slots import Slots, Trial, python_of
from gateway.appliance.upgrade.source import Release, Source, System, compare
from gateway.errors import ConflictError, UpgradeError
from gateway.runtime.durable_files import as_owner

log = logging.getLogger(__name__)

_CHECK_S = 600.0
_TOLD = 2000
_SPACE_BYTES = 536_870_912
"""A release, packed and unpacked with its bytecode."""


@dataclass(frozen=True, slots=True)
class Updater:
    """Works on slots and on the folder of data of the gateway that `settings` are of.

    Methods raise UpgradeError, OSError, and ConflictError while another one works.
    """

    slots: Slots
    service: Service
    data: Path
    settings: Path
    system: Callable[[], System] = System.here

    def check(self, source: Source) -> Release | None:
        """The release that `apply` would take; None where there is no newer one."""
        release = source.newest(self.system())
        if release is None or compare(release.version, self._version()) <= 0:
            return None
        return release

    def apply(self, source: Source, *, allow_downgrade: bool = False) -> str:
        """Take the newest release; the version that is in use then."""
        with self._locked():
            self._recover()
            release = source.newest(self.system())
            if release is None:
                raise UpgradeError(f"there is no release for this system in {source.where}", _FROM)
            order = compare(release.version, self._version())
            if order == 0:
                return release.version
            if order < 0 and not allow_downgrade:
                raise UpgradeError(
                    f"version {self._version()} is in use, which is newer than {release.version}",
                    "keep it, or say --allow-downgrade",
                )
            self._install(source, release)
            is_back = order < 0 and self._needs_its_own_data(release.version)
            self._change_to(release.version, is_back=is_back)
            return release.version

    def rollback(self) -> str:
        """Go back to the version before; the version that is in use then.

        Raises UpgradeError where that would lose what was acknowledged.
        """
        with self._locked():
            self._recover()
            target = self.slots.previous
            if target is None or target == self.slots.in_use:
                raise UpgradeError("there is no version to go back to", "upgrade keeps one")
            if not self.slots.runs(self.slots.home(target)):
                raise UpgradeError(
                    f"the version before is not there any more: {self.slots.home(target)}",
                    "apply an older release with --allow-downgrade",
                )
            self._change_to(target, is_back=self._needs_its_own_data(target))
            return self.slots.version(target)

    def recover(self) -> str:
        """Go back from what was tried when we were killed; the version given up, "" for none.

        Nothing where an updater is at work.
        """
        if not self.slots.folder.is_dir():
            return ""
        try:
            with self._locked():
                return self._recover()
        except ConflictError:
            return ""

    def _locked(self) -> AbstractContextManager[None]:
        """Nobody else is at work on the slots, and the owner of the data sees that we are."""
        owned = self.data if self.data.exists() else self.slots.folder.parent
        return self.slots.locked(owned.stat().st_gid)

    def _recover(self) -> str:
        try:
            trial = self.slots.trial
        except ValueError as error:
            raise UpgradeError(str(error), f"see {self.slots.folder}, and remove it") from error
        if trial is None:
            return ""
        self._give_up(trial, "the updater or the device was stopped before it had passed")
        return self.slots.version(trial.to)

    def _version(self) -> str:
        return self.slots.version(self.slots.in_use)

    def _install(self, source: Source, release: Release) -> None:
        folder = self.slots.folder
        free = os.statvfs(folder)
        if free.f_bavail * free.f_frsize < _SPACE_BYTES:
            raise UpgradeError(
                f"{_SPACE_BYTES >> 20} MiB have to be free in {folder}", "make room on its disk"
            )
        self.slots.tidy()
        package = folder / "incoming.deb"
        try:
            with package.open("wb") as file:
                source.fetch(release, file)
            home = self.slots.home(release.version)
            unpack(package, folder / "incoming", home)
        finally:
            package.unlink(missing_ok=True)
        told = (home / "version").read_text(encoding="utf-8").strip()
        if told != release.version:
            raise UpgradeError(f"the package {release.name} says that it is {told:.80}", _FROM)

    def _needs_its_own_data(self, target: str) -> bool:
        """Whether an older release must have its own data back. Raises UpgradeError."""
        try:
            now, then = self.slots.forms(self.slots.in_use), self.slots.forms(target)
        except (OSError, ValueError) as error:
            raise UpgradeError(f"it is not known what a release reads: {error}", _FROM) from error
        name = self.slots.version(target)
        if not then.journal.can_read(now.journal):
            raise UpgradeError(
                f"{name} does not read the journal as it is written now ({now.journal.writes}): "
                "readings that were acknowledged would be lost",
                "stay with the version in use, or restore a backup of the older one",
            )
        if then.store.can_read(now.store):
            return False
        require_all_since(self.data, name)
        return True

    def _change_to(self, target: str, *, is_back: bool) -> None:
        """Have a release in use where it passes and then serves; where not, the one of now."""
        of = self.slots.in_use
        self._try(target, is_back=is_back)
        if not self.service.serves():
            self._leave(target, of)

    def _try(self, target: str, *, is_back: bool) -> None:
        """Have a release in use where it passes, all as before where it does not."""
        slots, of = self.slots, self.slots.in_use
        kept = slots.version(of)
        self.service.stop()
        trial = Trial(of, target, kept, slots.previous)
        try:
            with as_owner(self.data):
                keep(self.data, kept)
            slots.begin(trial)
            if is_back:
                with as_owner(self.data):
                    put_back(self.data, slots.version(target))
            slots.use(target)
            self._require_sound(target, of)
            self.service.start()
        except BaseException as error:
            self._give_up(trial, str(error) or type(error).__name__)
            if not isinstance(error, Exception):
                raise
            raise UpgradeError(
                f"{slots.version(target)} did not pass, {kept} is in use: {error}",
                "nothing was changed and nothing acknowledged meanwhile",
            ) from error
        slots.passed(trial)
        slots.tidy()
        with as_owner(self.data):
            forget(self.data, {kept})

    def _require_sound(self, target: str, of: str) -> None:
        """The release itself says what would keep it from running. Raises UpgradeError.

        What the release of now finds as well, as a broker that is away, is no fault of the new one.
        """
        found = self._checked(target)
        if found and not self._checked(of):
            raise UpgradeError(f"its check says: {found[-_TOLD:]}")

    def _checked(self, version: str) -> str:
        """What the check of a release says, as the owner of the data; "" where all is well."""
        command = (str(python_of(self.slots.home(version))), "-I", "-m", "gateway", "check")
        owner = self.data.stat()
        change = os.geteuid() == 0 and owner.st_uid != 0
        who = {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []} if change else {}
        done = subprocess.run(
            (*command, "--config", str(self.settings)),
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_CHECK_S,
            cwd="/",
            **who,  # type: ignore[call-overload]
        )
        return f"exit code {done.returncode}: {done.stdout.strip()}" if done.returncode else ""

    def _leave(self, target: str, of: str) -> None:
        """Go back from a release that has passed and does not serve, where that loses nothing."""
        failed = self.slots.version(target)
        try:
            is_back = self._needs_its_own_data(of)
        except UpgradeError as error:
            raise UpgradeError(
                f"{failed} has passed and does not serve, and there is no way back: {error}",
                "journalctl -u sosa-gateway says what is wrong",
            ) from error
        self._try(of, is_back=is_back)
        raise UpgradeError(
            f"{failed} has passed and does not serve: {self.slots.version(of)} is in use again",
            "journalctl -u sosa-gateway says what was wrong",
        )

    def _give_up(self, trial: Trial, reason: str) -> None:
        """All as before the trial; done again from its beginning after a kill."""
        log.error("release_given_up", extra={"release": trial.to, "reason": reason})
        if self.slots.trial is None:
            self.service.start()
            return
        self.service.stop()
        with as_owner(self.data):
            put_back(self.data, trial.kept)
        self.slots.use(trial.of)
        self.slots.given_up(trial, reason)
        self.service.start()


_FROM = "see that the folder has what build-deb wrote, for this version of Debian"
