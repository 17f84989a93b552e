"""What documents show, as tests try it."""

import re

from tests.paths import ROOT


def documented(page: str, beginning: str) -> str:
    """The block of a page that begins so; fails where there is none, or more than one."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```\w*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (found,) = [block for block in blocks if block.startswith(beginning)]
    return str(found)
