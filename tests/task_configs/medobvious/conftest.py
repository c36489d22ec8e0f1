"""Records of MedObvious written by hand, and runs of them in the form that the harness writes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lmms_medtasks.grids import triage
from lmms_medtasks.record import QuestionRecord, ScoreValue
from lmms_medtasks.task_configs.medobvious import measures
from tests.made_up_runs import write_files

POSITIVE = measures.FORMATS
NEGATIVE = ("detection_mcq", "detection_open", "visual_referring")
# item: tier, grid, outlier's place, what the model said of the positives and of the negatives
ITEMS: dict[str, tuple[int, str, str, tuple[str, ...], tuple[str, ...]]] = {
    "v1_a_0": (1, "2x2", "top-left", ("top-left", "top-left", "top-left", "top-left", "yes"), ("none", "none", "no")),
    "v3_b_1": (3, "3x3", "top-center",
               ("none", "top-center", "top-left", "refused", "no"), ("top-left", "ambiguous", "yes")),
}  # fmt: skip


def make_record(task_type, trial, *, negative=0, place="top-left", item="i1", grid="2x2", tier=1, kind="a"):
    """The record of a question that was answered with ``trial``."""
    visual = {0: "yes", 1: "no"}[negative]
    right = visual if task_type == measures.VISUAL else "none" if negative else place
    scores = {
        "accuracy": None if trial == "failed" else float(trial == right),
        **triage.triage_scores([trial], bool(negative)),
        "chance": measures.guess_probability(task_type, grid),
    }
    return QuestionRecord(
        id=f"{item}_{task_type}_{negative}",
        cluster=item,
        trials=(trial,),
        expected=right,
        measures={name: ScoreValue(each) for name, each in scores.items() if each is not None or name == "accuracy"},
        tags={"data": "full", "tier": tier, "task_type": task_type, "kind": kind, "negative": negative, "grid": grid,
              "answer_position": "none" if negative else place or None},
    )  # fmt: skip


def side(*trials, negative=0, **settings):
    """The questions about an item's positive or negative grids, in the order of the formats."""
    formats = NEGATIVE if negative else POSITIVE
    return [
        make_record(name, trial, negative=negative, **settings) for name, trial in zip(formats, trials, strict=True)
    ]


def records_of(items=ITEMS):
    """All questions about these items."""
    found = []
    for item, (tier, grid, place, *said) in items.items():
        for negative, trials in enumerate(said):
            found += side(*trials, negative=negative, place=place, item=item, grid=grid, tier=tier, kind=item[3:4])
    return found


@pytest.fixture
def write(tmp_path):
    """Writes a run (task -> records) and gives its folder; ``settings``: task -> lmms_eval_specific_kwargs."""

    def run(name="run", settings=None, data="full", **tasks):
        folder = tmp_path / name
        folder.mkdir()
        tasks = tasks or {"medobvious": records_of()}
        configs = {
            task: {
                "dataset_kwargs": {"data_files": {"test": "medtasks://medobvious/test"}},
                "lmms_eval_specific_kwargs": {
                    "default": {"prompt": "medobvious/prompts.yml", **(settings or {}).get(task, {})}
                },
                "metadata": {"version": 1.0, "data": data},
            }
            for task in tasks
        }
        lines = {
            task: [
                {"doc_id": i, "filtered_resps": ["?"], "questions": row if isinstance(row, dict) else row.to_json()}
                for i, row in enumerate(rows)
            ]
            for task, rows in tasks.items()
        }
        write_files(folder, lines, configs, config={"model": "stub", "model_args": f"pretrained={name}"})
        return folder

    return run


@pytest.fixture(scope="session")
def records():
    """The records of :data:`ITEMS`, or of other items."""
    return records_of


@pytest.fixture(scope="session")
def one_side():
    """See :func:`side`."""
    return side


@pytest.fixture(scope="session")
def one_record():
    """See :func:`make_record`."""
    return make_record


@pytest.fixture(scope="session")
def with_kind():
    """A record with another kind of outlier."""
    return lambda record, kind: replace(record, tags={**record.tags, "kind": kind})
