"""What the gateway sends to devices by itself, because their family's protocol wants it.

Place on the way of the data: adapters ask by a `DeviceRequest` among their notices (a Sparkplug
rebirth), ingest hands the notices over, the publisher of the MQTT gate sends. A family asks as long
as it needs to; the rate is kept here, so that a device that does not listen is not flooded.
"""

import logging
from collections.abc import Iterable
from datetime import datetime

from adapters.values.memory import Recent
from adapters.values.message import Message
from adapters.values.notice import DeviceRequest, Notice
from gateway.actuation.rules import Publisher

log = logging.getLogger(__name__)

EVERY_S = 10.0
"""A topic is asked no more often."""

_TOPICS = 4096


class DeviceRequests:
    """Sends what devices are asked for; `hear` is called by the ingest thread alone."""

    def __init__(self, publisher: Publisher, every_s: float = EVERY_S) -> None:
        self.sent = 0
        self._publisher = publisher
        self._every_s = every_s
        self._asked = Recent[str, datetime](_TOPICS)

    def hear(self, message: Message, notices: Iterable[Notice]) -> None:
        """Send the requests among the notices of `message` that are due."""
        for notice in notices:
            if isinstance(notice, DeviceRequest) and self._is_due(notice, message.received_at):
                self.sent += 1
                log.info("device_asked", extra={"topic": notice.topic, "reason": notice.reason})
                self._publisher.publish(notice.topic, notice.payload, notice.qos, retain=False)

    def _is_due(self, request: DeviceRequest, now: datetime) -> bool:
        before = self._asked.get(request.topic)
        if before is not None and abs((now - before).total_seconds()) < self._every_s:
            return False
        self._asked.put(request.topic, now)
        return True
