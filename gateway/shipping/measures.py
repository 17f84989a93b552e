"""What shipping counts."""

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
