"""What actuations and rules count."""

from dataclasses import asdict

from gateway.actuation.actuating import Actuating
from gateway.actuation.rules import Republisher
from gateway.runtime.measures import Measure


def actuation_measures(actuating: Actuating) -> tuple[Measure, ...]:
    """What became of commands to actuators."""
    consumer, actuators = actuating.consumer, actuating.actuators
    return (
        Measure(
            "actuations",
            "actuations by what became of them",
            lambda: asdict(consumer.statistics),
            label="outcome",
        ),
        Measure(
            "actuations_pending",
            "sent, neither confirmed nor failed",
            lambda: len(consumer.orders.pending),
            is_counter=False,
        ),
        Measure(
            "actuators",
            "that can be told something",
            lambda: len(actuators.by_iri),
            is_counter=False,
        ),
        Measure(
            "actuators_refused", "that are wrong", lambda: len(actuators.errors), is_counter=False
        ),
    )


def rule_measures(republisher: Republisher) -> tuple[Measure, ...]:
    """What rules have published."""
    return (
        Measure("commands", "messages published by rules", lambda: republisher.published),
        Measure("commands_failed", "rows a rule could not fill", lambda: republisher.failed),
    )
