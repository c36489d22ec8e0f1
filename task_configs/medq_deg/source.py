"""MedQ-Deg: 24,894 questions about medical images under 18 degradations at three levels (clean, mild, severe).

The paper's names of capabilities (Table 4) and degradations (Table 5) are in ``taxonomy.yml``, the source datasets'
names of the same capabilities in ``capability_names.yml``. :mod:`.source_reader` reads the tables.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from lmms_medtasks import folders
from lmms_medtasks.data.release_counts import ExpectedCounts
from lmms_medtasks.data.sources import REVISION_NOT_KNOWN, DataSource, SourceSplit
from lmms_medtasks.degradations.own_modalities import fold_spelling

if TYPE_CHECKING:
    from lmms_medtasks.data.releases import Release
    from lmms_medtasks.task_configs.medq_deg.source_reader import MedQDegReader


def read_file(name: str) -> Mapping[str, Any]:
    """A YAML file of this folder."""
    return folders.read_yaml(Path(__file__).with_name(name))


@functools.cache
def _mid_rows() -> Mapping[str, Mapping[str, Any]]:
    return {mid["name"]: mid for high in read_file("taxonomy.yml")["capabilities"]["high"] for mid in high["mids"]}


@functools.cache
def mid_capability_names() -> Mapping[str, str]:
    """The six mid-level capabilities, in the order of Table 2's columns, each with the head of its column."""
    return MappingProxyType({name: str(row["short"]) for name, row in _mid_rows().items()})


@functools.cache
def fine_capability_names() -> Mapping[str, str]:
    """The thirty fine-grained capabilities, in the order of Table 4, each with its mid-level capability."""
    return MappingProxyType({fine["name"]: name for name, row in _mid_rows().items() for fine in row["fines"]})


@functools.cache
def category_keys() -> Mapping[str, str]:
    """The keys of the five categories of degradations, in the order of Table 5, each with its printed title."""
    rows = read_file("taxonomy.yml")["degradations"]["categories"]
    return MappingProxyType({key: str(row["title"]) for key, row in rows.items()})


def mid_of_name(name: str) -> str | None:
    """The mid-level capability of a name of Table 4 or of a source dataset, or None if unknown.

    Case, spaces and punctuation do not count.

    >>> mid_of_name("Organ Recognition - Thorax"), mid_of_name("Modality Recognition")
    ('Anatomical Recognition', None)
    """
    return _capability_places().get(fold_spelling(name))


@functools.cache
def _capability_places() -> Mapping[str, str | None]:
    """Folded name -> mid-level capability, or None. Table 4's names take precedence."""
    table: dict[str, str | None] = {}
    for dataset in read_file("capability_names.yml")["datasets"].values():
        for name, row in dataset["names"].items():
            table[fold_spelling(name)] = fine_capability_names()[row["fine"]] if "fine" in row else row.get("mid")
    for mid, row in _mid_rows().items():
        table.update({fold_spelling(name): mid for name in (mid, *row["called"])})
    table.update({fold_spelling(fine): mid for fine, mid in fine_capability_names().items()})
    return MappingProxyType(table)


KEY_FIELDS = ("question", "options", "answer", "modality", "source")
"""The arguments of :func:`question_key`."""


def question_key(question: str, options: list[str], answer: str, modality: str, source: str) -> str:
    """A key shared by the degraded forms of one clean question: ``q-`` and 16 hexadecimal digits.

    The release does not say from which clean image a degraded one was made. Texts are compared in lower case and with
    single spaces. Questions about different images that agree in all fields (some pools ask by template) share a key:
    clusters can be too large, but never lack a degraded form of their question.
    """
    folded = [" ".join(text.lower().split()) for text in (question, answer, modality, source, *options)]
    return "q-" + hashlib.sha256(json.dumps(folded).encode()).hexdigest()[:16]


def _open_split(release: Release, split: SourceSplit) -> MedQDegReader:
    from lmms_medtasks.task_configs.medq_deg.source_reader import MedQDegReader

    return MedQDegReader(release, split)


_CLEAN, _DEGRADED = "MedQ-Robust-good-{}.tsv", "MedQ-Robust-simulate-{}.tsv"

MEDQ_DEG = DataSource(
    name="medq_deg",
    title="MedQ-Deg",
    splits=(
        SourceSplit("clean", (_CLEAN.format("test"),), "clean questions (L0), test part"),
        SourceSplit("release", (_DEGRADED.format("test"),), "the authors' own degraded images (L1, L2), test part"),
        *(
            SourceSplit(
                f"{split}_other_types",
                (_DEGRADED.format(part),),
                f"degradations of types that the paper does not have, {part} part",
                default=False,
                apart_from=split,
            )
            for split, part in (("release", "test"), ("release_dev", "dev"))
        ),
        SourceSplit("clean_dev", (_CLEAN.format("dev"),), "clean questions (L0), dev part", default=False),
        SourceSplit("release_dev", (_DEGRADED.format("dev"),), "degraded images (L1, L2), dev part", default=False),
        SourceSplit("train", (_CLEAN.format("dev"),), "answered questions for medtasks_most_frequent", default=False),
    ),
    tags={"modality": "text", "degradation": "text", "severity": "integer", "capability": "text", "source": "text"},
    hub_repository="jiyaoliufd/MedQ-DEG-Bench",
    revision="main",
    licence="not stated in what we have seen; see the dataset page",
    terms="not stated in what we have seen; see the dataset page, and the pages of OmniMedVQA, GMAI-MMBench and "
    "MedXpertQA, which the questions come from",
    paper={"question-answer pairs": 24_894, "clean images": 4_306},
    # The paper has the sums over test and dev part. Its Table 6 is over about half of them (reference/README.md): each
    # accuracy at L0 is a multiple of 1/2,153, each at L1 and L2 of 1/5,098 or of 1/4,902.
    expected=(
        *(ExpectedCounts((split,), 4_306 // 2) for split in ("clean", "clean_dev", "train")),
        *(ExpectedCounts(("release",), 2 * level) for level in (5_098, 4_902)),
        ExpectedCounts(("clean", "clean_dev"), 4_306),
        ExpectedCounts(("clean", "train"), 4_306),
        ExpectedCounts(("release", "release_dev"), 24_894 - 4_306),
    ),
    open_split=_open_split,
    preview="clean",
    notes=(
        "The paper counts questions over all levels and both parts; the numbers by which a single table is known to be "
        "whole are worked out from its Table 6.",
        REVISION_NOT_KNOWN,
    ),
    strata=("modality", "source", "capability"),
)

SOURCES = (MEDQ_DEG,)
