"""`Door`: where newcomers are let in, at the gateway with the CA, while a code is good.

    TLS by the CA's own certificate -> a line with secret and CSR -> certificate and roster

Place: a port of its own, since who comes has no certificate yet. Nobody listens there while nobody
is invited. One line is read of a connection, of few connections at once, each for some seconds;
wrong codes are counted by address and in all, before they are looked at.
"""

import asyncio
import logging
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime

from gateway.errors import GatewayError
from gateway.federation.membership.acts import Acts
from gateway.federation.membership.folder import MembershipFolder
from gateway.federation.membership.letters import MOST_ASKED, answered, read_asked, refused
from gateway.runtime.alarms import AlarmKind, Condition
from gateway.runtime.strangers import WatchedTls
from gateway.security.throttle import Throttle

log = logging.getLogger(__name__)

LOOK_S = 1.0
_PATIENCE_S = 10.0
_AT_ONCE = 8
_THROTTLED = "join"


class Door:
    """Listens at `host`:`port` for newcomers; `run` is its task, in the event loop."""

    def __init__(
        self,
        folder: MembershipFolder,
        member: str,
        host: str,
        port: int,
        now: Callable[[], datetime],
    ) -> None:
        self.is_open = False
        self._folder = folder
        self._member = member
        self._place = host, port
        self._now = now
        self._trouble = ""
        self._throttle = Throttle(time.monotonic)
        self._inside = 0

    async def run(self) -> None:
        """Listen while somebody is invited, until cancelled."""
        server: asyncio.Server | None = None
        try:
            while True:
                is_wanted = await asyncio.to_thread(self._is_wanted)
                if is_wanted and server is None:
                    server = await self._opened()
                elif server is not None and not is_wanted:
                    server.close()
                    server = None
                self.is_open = server is not None
                await asyncio.sleep(LOOK_S)
        finally:
            self.is_open = False
            if server is not None:
                server.close()

    def conditions(self) -> Iterator[Condition]:
        """What keeps newcomers out."""
        if self._trouble:
            host, port = self._place
            hint = "correct [federation] join_port, or free the port"
            yield Condition(AlarmKind.FEDERATION, f"{host}:{port}", self._trouble, hint)

    def _is_wanted(self) -> bool:
        if not self._folder.saved_authority.exists():
            return False
        try:
            return Acts(self._folder, self._member, self._now()).has_invited()
        except GatewayError as error:
            self._trouble = str(error)
            return False

    async def _opened(self) -> asyncio.Server | None:
        host, port = self._place
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.sslobject_class = WatchedTls
        try:
            context.load_cert_chain(self._folder.saved_authority)
            server = await asyncio.start_server(
                self._serve,
                host,
                port,
                limit=MOST_ASKED,
                ssl=context,
                ssl_handshake_timeout=_PATIENCE_S,
            )
        except (OSError, ValueError) as error:
            self._trouble = f"nobody can join: {error}"
            return None
        self._trouble = ""
        log.info("federation_join_open", extra={"host": host, "port": port})
        return server

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One newcomer; what it does wrong it is told, as far as it listens."""
        self._inside += 1
        try:
            if self._inside <= _AT_ONCE:
                with suppress(OSError, TimeoutError):
                    async with asyncio.timeout(_PATIENCE_S):
                        address = str(writer.get_extra_info("peername")[0])
                        writer.write(await self._answer(reader, address))
                        await writer.drain()
        finally:
            self._inside -= 1
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, address: str) -> bytes:
        try:
            self._throttle.attempt(address, _THROTTLED)
            try:
                line = await reader.readline()
            except ValueError:  # longer than the limit
                line = b""
            newcomer = read_asked(line)
            acts = Acts(self._folder, self._member, self._now())
            let_in = await asyncio.to_thread(acts.let_in, newcomer)
        except GatewayError as error:
            log.warning(
                "federation_join_refused", extra={"address": address, "reason": error.description}
            )
            return refused(error)
        self._throttle.succeeded(address, _THROTTLED)
        log.info("federation_joined", extra={"peer": newcomer.member, "address": address})
        return answered(let_in)
