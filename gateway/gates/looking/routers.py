"""The JSON routes of looking, for the whole interface (`gateway.gates.admin.openapi`)."""

from gateway.gates.looking import quiet, why

ROUTERS = (why.router, quiet.router)
