"""MedQ-Deg: 24,894 questions about medical images under 18 degradations at three levels (clean, mild, severe).

Two tables a part, one row a question: ``MedQ-Robust-good-*.tsv`` has the clean images, ``MedQ-Robust-simulate-*.tsv``
the authors' own degraded ones. Nobody has tried this reader on the real release: it was written against the columns
that public code reads, and tried on 19 real questions in that form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmms_medtasks.data.release_counts import Expected
from lmms_medtasks.data.sources import REVISION_NOT_KNOWN, DataSource, Split

if TYPE_CHECKING:
    from lmms_medtasks.data.releases import Release
    from lmms_medtasks.task_configs.medq_deg.tables import MedQDegReader


def _opened(release: Release, split: Split) -> MedQDegReader:
    from lmms_medtasks.task_configs.medq_deg.tables import MedQDegReader

    return MedQDegReader(release, split)


MEDQ_DEG = DataSource(
    name="medq_deg",
    title="MedQ-Deg",
    splits=(
        Split("clean", ("MedQ-Robust-good-test.tsv",), "clean questions (L0), test part"),
        Split("release", ("MedQ-Robust-simulate-test.tsv",), "the authors' own degraded images (L1, L2), test part"),
        Split("clean_dev", ("MedQ-Robust-good-dev.tsv",), "clean questions (L0), dev part", default=False),
        Split("release_dev", ("MedQ-Robust-simulate-dev.tsv",), "degraded images (L1, L2), dev part", default=False),
        Split("train", ("MedQ-Robust-good-dev.tsv",), "answered questions for medtasks_most_frequent", default=False),
    ),
    tags={
        **dict.fromkeys(("modality", "degradation", "severity", "capability", "source"), "text"),
        "severity": "integer",
    },
    hub_repository="jiyaoliufd/MedQ-DEG-Bench",
    revision="main",
    licence="not stated in what we have seen; see the dataset page",
    terms="not stated in what we have seen; see the dataset page, and the pages of OmniMedVQA, GMAI-MMBench and "
    "MedXpertQA, which the questions come from",
    paper={"question-answer pairs": 24_894, "clean images": 4_306},
    # The paper has the sums over test and dev part. Its Table 6 is over about half of them (reference/README.md): every
    # accuracy at L0 is a multiple of 1/2,153, every one at L1 and L2 of 1/5,098 or of 1/4,902.
    expected=(
        *(Expected((split,), 4_306 // 2) for split in ("clean", "clean_dev", "train")),
        *(Expected(("release",), 2 * level) for level in (5_098, 4_902)),
        Expected(("clean", "clean_dev"), 4_306),
        Expected(("clean", "train"), 4_306),
        Expected(("release", "release_dev"), 24_894 - 4_306),
    ),
    open_split=_opened,
    preview="clean",
    notes=(
        "The paper counts questions over all levels and both parts; the numbers by which a single table is known to be "
        "whole are worked out from its Table 6.",
        REVISION_NOT_KNOWN,
    ),
    strata=("modality", "source", "capability"),
)

SOURCES = (MEDQ_DEG,)
