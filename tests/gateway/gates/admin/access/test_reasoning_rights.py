"""Who may look at what follows, and who may write axioms and have them tried again."""

from pathlib import Path

from tests.gateway.gates.admin.access.secured import open_house

AXIOM = (
    "INSERT DATA { GRAPH <https://sosa-gateway.example/graph/ontology> "
    "{ <urn:A> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <urn:B> } }"
)
ONTOLOGY = "/rdf-graph-store?graph=https://sosa-gateway.example/graph/ontology"


async def test_axioms_need_a_capability_whoever_may_update_everything(tmp_path: Path) -> None:
    async with open_house(tmp_path, "boss", "nearly", "operator", "reader") as house:
        for who, status in (("nearly", 403), ("operator", 403), ("boss", 200)):
            asked = await house.ask(who, "POST", "/update", data={"update": AXIOM})
            assert asked.status_code == status, who
        for who, status in (("nearly", 403), ("boss", 204)):
            headers = {**await house.token(who), "Content-Type": "text/turtle"}
            content = "<urn:A> <urn:p> <urn:B> ."
            put = await house.http.put(ONTOLOGY, content=content, headers=headers)
            assert put.status_code == status, who
        for who, looked, resumed in (
            ("reader", 403, 403),
            ("operator", 200, 403),
            ("boss", 200, 400),
        ):
            assert (await house.ask(who, "GET", "/reasoning")).status_code == looked, who
            again = await house.ask(who, "POST", "/reasoning/resume")
            assert again.status_code == resumed, who
