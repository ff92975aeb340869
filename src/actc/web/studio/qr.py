"""An address as a picture that a phone's camera reads."""

from __future__ import annotations

import io


def draw_qr(address: str) -> str | None:
    """Return the QR code of an address as SVG; None where the package that draws it is not installed."""
    try:
        import segno
    except ImportError:
        return None
    out = io.BytesIO()
    segno.make(address, error="m", micro=False).save(
        out, kind="svg", omitsize=True, xmldecl=False, svgns=True, border=4
    )
    return out.getvalue().decode()
