"""A Mosquitto beside the gateway: its files are ours, its process is not.

What it is told is written by whoever changes it, a gateway or a command; who runs it has it read
them again (`SIGHUP`), since we have no right to.
"""
