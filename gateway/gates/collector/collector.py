"""The collector: a landing zone that gateways reach by HTTP; the other end of shipping.

Place on the way of the data: in front of the archive, on another machine than the gateways. A
segment is acknowledged when it is whole, of the gateway that sends it, and durable under its name.

    PUT /segments/<name>   201 stored, 200 had it: {"name", "sha256", "bytes"}
    GET /segments/<name>   200 what is stored, 404 nothing

Names are matched whole, so that none leaves the folder; sending again changes nothing.
"""

import asyncio
import hashlib
import os
import re
import secrets
from base64 import b64decode
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gateway.errors import (
    BadRequestError,
    ChecksumError,
    ForbiddenError,
    NotFoundError,
    RequestTimeoutError,
    StorageError,
    TooLargeError,
    TooManyRequestsError,
)
from gateway.gates.collector.received import place_of_received
from gateway.journal.names import SegmentName
from gateway.journal.sealing import sha256_of
from gateway.journal.segment import sync_folder
from gateway.security.guard import Guard

_DIGEST = re.compile(r"(?:.*,)?\s*sha-256=:([A-Za-z0-9+/=]{44}):.*")


@dataclass(frozen=True, slots=True)
class CollectorLimits:
    """Longest segment, uploads at once, and seconds that a peer may be silent.

    Unpacked, a segment has at most `ratio` times `segment_bytes`.
    """

    segment_bytes: int = 67_108_864
    ratio: int = 16
    uploads: int = 16
    silence_s: float = 30.0


class CollectorGate:
    """The endpoints of a landing zone in the folder `root`."""

    def __init__(self, root: Path, guard: Guard, limits: CollectorLimits | None = None) -> None:
        """Raises StorageError for a folder that cannot be written."""
        self.stored = self.refused = 0
        self._root = root
        self._incoming = root / ".incoming"
        self._guard = guard
        self._limits = limits or CollectorLimits()
        self._uploads = 0
        try:
            self._incoming.mkdir(parents=True, exist_ok=True)
            for part in self._incoming.iterdir():
                part.unlink()
        except OSError as error:
            raise _broken(root, error) from error

    def routes(self) -> list[Route]:
        """The endpoints, for `application`."""
        return [
            Route("/segments/{name}", self._put, methods=["PUT"]),
            Route("/segments/{name}", self._get, methods=["GET"]),
            Route("/health", _health),
        ]

    async def _get(self, request: Request) -> Response:
        name = self._name(request)
        path = await asyncio.to_thread(self._find, name)
        if path is None:
            raise NotFoundError(f"{name} has not come yet")
        return await self._described(path, 200)

    async def _put(self, request: Request) -> Response:
        name = self._name(request)
        if self._uploads >= self._limits.uploads:
            raise TooManyRequestsError("too many uploads at once", 5.0)
        self._uploads += 1
        part = self._incoming / f"{secrets.token_hex(8)}.part"
        try:
            digest = await self._receive(request, part)
            _require_digest(digest, name, request.headers.get("content-digest", ""))
            return await self._store(part, name, digest)
        except OSError as error:
            raise _broken(self._root, error) from error
        finally:
            self._uploads -= 1
            part.unlink(missing_ok=True)

    def _name(self, request: Request) -> SegmentName:
        """The segment that is asked about, if the one who asks is its gateway."""
        principal = self._guard.principal(request.headers.get("authorization"))
        try:
            name = SegmentName.parse(request.path_params["name"])
        except ValueError as error:
            raise BadRequestError(str(error), "docs/segments.md has the form of a name") from error
        if not principal.identity or principal.identity != name.gateway:
            raise ForbiddenError(
                f"{principal.identity or 'nobody'} may not send segments of {name.gateway}",
                "the gateway's id must be the identity of its token",
            )
        return name

    async def _receive(self, request: Request, part: Path) -> str:
        """Write the body into a file, durably; tells its SHA-256."""
        digest, size, most = hashlib.sha256(), 0, self._limits.segment_bytes
        if not request.headers.get("content-length", "0").isdecimal():
            raise BadRequestError("Content-Length is no number")
        if int(request.headers.get("content-length", "0")) > most:
            raise _too_large(most)
        with part.open("wb") as file:
            async for block in self._blocks(request):
                size += len(block)
                if size > most:
                    raise _too_large(most)
                digest.update(block)
                await asyncio.to_thread(file.write, block)
            file.flush()
            await asyncio.to_thread(os.fsync, file.fileno())
        return digest.hexdigest()

    async def _blocks(self, request: Request) -> AsyncIterator[bytes]:
        blocks = request.stream()
        while True:
            try:
                async with asyncio.timeout(self._limits.silence_s):
                    block = await anext(blocks, None)
            except TimeoutError as error:
                raise RequestTimeoutError(
                    "the segment comes too slowly", "send it again"
                ) from error
            if block is None:
                return
            yield block

    async def _store(self, part: Path, name: SegmentName, digest: str) -> Response:
        most = self._limits.segment_bytes * self._limits.ratio
        place = await asyncio.to_thread(place_of_received, part, name, digest, most)
        target = self._root / place
        if target.is_file() and await asyncio.to_thread(sha256_of, target) == digest:
            return await self._described(target, 200)
        await asyncio.to_thread(_publish, part, target, self._root)
        self.stored += 1
        return await self._described(target, 201)

    def _find(self, name: SegmentName) -> Path | None:
        for path in (self._root / name.gateway).glob(f"*/{name}"):
            return path
        return None

    async def _described(self, path: Path, status: int) -> Response:
        """What the disk gives back, not what was received."""
        digest = await asyncio.to_thread(sha256_of, path)
        body = {"name": path.name, "sha256": digest, "bytes": path.stat().st_size}
        return JSONResponse(body, status)


async def _health(_: Request) -> Response:
    return JSONResponse({"status": "ok"})


def _require_digest(found: str, name: SegmentName, told: str) -> None:
    """Raises ChecksumError unless the bytes are those of the name and of Content-Digest."""
    match = _DIGEST.fullmatch(told)
    wanted = b64decode(match[1]).hex() if match else found
    if not found.startswith(name.sha12) or found != wanted:
        raise ChecksumError(f"{name}: the SHA-256 of what came is {found}", "send it again")


def _publish(part: Path, target: Path, root: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    os.replace(part, target)
    for folder in (target.parent, target.parent.parent, root):
        sync_folder(folder)


def _too_large(most: int) -> TooLargeError:
    return TooLargeError(f"the segment has more than {most} bytes", "raise --segment-bytes")


def _broken(root: Path, error: OSError) -> StorageError:
    return StorageError(
        f"the landing zone {root} cannot be written: {error.strerror or error}",
        "free disk space or mend the disk; gateways keep what they could not send",
    )
