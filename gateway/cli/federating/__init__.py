"""`sosa-gateway federation`, one module a subject."""
