"""Where data comes from: the hub, local folders and the bundled mini data.

``locate_split(suite, split)`` gives the parquet file that ``medtasks://SUITE/SPLIT`` stands for.
"""

from __future__ import annotations

from lmms_medtasks.data.locating import locate_split
from lmms_medtasks.data.store import LocatedSplit, chosen_data, data_home

__all__ = ["LocatedSplit", "chosen_data", "data_home", "locate_split"]
