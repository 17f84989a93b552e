"""A sample of an export against the SHACL shapes that the gateway ships (ontologies/shapes.ttl)."""

from collections.abc import Sequence
from importlib import resources

from pyoxigraph import RdfFormat, Store, serialize


def check_sample(documents: Sequence[str]) -> dict[str, object]:
    """`observations` checked, whether the sample `conforms`, and the `report` where it does not.

    The graphs of N-Quads are read as one. `conforms` is None where pyshacl is not installed.
    """
    try:
        from pyshacl import validate  # noqa: PLC0415 - half a second, for one job
        from rdflib import Graph  # noqa: PLC0415
    except ImportError:
        return {"observations": 0, "conforms": None, "report": "pyshacl is not installed"}
    store = Store()
    store.load("\n".join(documents).encode(), RdfFormat.N_QUADS)
    data = serialize({quad.triple for quad in store}, format=RdfFormat.N_TRIPLES)
    shapes = (resources.files("ontologies") / "shapes.ttl").read_text(encoding="utf-8")
    conforms, _, report = validate(
        Graph().parse(data=data, format="nt"),
        shacl_graph=Graph().parse(data=shapes, format="turtle"),
    )
    told = "" if conforms else str(report)[:2000]
    return {"observations": len(documents), "conforms": bool(conforms), "report": told}
