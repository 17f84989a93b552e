"""A backup by HTTP: what the gateway keeps, as a file to be put away; docs/upgrades.md.

For who has all rights there are: it has every client's secret hash, and the keys that sign tokens.
"""

import asyncio
import time
from typing import Annotated

from fastapi import Depends, Response
from pydantic import Field
from starlette.responses import StreamingResponse

from gateway.admin.keeping.backup import Backups
from gateway.gates.admin.access.clients import PRIVATE
from gateway.gates.http.dependencies import GateOf, require_everything
from gateway.gates.http.json_body import Body, JsonBody
from gateway.gates.http.json_router import JsonRouter

PATH = "/backup"
MEDIA_TYPE = "application/octet-stream"


class BackupBody(Body):
    """How it is to be made: with a passphrase, nobody reads it without."""

    passphrase: Annotated[str, Field(max_length=1024)] = ""


class BackupGate:
    """The endpoint /backup."""

    def __init__(self, backups: Backups, gateway: str) -> None:
        self.backups = backups
        self.gateway = gateway


router = JsonRouter(require_everything)

_Gate = Annotated[BackupGate, Depends(GateOf(BackupGate))]


@router.post(
    PATH,
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
