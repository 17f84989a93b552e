"""The federation put together: between gateways of one machine, and between members of one."""
