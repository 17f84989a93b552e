"""What `sosa-gateway check` looks at, one module a subject; nothing is started nor changed."""
