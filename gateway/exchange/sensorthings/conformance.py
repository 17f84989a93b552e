"""What of the standard this service does: the first answer that a client gets.

Source: OGC SensorThings API Part 1: Sensing, version 1.1, section 9.1 and annex A.
"""

from collections.abc import Sequence

from gateway.exchange.sensorthings.entities import Document
from gateway.exchange.sensorthings.model import Set
from gateway.exchange.sensorthings.url.bounds import BOUNDS

_SENSING = "http://www.opengis.net/spec/iot_sensing/1.1/req/"
_ENTITIES = (
    *("thing", "location", "historical-location", "datastream", "sensor"),
    *("observed-property", "observation", "feature-of-interest"),
)
CONFORMANCE = (
    *(
        f"{_SENSING}datamodel/{name}/{part}"
        for name in _ENTITIES
        for part in ("properties", "relations")
    ),
    f"{_SENSING}datamodel/entity-control-information/common-control-information",
    f"{_SENSING}resource-path/resource-path-to-entities",
    f"{_SENSING}request-data/order",
    f"{_SENSING}request-data/expand",
    f"{_SENSING}request-data/select",
    f"{_SENSING}request-data/status-code",
    f"{_SENSING}request-data/query-status-code",
    f"{_SENSING}request-data/orderby",
    f"{_SENSING}request-data/top",
    f"{_SENSING}request-data/skip",
    f"{_SENSING}request-data/count",
    f"{_SENSING}request-data/filter",
    f"{_SENSING}request-data/built-in-filter-operations",
    f"{_SENSING}request-data/pagination",
    f"{_SENSING}data-array/data-array",
)
RECEIVE_UPDATES = f"{_SENSING}receive-updates-via-mqtt/receive-updates"
CREATE_OBSERVATIONS = f"{_SENSING}create-observations-via-mqtt/observations-creation"


def service_root(
    root: str, endpoints: Sequence[str], topics: str, reaches_back_to: str | None
) -> Document:
    """The sets with their addresses, and what the service does.

    `endpoints` are the MQTT brokers on which updates are told below `topics`; `reaches_back_to` is
    when the oldest Observation came that is still there, None where nobody may know.
    """
    settings: Document = {"conformance": list(CONFORMANCE)}
    if endpoints:
        settings["conformance"] = [*CONFORMANCE, RECEIVE_UPDATES, CREATE_OBSERVATIONS]
        settings[RECEIVE_UPDATES] = {"endpoints": list(endpoints), "topicPrefix": topics}
        settings[CREATE_OBSERVATIONS] = {"endpoints": list(endpoints), "topicPrefix": ""}
    settings["observations"] = {"reachBackTo": reaches_back_to}
    settings["limits"] = {"top": BOUNDS.page, "expansions": BOUNDS.expansions}
    value = [{"name": each.value, "url": f"{root}/{each.value}"} for each in Set]
    return {"value": value, "serverSettings": settings}
