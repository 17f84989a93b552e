"""The web page under load: what it costs the browser, and what the browser costs the gateway."""
