"""Debian and Raspberry Pi OS: how the package is built, and what it holds beside the product."""
