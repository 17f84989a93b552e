"""Registers of Modbus devices, read as mappings say, written as actuations say."""
