"""JSON inside the scripts of a site."""

from __future__ import annotations

import json
from typing import Any


def harmless(value: Any) -> str:
    """JSON that neither ends a script element nor starts one, whatever its texts say."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
