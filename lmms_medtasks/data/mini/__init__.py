"""The bundled mini data: procedurally drawn phantoms with questions, enough to run every task without a download.

Numbers on mini data say whether things work; they are no benchmark results.
"""

from __future__ import annotations

from pathlib import Path

from lmms_medtasks.errors import unknown

__all__ = ["FILES", "path"]

FILES: dict[str, dict[str, str]] = {
    "bones_joints": {
        "t1": "bones_joints-t1.parquet",
        "t2": "bones_joints-t2.parquet",
        "t3": "bones_joints-t3.parquet",
        "open": "bones_joints-open.parquet",
        "t8": "bones_joints-t8.parquet",
    },
    "medq_deg": {
        "clean": "medq_deg-clean.parquet",
        "release": "medq_deg-release.parquet",
        "train": "medq_deg-train.parquet",
    },
    "med_cmr": {
        "mcq": "med_cmr-mcq.parquet",
        "open": "med_cmr-open.parquet",
    },
    "medobvious": {
        "test": "medobvious-test.parquet",
    },
    "sure_slake": {
        "train": "sure_slake-train.parquet",
        "validate": "sure_slake-validate.parquet",
        "test": "sure_slake-test.parquet",
    },
    "sure_ovqa": {
        "train": "sure_ovqa-train.parquet",
        "validate": "sure_ovqa-validate.parquet",
        "test": "sure_ovqa-test.parquet",
    },
    "sure_mimic": {
        "train": "sure_mimic-train.parquet",
        "validate": "sure_mimic-validate.parquet",
        "test": "sure_mimic-test.parquet",
    },
}
"""Suite -> split -> file in the folder ``data``.

Of medq_deg, ``clean``: the questions with their pictures. ``release``: some of them with pictures degraded at L1 and
L2. ``train``: questions with answers about other, undrawn pictures (no images), for answering by frequency.
"""


def path(suite: str, split: str) -> Path:
    """The bundled parquet file of a suite's split; raises UserError for a suite or split that has no mini data."""
    if suite not in FILES:
        raise unknown("suite", suite, FILES, "the mini data")
    if split not in FILES[suite]:
        raise unknown("split", split, FILES[suite], f"the mini data of {suite}")
    return Path(__file__).parent / "data" / FILES[suite][split]
