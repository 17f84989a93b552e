"""Modbus without I/O: registers, what a poll asks for, payloads and commands."""
