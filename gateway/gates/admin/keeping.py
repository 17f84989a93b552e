"""What the gateway keeps by HTTP: as a file to be put away, and back from one; docs/upgrades.md.

For who has all rights there are: a backup has every client's secret hash and the keys that sign
tokens. Settings are no data: a restore leaves them to whoever owns their file.
"""

import asyncio
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import unquote

from fastapi import Depends, Header, Query, Response
from pydantic import Field, PlainValidator, WithJsonSchema
from starlette.requests import Request
from starlette.responses import StreamingResponse

from gateway.admin.keeping.backup import Backups
from gateway.admin.keeping.replacement import commit
from gateway.admin.keeping.restore import LAST_EPOCH, Unpacked, unpack
from gateway.errors import ConflictError, RequestTimeoutError, TooLargeError
from gateway.gates.admin.access.clients import PRIVATE
from gateway.gates.http.dependencies import GateOf, require_everything, served_by
from gateway.gates.http.json_body import Body, JsonBody
from gateway.gates.http.json_router import Answer, JsonRouter
from gateway.gates.http.query_parameters import Parameters, WholeNumber
from gateway.runtime.folders import disk_error

MEDIA_TYPE = "application/octet-stream"
_LEFT_FREE = 67_108_864
_COMING = "coming.backup"


class BackupBody(Body):
    """How it is to be made: with a passphrase, nobody reads it without."""

    passphrase: Annotated[str, Field(max_length=1024)] = ""


class RestoreAsked(Parameters):
    """What else is to be done: see `sosa-gateway restore`."""

    replace: Annotated[
        Literal["true", "false"], Field(description="put readings aside that it is not of")
    ] = "false"
    epoch: Annotated[
        int | None,
        PlainValidator(WholeNumber(1, LAST_EPOCH)),
        WithJsonSchema({"type": "integer", "minimum": 1, "maximum": LAST_EPOCH}),
        Field(description="the epoch to begin, where the clock is not set"),
    ] = None


class RestoredTold(Answer):
    """What takes its place at the next start, and whether the gateway starts anew by itself."""

    gateway: str
    epoch: int
    left_out: list[str]
    starts_anew: bool


@dataclass(slots=True)
class KeepingGate:
    """The endpoints /backup and /restore; `start_anew` is None where nobody would start it."""

    gateway: str
    data: Path
    backups: Backups
    start_anew: Callable[[], None] | None = None
    _restoring: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        """What came before a kill takes room that nobody else gives back."""
        with suppress(OSError):
            (self.data / _COMING).unlink(missing_ok=True)

    async def restore(self, request: Request, passphrase: str, asked: RestoreAsked) -> RestoredTold:
        """Take the body as a backup. Raises ConflictError and what `unpack` raises."""
        if self._restoring.locked():
            raise ConflictError("a restore is under way", "wait until it is done")
        async with self._restoring:
            coming = self.data / _COMING
            try:
                await self._receive(request, coming)
                found = await asyncio.to_thread(self._unpacked, coming, passphrase, asked)
            except OSError as error:
                raise disk_error(
                    "the backup cannot be taken", self.data, error, "mend the disk"
                ) from error
            finally:
                coming.unlink(missing_ok=True)
        if self.start_anew is not None:
            self.start_anew()
        backup = found.backup
        return RestoredTold(
            gateway=backup.gateway,
            epoch=backup.epoch,
            left_out=list(backup.left_out),
            starts_anew=self.start_anew is not None,
        )

    async def _receive(self, request: Request, coming: Path) -> None:
        """As long as the disk has room, and something comes."""
        patience_s = served_by(request).limits.body_timeout_s
        coming.unlink(missing_ok=True)
        descriptor = os.open(coming, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "wb") as file:
            chunks = aiter(request.stream())
            while True:
                try:
                    async with asyncio.timeout(patience_s):
                        chunk = await anext(chunks, None)
                except TimeoutError as error:
                    raise RequestTimeoutError(
                        f"nothing came for {patience_s:g} s", "send it again"
                    ) from error
                if chunk is None:
                    return
                disk = os.fstatvfs(descriptor)
                if disk.f_bavail * disk.f_frsize < _LEFT_FREE + len(chunk):
                    raise TooLargeError("there is no room for this backup", "make room on the disk")
                await asyncio.to_thread(file.write, chunk)

    def _unpacked(self, coming: Path, passphrase: str, asked: RestoreAsked) -> Unpacked:
        with coming.open("rb") as source:
            found = unpack(self.data, source, passphrase)
        epoch = found.backup.behind(time.time(), asked.epoch)
        if epoch is None:
            raise ConflictError(
                "the clock of the gateway is behind this backup, so no epoch is known to be new",
                "wait until its clock is set, or send epoch=N",
            )
        commit(self.data, found.plan(epoch, replace=asked.replace == "true"))
        return found


router = JsonRouter(require_everything)

_Gate = Annotated[KeepingGate, Depends(GateOf(KeepingGate))]


@router.post(
    "/backup",
    "what the gateway keeps, as one file",
    "the file",
    409,
    answers={200: {"content": {MEDIA_TYPE: {}}}},
)
async def make_backup(
    gate: _Gate, body: Annotated[BackupBody, Depends(JsonBody(BackupBody))]
) -> Response:
    """One at a time; the gateway goes on meanwhile."""
    parts = await asyncio.to_thread(gate.backups.make, body.passphrase)
    name = f"{gate.gateway}-{time.strftime('%Y%m%d', time.gmtime())}.backup"
    headers = {**PRIVATE, "Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(parts, media_type=MEDIA_TYPE, headers=headers)


@router.post(
    "/restore",
    "have the gateway be as a backup says, from its next start on",
    "what takes its place",
    409,
    raw_body=MEDIA_TYPE,
)
async def take_backup(
    gate: _Gate,
    request: Request,
    asked: Annotated[RestoreAsked, Query()],
    passphrase: Annotated[
        str,
        Header(alias="Passphrase", description="of the backup, percent-encoded"),
    ] = "",
) -> RestoredTold:
    """The settings stay as they are; under a service manager the gateway starts anew at once."""
    return await gate.restore(request, unquote(passphrase), asked)
