"""What the publisher counts, and what is wrong with it."""

from collections.abc import Iterator, Mapping

from gateway.exchange.homeassistant.publisher import Publisher
from gateway.runtime.alarms import AlarmKind, Condition, Source
from gateway.runtime.measures import Measure


def publisher_measures(publisher: Publisher) -> tuple[Measure, ...]:
    """Entities that there are, and messages sent."""
    seen = publisher.statistics

    def messages() -> Mapping[str, float]:
        return {
            "announcements": seen.announcements,
            "taken_back": seen.taken_back,
            "states": seen.states,
            "events": seen.events,
        }

    return (
        Measure(
            "homeassistant_entities",
            "entities announced to Home Assistant now",
            lambda: publisher.announced,
            is_counter=False,
        ),
        Measure(
            "homeassistant_left_out",
            "entities beyond [homeassistant] entities",
            lambda: seen.left_out,
            is_counter=False,
        ),
        Measure("homeassistant_messages", "messages to Home Assistant", messages, label="what"),
        Measure("homeassistant_births", "times that Home Assistant came up", lambda: seen.births),
        Measure("homeassistant_looks", "times that the graph was read for it", lambda: seen.looks),
    )


def publisher_alarms(publisher: Publisher) -> Source:
    """Entities without room, and virtual sensors that cannot be."""

    def look() -> Iterator[Condition]:
        if left_out := publisher.statistics.left_out:
            yield Condition(
                AlarmKind.LIMIT,
                "[homeassistant] entities",
                f"{left_out} streams and actuators are not announced to Home Assistant",
                "raise this, or leave formats out by not_from",
            )
        for iri, reason in publisher.virtual.errors.items():
            what_to_do = "correct or remove it: docs/homeassistant.md"
            yield Condition(AlarmKind.BROKEN_VIRTUAL_SENSOR, iri, reason, what_to_do)

    return look
