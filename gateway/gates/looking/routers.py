"""The JSON routes of looking, for the whole interface (`gateway.gates.admin.openapi`)."""

from gateway.gates.looking import federation, operations, quiet, subscriptions, trail, why

ROUTERS = (
    why.router,
    trail.router,
    quiet.router,
    subscriptions.router,
    operations.router,
    federation.router,
)
