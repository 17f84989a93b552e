"""`ProfileReload`: the files of the JSAP profiles are followed while the gateway runs.

Files that have changed are compiled, checked and compared with what is in force; what differs is
swapped between two messages, by one UPDATE of the graphs of mappings and of axioms and by other
templates for ingest, so each message is decoded and written by the old profiles or by the new ones.
What is wrong is refused whole and the old stays.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from gateway.actuation.actuating import Actuating
from gateway.actuation.rules import Republisher
from gateway.actuation.templates import ActuationTemplates
from gateway.admin.profile_checks import template_findings, together_findings
from gateway.errors import ConfigurationError, GatewayError, OntologyError, StorageError
from gateway.ingest.ingest import Ingest
from gateway.ingest.silence import AbsenceTemplates
from gateway.ingest.sosa import Identity, ObservationTemplates
from gateway.profiles import NOTHING_LISTED, Listed, ProfileChanges, Profiles
from gateway.scheduler.scheduler import Scheduler
from gateway.store.remote import Remote

log = logging.getLogger(__name__)

_POLL_S = 1.0
_HELD_S = 30.0
"""How long ingest may be at the messages that came before."""

_SUBSCRIBED = ("MAPPINGS", "CAPABILITIES", "RULES", "ACTUATORS", "REQUESTED")
"""The queries that the gateway has subscribed to since its start."""

Stamp = tuple[int, int, int] | None
"""When a file was changed (ns), its size, its inode; None where it is not there."""


class ProfileFiles:
    """The profiles' files, with those on this machine that they include; read and looked at.

    >>> files = ProfileFiles([Path("nowhere.jsap")])
    >>> files.look()
    {PosixPath('nowhere.jsap'): None}
    """

    def __init__(
        self,
        paths: Sequence[Path],
        remote: Remote | None = None,
        saved: Path | None = None,
        listed: Listed = NOTHING_LISTED,
    ) -> None:
        """`saved` is a last one, which need not be there; `listed` are ontologies beside theirs."""
        self._paths = (*paths, *([saved] if saved is not None else ()))
        self.read: dict[Path, Stamp] = dict.fromkeys(self._paths)
        self._saved = saved
        self._remote = remote
        self._listed = listed

    def load(self) -> Profiles:
        """Read them all; `read` has their stamps of before. Raises ConfigurationError."""
        self.read = {path: _stamp(path) for path in self._paths}
        there = [path for path in self._paths if path != self._saved or self.read[path]]
        return Profiles.load(there, self._remote, self._opened, self._listed)

    @property
    def names(self) -> list[str]:
        """What is read, and what should be."""
        return [str(path) for path, stamp in self.read.items() if stamp or path != self._saved]

    def look(self) -> dict[Path, Stamp]:
        """The stamps of now."""
        return {path: _stamp(path) for path in self.read}

    def _opened(self, path: Path) -> None:
        self.read.setdefault(path, _stamp(path))


def _stamp(path: Path) -> Stamp:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


class ProfileReload:
    """Brings changed profiles into force; for the event loop.

    `profiles` are those in force. `error` says why the files are not, "" where they are; `outcomes`
    counts since the start. `run` is a task that looks at the files once a second.
    """

    def __init__(
        self,
        files: ProfileFiles,
        profiles: Profiles,
        identity: Identity,
        *,
        scheduler: Scheduler,
        ingest: Ingest,
        republisher: Republisher,
        actuating: Actuating,
    ) -> None:
        self.profiles = profiles
        self.error = ""
        self.outcomes = {"changed": 0, "unchanged": 0, "refused": 0}
        self.loaded_at = datetime.now(UTC)
        self._files = files
        self._identity = identity
        self._scheduler = scheduler
        self._ingest = ingest
        self._republisher = republisher
        self._actuating = actuating
        self._turn = asyncio.Lock()
        self._asked = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    @property
    def files(self) -> list[str]:
        """The files that are looked at."""
        return self._files.names

    def state(self) -> dict[str, object]:
        """Which files are looked at, since when they are in force, and why newer ones are not."""
        return {
            "files": self.files,
            "loaded_at": self.loaded_at.isoformat(),
            "error": self.error,
        }

    def ask(self) -> None:
        """Have `run` read the files now, changed or not."""
        self._asked.set()

    async def run(self) -> None:
        """Read files when they have changed and rest, until cancelled.

        A file that is being written is left alone until it has stayed the same from one look to
        the next.
        """
        before = self._files.look()
        while True:
            is_asked = await self._wait()
            now = self._files.look()
            if is_asked or (now != self._files.read and now == before):
                await self._try()
                now = self._files.look()
            before = now

    async def reload(self) -> ProfileChanges:
        """Read the files and bring into force what differs; tells what that is.

        Raises ConfigurationError for files that are wrong, and StorageError; then nothing has
        changed.
        """
        async with self._turn:
            try:
                changes = await self._reloaded()
            except GatewayError as error:
                self._refused(error)
                raise
            self.error = ""
            self.outcomes["unchanged" if changes.is_empty else "changed"] += 1
            return changes

    async def reload_now(self) -> dict[str, object]:
        """`reload`, told as JSON."""
        changes = await self.reload()
        return {"changed": not changes.is_empty, **asdict(changes)}

    async def _wait(self) -> bool:
        """Whether somebody asked before the time was over."""
        try:
            async with asyncio.timeout(_POLL_S):
                await self._asked.wait()
        except TimeoutError:
            return False
        self._asked.clear()
        return True

    async def _try(self) -> None:
        try:
            await self.reload()
        except (ConfigurationError, OntologyError):
            pass  # told already; the files are read again when they have changed
        except GatewayError:
            self._files.read = dict.fromkeys(self._files.read)  # tried again

    def _refused(self, error: GatewayError) -> None:
        self.outcomes["refused"] += 1
        if str(error) != self.error:
            log.error("profiles_refused", extra={"reason": str(error)})
        self.error = str(error)

    async def _reloaded(self) -> ProfileChanges:
        new, commit = await asyncio.to_thread(self._compiled)
        changes = self.profiles.changes(new)
        if not changes.is_empty:
            await self._in_thread_of_ingest(lambda: self._swap(new, commit))
            log.info("profiles_changed", extra=asdict(changes))
        return changes

    def _compiled(self) -> tuple[Profiles, Callable[[], None]]:
        """The new profiles, and what brings their templates into force; in any thread."""
        new = self._files.load()
        findings = [*template_findings(new), *together_findings(new, self._identity)]
        errors = [each for each in findings if each.is_error]
        if errors:
            told = "\n".join(map(str, errors[:10]))
            raise ConfigurationError(told, "correct the profile; the old one stays in force")
        for name in _SUBSCRIBED:
            if new.query_text(name) != self.profiles.query_text(name):
                raise ConfigurationError(
                    f"{new.places[f'queries.{name}']}: queries.{name}: the gateway has subscribed "
                    "to this query since its start",
                    "restart the gateway; until then the old profiles stay in force",
                )
        observations = ObservationTemplates(new, self._identity)
        absences = AbsenceTemplates(new, self._identity)
        actuations = ActuationTemplates(new)

        def commit() -> None:
            self._ingest.renew(observations, absences)
            self._actuating.renew(actuations)

        return new, commit

    def _swap(self, new: Profiles, commit: Callable[[], None]) -> None:
        """In the thread of ingest, which decodes nothing meanwhile."""
        old = self.profiles
        # A rule that comes with its query, or goes with it, finds it either way.
        self._republisher.renew({**old.queries, **new.queries})
        try:
            self._update(new)
        except GatewayError:
            self._republisher.renew(old.queries)
            raise
        self._republisher.renew(new.queries)
        commit()
        self.profiles, self.loaded_at = new, datetime.now(UTC)

    def _update(self, new: Profiles) -> None:
        """One UPDATE, none where mappings, rules and ontologies are the same."""
        deciding = self._scheduler.decide(
            lambda engine: new.delta(engine.store, self._identity.node)
        )
        asyncio.run_coroutine_threadsafe(deciding, self._loop).result()

    async def _in_thread_of_ingest(self, work: Callable[[], None]) -> None:
        """Do the work between two messages.

        Raises what it raises; StorageError where ingest has no time for it.
        """
        done: Future[None] = Future()

        def call() -> None:
            if done.set_running_or_notify_cancel():
                try:
                    work()
                except Exception as error:  # handed to whoever waits
                    done.set_exception(error)
                else:
                    done.set_result(None)

        self._ingest.run_in_thread(call)
        try:
            async with asyncio.timeout(_HELD_S):
                await asyncio.wrap_future(done)
        except TimeoutError as error:
            raise StorageError(
                "ingest waits for the disk, the profiles for ingest", "see the log; try again"
            ) from error
