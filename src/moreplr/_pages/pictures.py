"""Pictures by matplotlib, as parts of a page."""

from __future__ import annotations

import io
import re
import zlib
from typing import Any


def to_svg(figure: Any) -> str:
    """A figure as SVG whose texts are texts in the page's font, the same bytes each time."""
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "moreplr"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None}, transparent=True)
    svg = buffer.getvalue()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    svg = re.sub(r"font-family: [^;]*; |font-family: [^;\"]*(?=\")", "", svg)
    svg = re.sub(r"\s+", " ", svg)
    # Pictures share a page: what they define must not share a name.
    own = f"{zlib.crc32(svg.encode()):x}"
    return re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{own}-", svg)
