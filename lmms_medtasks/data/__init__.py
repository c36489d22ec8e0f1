"""Where data comes from: the hub, local folders and the bundled mini data, through one store and one protocol.

``locate(suite, split)`` gives the parquet file that ``medtasks://SUITE/SPLIT`` stands for.
"""

from __future__ import annotations

from lmms_medtasks.data.locating import digest, locate
from lmms_medtasks.data.store import Located, chosen_data, home

__all__ = ["Located", "chosen_data", "digest", "home", "locate"]
