"""Questions at a level: three degradations each, the same at both levels, nothing copied."""

import datasets
import pyarrow as pa
import pytest
from PIL import Image

from lmms_medtasks import degradations
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness.hooks import TRIALS
from lmms_medtasks.task_configs.medq_deg import hooks

MODALITIES = ["CT", "MRI", "X-ray", "Ultrasound", "Dermoscopy", "Histopathology", "Endoscopy"]


@pytest.fixture
def clean():
    rows = {
        "id": [f"q{number}" for number in range(7)],
        "image": [Image.new("L", (8, 8), number) for number in range(7)],
        "question": ["?"] * 7,
        "options": [["x", "y"]] * 7,
        "answer": ["A"] * 7,
        "image_id": [f"i{number}" for number in range(7)],
        "modality": MODALITIES,
        "degradation": [""] * 7,
        "severity": [0] * 7,
    }
    return datasets.Dataset.from_dict(rows).cast_column("image", datasets.Image())


def test_level_0_is_the_clean_questions(clean):
    level = hooks.level_0(clean)
    assert level["id"] == level["question_id"] == clean["id"]


@pytest.mark.parametrize("severity", [1, 2])
def test_each_question_has_its_three_degradations(clean, severity):
    level = [hooks.level_1, hooks.level_2][severity - 1](clean)
    drawn = {}
    for row in level.remove_columns("image"):
        assert row["severity"] == severity
        assert row["id"] == f"{row['question_id']}/{row['degradation']}/L{severity}"
        drawn.setdefault(row["question_id"], []).append(row["degradation"])
    for question, modality in zip(clean["id"], MODALITIES, strict=True):
        assert drawn[question] == list(degradations.draw_for_question(modality, question, count=3))
        assert len(set(drawn[question])) == 3
    assert len(set(level["id"])) == len(level) == 21


def test_both_levels_have_the_same_degradations(clean):
    first, second = hooks.level_1(clean), hooks.level_2(clean)
    assert first["question_id"] == second["question_id"]
    assert first["degradation"] == second["degradation"]


def test_a_prefix_is_a_sample_of_questions(clean):
    assert hooks.level_1(clean)["question_id"][:7] == clean["id"]


def test_pictures_stay_with_their_questions(clean):
    for row in hooks.level_2(clean):
        assert row["image"].getpixel((0, 0)) == int(row["question_id"][1:])


def test_tables_are_not_copied(clean):
    """Three times the rows, but the image column's buffers are those of the clean questions."""

    def addresses(dataset):
        table = pa.table(dataset.data.table) if not isinstance(dataset.data.table, pa.Table) else dataset.data.table
        return {chunk.buffers()[-1].address for chunk in table.column("image").chunks if chunk.buffers()[-1]}

    assert addresses(hooks.level_1(clean)) == addresses(clean)


def test_a_draw_does_not_depend_on_the_other_questions(clean):
    alone = hooks.level_1(clean.select([3]))
    together = hooks.level_1(clean)
    assert set(alone["id"]) <= set(together["id"])


def test_a_new_run_counts_trials_from_the_start(clean):
    first = TRIALS.next_seed("q0/x/L1")
    hooks.level_0(clean)
    name = hooks.level_1(clean)["id"][0]
    seed = TRIALS.next_seed(name)
    hooks.level_1(clean)
    assert TRIALS.next_seed(name) == seed
    assert TRIALS.next_seed("q0/x/L1") != first


def test_released_rows_of_a_level(clean):
    released = clean.remove_columns("severity").add_column("severity", [1, 2, 1, 2, 1, 2, 2])
    assert hooks.release_level_1(released)["id"] == ["q0", "q2", "q4"]
    assert hooks.release_level_2(released)["question_id"] == ["q1", "q3", "q5", "q6"]


def test_a_level_that_is_not_there(clean):
    with pytest.raises(UserError, match="severity 1 .* Levels present: 0"):
        hooks.release_level_1(clean)


def test_all_levels_of_a_question_stand_together(clean):
    together = hooks.all_levels(clean)
    assert len(together) == 7 * 7
    rows = list(together.remove_columns("image"))
    for start, question in zip(range(0, 49, 7), clean["id"], strict=True):
        block = rows[start : start + 7]
        assert {row["question_id"] for row in block} == {question}
        assert [row["severity"] for row in block] == [0, 1, 1, 1, 2, 2, 2]
    assert len(set(together["id"])) == 49
    assert [row["image"].getpixel((0, 0)) for row in together.select(range(0, 49, 7))] == list(range(7))


def test_released_forms_join_their_clean_question_by_its_texts(clean):
    """Questions 0 and 1 can be told apart by their modality; 5 and 6 are made alike and stay unpaired."""
    alike = clean.remove_columns("modality").add_column("modality", [*MODALITIES[:6], MODALITIES[5]])
    alike = alike.add_column("source", ["pool"] * 7)
    released = alike.remove_columns(["id", "severity", "image_id"])
    released = released.add_column("id", [f"r{number}" for number in range(7)]).add_column("severity", [1, 2] * 3 + [1])
    released = released.add_column("image_id", ["?"] * 7)
    rows = datasets.concatenate_datasets([alike, released.select_columns(alike.column_names)])
    joined = list(hooks.all_release_levels(rows).remove_columns("image"))
    assert [row["id"] for row in joined[:4]] == ["q0", "r0", "q1", "r1"]
    assert joined[0]["question_id"] == joined[1]["question_id"] != joined[2]["question_id"]
    assert all(row["image_id"] == row["question_id"] for row in joined)
    ambiguous = {row["id"]: row["question_id"] for row in joined if row["id"] in ("q5", "q6", "r5", "r6")}
    assert ambiguous["q5"] == "q5"
    assert ambiguous["q6"] == "q6"
    assert ambiguous["r5"] == ambiguous["r6"] not in ("q5", "q6")
    assert {row["id"] for row in joined[-2:]} == {"r5", "r6"}
