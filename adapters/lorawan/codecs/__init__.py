"""Byte tables of the models that we know, found by the names that network servers give them.

Facts are from the vendors' public payload documents; names of values are those of the vendors'
own decoders, so a mapping holds whether the network server decodes or we do.
"""

from adapters.lorawan.byte_table import ByteTable, model_key
from adapters.lorawan.codecs.adeunis import ADEUNIS
from adapters.lorawan.codecs.cayenne import CAYENNE_LPP
from adapters.lorawan.codecs.dragino import LDS02, LHT52, LHT65, LSE01
from adapters.lorawan.codecs.elsys import ELSYS
from adapters.lorawan.codecs.milesight import (
    AM107,
    AM300,
    EM300,
    EM310,
    EM500,
    WS52X,
    WS202,
    WS301,
)
from adapters.lorawan.codecs.netvox import R718AB

__all__ = ["TABLES", "table_of"]

_MILESIGHT = (AM107, AM300, EM300, EM310, EM500, WS52X, WS202, WS301)
_DRAGINO = (LHT65, LHT52, LDS02, LSE01)

TABLES = {
    table.name: table for table in (*_MILESIGHT, ELSYS, *_DRAGINO, R718AB, *ADEUNIS, CAYENNE_LPP)
}
"""Every table by its own name, which a mapping may give."""

_BY_MODEL = {
    model: table for table in TABLES.values() for model in (*table.models, model_key(table.name))
}


def table_of(model: str) -> ByteTable | None:
    """The table of the model that a network server, or a mapping, names `model`.

    >>> table_of("ERS CO2").name
    'elsys'
    """
    return _BY_MODEL.get(model_key(model))
