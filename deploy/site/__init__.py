"""The documentation as a site: the pages of the checkout, and reference made of the code.

Place: mkdocs.yml names `hooks.py`; nothing of the product imports this.
"""
