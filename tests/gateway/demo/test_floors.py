"""The demo's house by MQTT: a question that names neither make nor room, answered by reasoning."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from pyoxigraph import NamedNode

from gateway.app.gateway import Gateway
from gateway.client import AsyncClient
from gateway.client.asynchronous import AsyncConsumer
from gateway.demo.settings import HOUSE_PROFILE, Ports, client_profile, demo_config
from gateway.demo.storeys import build
from jsap.profile import load_profile
from tests.kit.gateways import MAPPINGS, publish, running, update

DEMO = "https://sosa-gateway.example/demo"
ONTOLOGY = "https://sosa-gateway.example/graph/ontology"
BOARD, NODE = f"{DEMO}/device/board-bath", f"{DEMO}/device/senml-office"
NEW = f"{DEMO}/device/new-bedroom"
SENML = b'[{"bn":"urn:x:","n":"office_temperature","u":"Cel","v":27}]'


@asynccontextmanager
async def house(folder: Path) -> AsyncIterator[tuple[Gateway, AsyncConsumer]]:
    """The demo's gateway with its floors, and who is told what is warm upstairs."""
    async with running(demo_config(folder, Ports(0, 0, 0), HOUSE_PROFILE)) as gateway:
        await build(gateway.scheduler)
        profile = client_profile(HOUSE_PROFILE, gateway.http_port, gateway.websocket_port)
        async with (
            AsyncClient(profile) as client,
            client.subscribe("WARM_UPSTAIRS") as consumer,
        ):
            assert (await consumer.receive()).added == ()
            yield gateway, consumer


def warm(consumer: AsyncConsumer) -> set[tuple[str, str]]:
    """Sensors and temperatures."""
    rows = consumer.solutions
    return {
        (str(row["sensor"])[1:-1], str(getattr(row["temperature"], "value", ""))) for row in rows
    }


async def send(gateway: Gateway, topic: str, payload: bytes) -> None:
    await publish(gateway.mqtt_port, [(topic, payload)])


async def move(gateway: Gateway, room: str, floor: str) -> None:
    template = load_profile(HOUSE_PROFILE).updates["MOVE_ROOM"]
    values = {
        "room": NamedNode(f"{DEMO}/room/{room}"),
        "floor": NamedNode(f"{DEMO}/floor/{floor}"),
    }
    await update(gateway, template.render(template.bind(values)))


async def test_two_makes_are_in_one_answer_and_a_new_one_enters_by_its_class(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as (gateway, consumer):
        await send(gateway, "home/bath/temperature", b"26.5")
        await consumer.receive()
        await send(gateway, "senml/office", SENML)
        await consumer.receive()
        assert warm(consumer) == {(BOARD, "26.5"), (NODE, "27")}
        await send(gateway, "home/kitchen/temperature", b"29")
        await update(
            gateway,
            f"INSERT DATA {{ GRAPH <{MAPPINGS}> {{ <urn:new> a gw:Mapping ; "
            f'gw:topicFilter "new/+" ; gw:format "scalar" ; gw:sensor "{DEMO}/device/new-{{1}}" ; '
            f'gw:featureOfInterest "{DEMO}/room/{{1}}" ; gw:sensorClass <urn:make:New> ; '
            "gw:observedProperty <https://sosa-gateway.example/property/temperature> } }",
        )
        await send(gateway, "new/bedroom", b"31")
        axiom = "<http://www.w3.org/2000/01/rdf-schema#subClassOf> "
        axiom += "<https://brickschema.org/schema/Brick#Temperature_Sensor>"
        assert NEW not in dict(warm(consumer))
        await update(gateway, f"INSERT DATA {{ GRAPH <{ONTOLOGY}> {{ <urn:make:New> {axiom} }} }}")
        told = await consumer.receive()
        assert [str(row["sensor"]) for row in told.added] == [f"<{NEW}>"]
        assert told.removed == ()
        await send(gateway, "new/bath", b"30")
        told = await consumer.receive()
        assert [str(row["sensor"]) for row in told.added] == [f"<{DEMO}/device/new-bath>"]


async def test_a_room_that_moves_takes_exactly_its_sensors_along(tmp_path: Path) -> None:
    async with house(tmp_path) as (gateway, consumer):
        await send(gateway, "home/bath/temperature", b"26.5")
        await consumer.receive()
        await send(gateway, "senml/office", SENML)
        await consumer.receive()
        await send(gateway, "home/office/temperature", b"27.5")
        await consumer.receive()
        await move(gateway, "office", "ground")
        told = await consumer.receive()
        offices = {f"<{NODE}>", f"<{DEMO}/device/board-office>"}
        assert {str(row["sensor"]) for row in told.removed} == offices
        assert (told.added, warm(consumer)) == ((), {(BOARD, "26.5")})
        await move(gateway, "office", "upper")
        told = await consumer.receive()
        assert {str(row["sensor"]) for row in told.added} == offices
        assert told.removed == ()


async def test_the_question_without_inference_has_no_answer(tmp_path: Path) -> None:
    async with house(tmp_path) as (gateway, consumer):
        await send(gateway, "home/bath/temperature", b"26.5")
        await consumer.receive()
        text = load_profile(HOUSE_PROFILE).queries["WARM_UPSTAIRS"].text
        assert not list(gateway.scheduler.engine.query(text))  # type: ignore[arg-type]
