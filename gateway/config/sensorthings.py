"""The settings of the SensorThings API: [sensorthings] of gateway.toml (docs/sensorthings.md).

Place: a section of `gateway.config.settings`, of which it knows nothing.
"""

from typing import Literal

from gateway.config.values import Section, TopicPrefix


class SensorThingsSettings(Section):
    """Whether it is served at /sta/v1.1, and where Observations are told by MQTT.

    Topics are `mqtt_prefix`/v1.1/Datastreams(id)/Observations. They are told on the broker of the
    gateway `own`, where it knows who listens; `always` on another broker too; or `never`.
    """

    enabled: bool = True
    mqtt_prefix: TopicPrefix = "sta"
    tell: Literal["own", "always", "never"] = "own"
