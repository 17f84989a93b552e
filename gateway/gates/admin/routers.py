"""The routes of the JSON interface, for who serves them and who describes them."""

from gateway.gates.admin import (
    actuators,
    alarms,
    broker,
    health_history,
    keeping,
    mappings,
    profiles,
    quarantine,
    raw_messages,
    reasoning,
    rehearsal,
    saved,
    streams,
    windows,
)
from gateway.gates.admin.access import claim, clients, me
from gateway.gates.http import health
from gateway.gates.looking import routers as looking
from gateway.gates.sparql import delayed

ROUTERS = tuple(
    router.api
    for router in (
        me.router,
        clients.router,
        claim.router,
        delayed.router,
        health.router,
        alarms.router,
        keeping.router,
        health_history.router,
        broker.router,
        mappings.reader,
        mappings.mapper,
        profiles.reader,
        profiles.operator,
        profiles.mapper,
        saved.reader,
        saved.writer,
        rehearsal.router,
        streams.router,
        windows.router,
        reasoning.reader,
        reasoning.writer,
        quarantine.router,
        raw_messages.router,
        actuators.commands,
        actuators.router,
        *looking.ROUTERS,
    )
)
"""The JSON interface of a gateway, whole."""
