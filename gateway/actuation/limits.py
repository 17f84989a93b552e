"""The limits of actuations, as the configuration gives them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ActuationLimits:
    """Prefix of the topics of commands, time limit of a command, actuations kept an actuator."""

    prefix: str = "actuators"
    time_limit_s: float = 30.0
    keep: int = 20
