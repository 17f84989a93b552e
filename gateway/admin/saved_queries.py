"""`SavedQueries`: what people want to ask again, as a JSAP profile that the gateway keeps.

Place: behind /saved. The file `data_dir/saved.jsap` stands behind the listed profiles: its queries
are named as theirs are, by rules and by clients. Each change is brought into force before it is
answered, as a file that somebody edited would be; what cannot be is taken back.
"""

import asyncio
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gateway.admin.profile_checks import template_findings
from gateway.admin.profile_reload import ProfileReload
from gateway.errors import BadRequestError, ConflictError, GatewayError, NotFoundError, StorageError
from jsap import JsapError, Profile
from jsap.windows import TOLD

MOST = 500
"""Saved queries of a gateway."""

NAME = r"[A-Za-z_][A-Za-z0-9_-]{0,63}"

Members = dict[str, object]


@dataclass(frozen=True, slots=True)
class Saved:
    """A query under a name; `label` is what people call it.

    `over` are its members `windows` and those of `jsap.windows.TOLD`, where it has some.
    """

    name: str
    sparql: str
    label: str = ""
    over: Mapping[str, object] = field(default_factory=dict)

    def members(self) -> Members:
        """As an entry of a profile has it."""
        members: Members = {"sparql": self.sparql, **self.over}
        return members | ({"label": self.label} if self.label else {})


class SavedQueries:
    """The file and what stands in it; for the event loop, one change after the other."""

    def __init__(self, file: Path, reload: ProfileReload) -> None:
        self._file = file
        self._reload = reload
        self._turn = asyncio.Lock()

    async def list(self) -> list[Saved]:
        """All of them, by name. Raises StorageError."""
        entries = await asyncio.to_thread(self._read)
        return [
            Saved(name, str(each.get("sparql", "")), str(each.get("label", "")), _over(each))
            for name, each in sorted(entries.items())
        ]

    async def save(self, saved: Saved) -> None:
        """Keep a query, in place of one that has its name.

        Raises BadRequestError for a name or query that is none, ConflictError for the name of a
        listed profile's query or update, and what bringing it into force raises.
        """
        _require_good(saved)
        async with self._turn:
            before = await asyncio.to_thread(self._read)
            in_force = self._reload.profiles
            if saved.name not in before and saved.name in {*in_force.queries, *in_force.updates}:
                raise ConflictError(f"a profile has {saved.name} already", "give it another name")
            if len({*before, saved.name}) > MOST:
                raise ConflictError(f"there are {MOST} saved queries", "remove one first")
            await self._change(before, {**before, saved.name: saved.members()})

    async def remove(self, name: str) -> None:
        """Forget one. Raises NotFoundError, and what bringing that into force raises."""
        async with self._turn:
            before = await asyncio.to_thread(self._read)
            if name not in before:
                raise NotFoundError(f"no query is saved as {name}", "GET /saved lists them")
            after = {key: each for key, each in before.items() if key != name}
            await self._change(before, after)

    async def _change(self, before: Mapping[str, Members], after: Mapping[str, Members]) -> None:
        await asyncio.to_thread(self._write, after)
        try:
            await self._reload.reload()
        except GatewayError:
            await asyncio.to_thread(self._write, before)
            raise

    def _read(self) -> dict[str, Members]:
        try:
            entries = json.loads(self._file.read_text(encoding="utf-8")).get("queries", {})
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, AttributeError) as error:
            raise StorageError(
                f"{self._file} cannot be read: {error}", "correct it, or move it away"
            ) from error
        return {name: each for name, each in entries.items() if isinstance(each, dict)}

    def _write(self, entries: Mapping[str, Members]) -> None:
        """All or nothing, also when the power fails."""
        about = "Saved by /saved; edit it there, or here while the gateway is stopped."
        text = json.dumps(
            {"host": "127.0.0.1", "extended": {"about": about}, "queries": entries, "updates": {}},
            ensure_ascii=False,
            indent=2,
        )
        part = self._file.with_name(f"{self._file.name}.part")
        try:
            with part.open("w", encoding="utf-8") as file:
                file.write(f"{text}\n")
                file.flush()
                os.fsync(file.fileno())
            part.replace(self._file)
        except OSError as error:
            raise StorageError(
                f"{self._file} cannot be written: {error.strerror or error}", "make room"
            ) from error


def _over(members: Members) -> Members:
    """What a file may have them as; the profile says what is wrong with others."""
    kinds: dict[str, type | tuple[type, ...]] = {
        "windows": dict,
        **dict.fromkeys(TOLD, str),
        "gateways": (str, list),
    }
    found = {name: members.get(name) for name in kinds}
    return {name: each for name, each in found.items() if isinstance(each, kinds[name])}


def _require_good(saved: Saved) -> None:
    """The name, and the SPARQL as a profile would have it."""
    if not re.fullmatch(NAME, saved.name):
        raise BadRequestError(
            f"{saved.name[:80]!a} is no name", "give letters, digits, _ and -, 64 at most"
        )
    try:
        members = {"host": "127.0.0.1", "queries": {saved.name: saved.members()}, "updates": {}}
        findings = list(template_findings(Profile.parse(members)))
    except JsapError as error:
        raise BadRequestError(f"{error.path}: {error.reason}", error.what_to_do) from error
    wrong = [each for each in findings if each.is_error]
    if wrong:
        raise BadRequestError(wrong[0].reason, wrong[0].what_to_do or "correct the SPARQL text")
