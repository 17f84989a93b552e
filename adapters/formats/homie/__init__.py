"""The family "homie": the Homie convention, versions 4 and 5."""

from adapters.adapter import Format
from adapters.formats.homie.discovery import propose
from adapters.formats.homie.properties import HomieAdapter, companions, hear

FORMAT = Format(
    HomieAdapter,
    companions=companions,
    propose=propose,
    announcements=(
        "+/5/+/$description",
        "homie/+/+/+/$datatype",
        "homie/+/+/+/$unit",
        "homie/+/+/+/$settable",
        "homie/+/+/+/$format",
        "homie/+/+/+/$name",
    ),
    hear=hear,
    alone=("homie/#",),
)
