"""The clients of a gateway by HTTP: list, let in, remove; docs/security.md.

For who has all rights there are, by the rules of `sosa-gateway client`. A device that speaks MQTT
logs in with what it is given here.
"""

import time
from collections.abc import Mapping
from typing import Annotated, ClassVar

from fastapi import Depends, Path, Query, Response
from pydantic import Field

from gateway.errors import NotFoundError
from gateway.gates.http.dependencies import GateOf, require_everything
from gateway.gates.http.json_body import Body, JsonBody
from gateway.gates.http.json_router import Answer, JsonRouter
from gateway.gates.http.query_parameters import MOST, Limit, Parameters
from gateway.security.clients import Clients, state_of
from gateway.security.identity import Identity, Kind
from gateway.security.policy_text import policy_of, words_of

PATH = "/clients"

PRIVATE = {"Cache-Control": "no-store"}
"""Of answers that have a secret."""

Words = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=2048)]],
    Field(default_factory=list, max_length=1000),
]


class PolicyBody(Body):
    """What a client may do, in the words of `sosa-gateway client add`; no more than that."""

    query: Words
    subscribe: Words
    update: Words
    publish: Words
    receive: Words
    may: Words

    @property
    def words(self) -> Mapping[str, list[str]]:
        """The parts by their names."""
        return {name: getattr(self, name) for name in type(self).model_fields}


class ClientBody(Body):
    """A client to be let in; without a `password` a secret is made for it."""

    hint: ClassVar[str] = "docs/security.md shows the members"

    client_id: Annotated[str, Field(min_length=1, max_length=256)]
    policy: Annotated[PolicyBody, Field(default_factory=PolicyBody)]
    kind: Annotated[str, Field(pattern="^(application|device|user)$")] = "application"
    password: Annotated[str, Field(max_length=1024)] = ""


class Listing(Parameters):
    """A page of the clients: those behind `after` by their names, so many."""

    after: Annotated[str, Field(description="name: those behind it alone", max_length=256)] = ""
    limit: Annotated[Limit, Field(description="most of them")] = MOST


class ClientTold(Answer):
    """A client; `client_id` is its name until it has registered."""

    client_id: str
    name: str
    kind: str
    state: str
    policy: dict[str, list[str]]


class ClientsTold(Answer):
    """By name; `next` is what `after` is on the next page, and is there where there is one."""

    clients: list[ClientTold]
    next: str = ""


class ClientMade(ClientTold):
    """A new client, and its secret, which is told here and never again."""

    client_secret: str


class ClientsGate:
    """The clients, where there are any."""

    def __init__(self, clients: Clients | None) -> None:
        self._clients = clients

    def clients(self) -> Clients:
        """What lets them in and out. Raises NotFoundError where nobody is asked who they are."""
        if self._clients is None:
            raise NotFoundError(
                "nobody is asked who they are here", "say [security] enabled = true"
            )
        return self._clients


_Gate = Annotated[ClientsGate, Depends(GateOf(ClientsGate))]


async def _clients(gate: _Gate) -> Clients:
    return gate.clients()


router = JsonRouter(require_everything, _clients)

_Clients = Annotated[Clients, Depends(_clients)]


@router.get(PATH, "the clients and what they may do", "by name", 404)
async def list_clients(clients: _Clients, listing: Annotated[Listing, Query()]) -> ClientsTold:
    """Without their secrets, which nobody keeps."""
    found = [each for each in clients.all() if each.name > listing.after]
    shown = found[: listing.limit]
    told = [ClientTold.model_validate(_members(each)) for each in shown]
    if len(found) > len(shown):
        return ClientsTold(clients=told, next=shown[-1].name)
    return ClientsTold(clients=told)


@router.post(PATH, "let a client in, with these rights and no others", "its secret, once", 404, 409)
async def add_client(
    clients: _Clients,
    response: Response,
    body: Annotated[ClientBody, Depends(JsonBody(ClientBody))],
) -> ClientMade:
    """In force when this is answered."""
    wanted = Identity(body.client_id, Kind(body.kind), policy_of(body.policy.words))
    made, credentials = await clients.add(wanted, body.password)
    response.headers.update(PRIVATE)
    return ClientMade.model_validate({**_members(made), "client_secret": credentials.client_secret})


@router.silent("DELETE", f"{PATH}/{{id:path}}", "remove a client", "it is gone", 404, 409)
async def remove_client(clients: _Clients, id_: Annotated[str, Path(alias="id")]) -> None:
    """What it has open ends; the last one with all rights stays."""
    await clients.remove(id_)


def _members(identity: Identity) -> dict[str, object]:
    return {
        "client_id": identity.client_id or identity.name,
        "name": identity.name,
        "kind": identity.kind.value,
        "state": state_of(identity, time.time()),
        "policy": words_of(identity.policy),
    }
