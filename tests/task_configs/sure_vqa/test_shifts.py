"""What the tasks' process_docs make: both tests in turns, corrupted twins, images that are gone."""

import datasets
import pyarrow.parquet as pq
import pytest

from lmms_medtasks.data import mini
from lmms_medtasks.errors import UserError
from lmms_medtasks.task_configs.sure_vqa import hooks


@pytest.fixture(scope="module")
def slake():
    parts = [datasets.Dataset(pq.read_table(mini.mini_file("sure_slake", split))) for split in ("test", "train")]
    return datasets.concatenate_datasets(parts)


def test_in_turns_spreads_both_sides():
    sides = ["iid"] * 6 + ["", "ood", "ood", "ood"]
    order = hooks.in_turns(sides)
    assert sorted(order) == [0, 1, 2, 3, 4, 5, 7, 8, 9]
    assert [sides[row] for row in order[:3]].count("ood") == 1
    assert [sides[row] for row in order[:6]].count("ood") == 2
    assert [row for row in order if sides[row] == "iid"] == [0, 1, 2, 3, 4, 5]


def test_names_come_from_the_file():
    assert hooks.sure_ovqa_multimodal.__name__ == "sure_ovqa_multimodal"
    assert hooks.sure_slake_modality is hooks.sure_slake_modality
    for name in ("sure_slake_nothing", "sure_slake_modality_corrupted_extreme", "sure_slake_modality_both"):
        with pytest.raises(AttributeError, match="shifts: sure_slake_modality"):
            getattr(hooks, name)


def test_a_task_says_which_rule_it_was_made_by(slake):
    made = hooks.sure_slake_modality(slake)
    assert set(made["suite"]) == {"sure_slake"}
    assert set(made["shift"]) == {"sure_slake_modality"}


def test_corrupted_twins_stand_beside_their_questions(slake):
    made = hooks.sure_slake_modality_corrupted_medium(slake)
    iid = hooks.sure_slake_modality_iid(slake)
    rows = list(made.remove_columns(["image", "images"]))
    assert len(rows) == 2 * len(iid)
    for clean, spoilt, name in zip(rows[::2], rows[1::2], iid["id"], strict=True):
        assert (clean["id"], clean["set"], clean["corruption"]) == (name, "iid", "")
        assert (spoilt["id"], spoilt["set"], spoilt["corruption"]) == (f"{name}/medium", "ood", "medium")
        assert clean["question_id"] == spoilt["question_id"] == name
        assert clean["image_id"] == spoilt["image_id"]
    assert "X-Ray" not in made["modality"]


def test_an_image_that_was_moved_away(tmp_path, slake):
    there = tmp_path / "a.jpg"
    there.write_bytes(b"anything")
    images = [{"bytes": None, "path": str(there)}, {"bytes": None, "path": str(tmp_path / "gone.jpg")}]
    columns = {
        "id": ["test/1", "test/2"],
        "split": ["test", "test"],
        "content_type": ["Size", "Organ"],
        "image_id": ["a", "b"],
    }
    features = datasets.Features({**dict.fromkeys(columns, datasets.Value("string")), "image": datasets.Image()})
    dataset = datasets.Dataset.from_dict({**columns, "image": images}, features=features)
    with pytest.raises(UserError, match=r"1 images are no longer where they were.*gone\.jpg\. Put the folder back"):
        hooks.sure_slake_question_type(dataset)
    assert hooks.reference_answers(slake) == []
