"""Clients of the SensorThings API at work: `python sensorthings_agent.py URL`.

Says one JSON object. Runs in an environment of its own, with frost-sta-client and stapy, where
nothing of ours is to be had. What FROST's does is the first example of its own description, and
its further ones, with another URL.
"""

import json
import sys
import warnings
from typing import Any

warnings.simplefilter("ignore")

import frost_sta_client as fsc  # noqa: E402
from geojson import Point  # noqa: E402
from stapy import Entity, Query, config  # noqa: E402


def first_example(service: Any) -> dict[str, Any]:
    """A Thing with a Location, made and found."""
    location = fsc.Location(
        name="here",
        description="and there",
        location=Point((-115.81, 37.24)),
        encoding_type="application/geo+json",
    )
    thing = fsc.Thing(
        name="new thing",
        description="I am a thing with a location",
        properties={"withLocation": True, "owner": "IOSB"},
    )
    thing.locations = [location]
    service.create(thing)
    found = service.things().find(thing.id)
    places = found.get_locations().query().list()
    return {
        "made": thing.id,
        "none": [each.name for each in service.things().query().filter("id eq 1").list()],
        "names": sorted(each.name for each in service.things().query().list()),
        "owner": found.properties["owner"],
        "place": [each.location["coordinates"] for each in places],
    }


def observations(service: Any, thing: str) -> dict[str, Any]:
    """A Datastream, Observations one by one and as an array, and what is asked of them."""
    unit = fsc.model.ext.unitofmeasurement.UnitOfMeasurement(
        name="degree Celsius", symbol="°C", definition="http://qudt.org/vocab/unit/DEG_C"
    )
    made = fsc.Datastream(
        name="air",
        description="of the hall",
        observation_type="http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_Measurement",
        unit_of_measurement=unit,
        observed_property=fsc.ObservedProperty(
            name="temperature", definition="urn:my:temperature", description="of air"
        ),
        sensor=fsc.Sensor(
            name="thermometer", description="red", encoding_type="text/html", metadata="none"
        ),
        thing=service.things().find(thing),
    )
    service.create(made)
    stream = service.datastreams().find(made.id)
    for minute in range(5):
        time = f"2026-03-02T07:0{minute}:00Z"
        service.create(fsc.Observation(result=20 + minute, phenomenon_time=time, datastream=stream))
    array = fsc.model.ext.data_array_value.DataArrayValue()
    array.components = {array.Property.PHENOMENON_TIME, array.Property.RESULT}
    array.datastream = stream
    for minute in (8, 9):
        time = f"2026-03-02T07:0{minute}:00Z"
        array.add_observation(
            fsc.Observation(result=30 + minute, phenomenon_time=time, datastream=stream)
        )
    document = fsc.model.ext.data_array_document.DataArrayDocument()
    document.add_data_array_value(array)
    sent = service.observations().create(document)
    told = stream.get_observations().query().filter("result gt 21").orderby("phenomenonTime", "ASC")
    pages = stream.get_observations().query().top(2).list()
    return {
        "symbol": service.datastreams().find(made.id).unit_of_measurement.symbol,
        "sent": len(sent),
        "filtered": [each.result for each in told.list()],
        "pages": [each.result for each in pages],
        "id": made.id,
    }


def by_stapy(url: str, stream: str) -> dict[str, Any]:
    """The same, read by another client."""
    config.set(STA_URL=f"{url}/")
    names = Query(Entity.Datastream).select("name").get_data_sets()
    results = (
        Query(Entity.Datastream)
        .entity_id(f"'{stream}'")
        .sub_entity(Entity.Observation)
        .select("result")
        .order("phenomenonTime")
        .limit(3)
        .get_data_sets()
    )
    return {"names": names, "results": results}


def main(url: str) -> dict[str, Any]:
    service = fsc.SensorThingsService(url)
    first = first_example(service)
    streams = observations(service, first["made"])
    return {"first": first, "streams": streams, "stapy": by_stapy(url, streams["id"])}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(sys.argv[1])) + "\n")
