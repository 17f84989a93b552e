"""A row of the table, and the settings that several rows have."""

from collections.abc import Mapping
from dataclasses import dataclass, field

MAPPING = """PREFIX gw: <https://sosa-gateway.example/ns#>
PREFIX unit: <http://qudt.org/vocab/unit/>
INSERT DATA { GRAPH <https://sosa-gateway.example/graph/mappings> {
  <urn:my:kitchen-temperature> a gw:Mapping ;
    gw:topicFilter "kitchen/+/temperature" ;
    gw:format "scalar" ;
    gw:sensor "urn:my:sensor:{1}" ;
    gw:observedProperty <urn:my:temperature> ;
    gw:featureOfInterest <urn:my:kitchen> ;
    gw:unit unit:DEG_C .
} }
"""
"""That of the README."""

WRONG = MAPPING.replace("kitchen", "cellar")

PORTS = '[mqtt]\nport = 0\n[websocket]\nport = 0\n[store]\nkind = "memory"\n[http]\nport = '


@dataclass(frozen=True, slots=True)
class Row:
    """A mistake: how it comes about, what is typed, and what a person reads.

    `at` is where it is typed: "" in a folder of its own, else in that of a gateway or of a disk
    (see `places`). `wrong` and `to_do` are of one line each; nothing is read where both are
    empty. `signals` are sent one after another when what stands before them has been read.
    """

    mistake: str
    typed: str
    code: int
    wrong: str
    to_do: str
    at: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    published: tuple[str, bytes] | None = None
    signals: tuple[tuple[str, str], ...] = ()
    is_slow: bool = False

    @property
    def name(self) -> str:
        """For the list of tests."""
        return self.mistake.replace(" ", "-").replace("`", "")
