"""`ActuationTemplates`: the UPDATEs that change the status of an actuation, from the JSAP profiles.

Place on the way of the data: between the decisions of `orders` and the scheduler. What they say of
an actuation they say only while it is there: who deletes one takes it back.
"""

from collections.abc import Mapping
from datetime import datetime

from pyoxigraph import Literal, NamedNode, Quad

from gateway.actuation.orders import Confirmation, Order, Pending
from gateway.profiles import Profiles, UpdateTemplates
from gateway.rdf.namespaces import ACTUATIONS_GRAPH, GW, XSD
from gateway.store.update import BoundUpdate

_STATUS = NamedNode(GW + "status")
_SENT = NamedNode(GW + "Sent")
_DATE_TIME = NamedNode(XSD + "dateTime")

Values = Mapping[str, NamedNode | Literal]


class ActuationTemplates:
    """The templates …_ACTUATION of the profiles."""

    def __init__(self, profiles: Profiles) -> None:
        """Raises ConfigurationError or SparqlSyntaxError for a template missing or wrong."""
        names = ("REQUEST", "SEND", "CONFIRM", "FAIL", "SUPERSEDE", "FORGET")
        self._templates = UpdateTemplates(profiles, (f"{name}_ACTUATION" for name in names))

    def request(self, actuation: str, actuator: str, value: Literal) -> BoundUpdate:
        """Somebody wants it; nothing where the actuation is there already."""
        values: Values = {"actuator": NamedNode(actuator), "value": value}
        return self._bind("REQUEST", actuation, values)

    def send(self, order: Order, now: datetime) -> BoundUpdate:
        """An order is about to be published; nothing unless it is requested and was never sent."""
        actuator = order.actuator
        return self._bind(
            "SEND",
            order.request.iri,
            {
                "property": NamedNode(actuator.observed_property),
                "feature": NamedNode(actuator.feature),
                "sentAt": _stamp(now),
            },
        )

    def confirm(self, pending: Pending, confirmation: Confirmation) -> BoundUpdate:
        """A reading has the commanded value."""
        values: Values = {
            "observation": NamedNode(confirmation.observation),
            "endedAt": _stamp(confirmation.received_at),
        }
        return self._bind("CONFIRM", pending.iri, values)

    def fail(self, actuation: str, reason: str, now: datetime) -> BoundUpdate:
        """An actuation will not be confirmed, or is not even sent."""
        values: Values = {"reason": Literal(reason), "endedAt": _stamp(now)}
        return self._bind("FAIL", actuation, values)

    def supersede(self, actuation: str, now: datetime) -> BoundUpdate:
        """A later one has taken its place."""
        return self._bind("SUPERSEDE", actuation, {"endedAt": _stamp(now)})

    def forget(self, actuation: str) -> BoundUpdate:
        """The store has it no more."""
        return self._bind("FORGET", actuation, {})

    def _bind(self, name: str, actuation: str, values: Values) -> BoundUpdate:
        bound = {"actuation": NamedNode(actuation), **values}
        return self._templates.bind(f"{name}_ACTUATION", bound)


def sent_mark(actuation: str) -> Quad:
    """What SEND_ACTUATION adds where it does something."""
    return Quad(NamedNode(actuation), _STATUS, _SENT, ACTUATIONS_GRAPH)


def _stamp(time: datetime) -> Literal:
    return Literal(time.isoformat().replace("+00:00", "Z"), datatype=_DATE_TIME)
