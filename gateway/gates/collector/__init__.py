"""The collector: a landing zone that gateways reach by HTTP."""
