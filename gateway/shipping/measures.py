"""What shipping counts, and what is wrong with it."""

from collections.abc import Iterator

from gateway.runtime.alarms import AlarmKind, Condition, Source
from gateway.runtime.measures import Measure
from gateway.shipping.shipper import Shipper


def shipping_measures(shipper: Shipper | None) -> tuple[Measure, ...]:
    """What landing zones have confirmed; nothing where there is none."""
    if shipper is None:
        return ()
    seen = shipper.statistics
    return (
        Measure("shipping_delivered", "segments a landing zone confirmed", lambda: seen.delivered),
        Measure("shipping_bytes", "bytes of these", lambda: seen.bytes),
        Measure("shipping_failures", "deliveries that failed", lambda: seen.failures),
        Measure(
            "shipping_failing",
            "1 since the last delivery failed",
            lambda: bool(seen.failing),
            is_counter=False,
        ),
    )


def shipping_alarms(shipper: Shipper | None) -> Source:
    """The last delivery failed; nothing where there is no landing zone."""

    def look() -> Iterator[Condition]:
        if shipper is not None and shipper.statistics.failing:
            hint = "it is tried again; meanwhile the journal keeps what it has"
            yield Condition(
                AlarmKind.SHIPPING, shipper.destination, shipper.statistics.failing, hint
            )

    return look
