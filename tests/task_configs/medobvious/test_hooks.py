"""Which questions a task has, in which order, and what it asks."""

import datasets
import pytest

from lmms_medtasks.data import mini
from lmms_medtasks.errors import UserError
from lmms_medtasks.task_configs.medobvious import hooks


@pytest.fixture(scope="module")
def dataset():
    return datasets.Dataset.from_parquet(str(mini.mini_file("medobvious", "test")))


def test_a_prefix_holds_whole_items_of_all_tiers(dataset):
    ordered = hooks.all_items(dataset)
    assert sorted(ordered["id"]) == sorted(dataset["id"])
    items = list(ordered["item"])
    for start in range(0, len(items), 8):
        assert len(set(items[start : start + 8])) == 1
    assert list(ordered["tier"])[:40:8] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    "name", ["detection_mcq", "detection_open", "referring_mcq", "referring_open", "visual_referring"]
)
def test_one_format(dataset, name):
    chosen = getattr(hooks, name)(dataset)
    assert set(chosen["task_type"]) == {name}
    assert len(chosen) == list(dataset["task_type"]).count(name)
    assert list(chosen["tier"])[0] == 1


@pytest.mark.parametrize("tier", [1, 2, 3, 4, 5])
def test_one_tier(dataset, tier):
    chosen = getattr(hooks, f"t{tier}")(dataset)
    assert set(chosen["tier"]) == {tier}
    assert len(set(chosen["task_type"])) == 5


def test_a_tier_that_the_data_has_not_is_an_error(dataset):
    with pytest.raises(UserError, match="No question with tier 2"):
        hooks.t2(hooks.t1(dataset))


QUESTION = "Which {position} in this 2×2 grid?"
OPTIONS = ["top-left", "top-right"]


def test_options_are_added_only_where_the_question_shows_none():
    document = {"question": QUESTION, "options": OPTIONS}
    expected = f"{QUESTION}\n\n  A) top-left\n  B) top-right\n\nReply with ONLY the letter of your answer."
    assert hooks.doc_to_text(document) == expected
    assert hooks.doc_to_text({"question": expected, "options": OPTIONS}) == expected
    assert hooks.doc_to_text({"question": QUESTION, "options": []}) == QUESTION


def test_neutral_wording_says_nothing_of_the_sign(dataset):
    settings = {"prompt": "medobvious/prompts.yml", "wording": "neutral"}
    texts = {}
    for row in hooks.all_items(dataset).remove_columns("image"):
        if not row["task_type"].startswith("referring"):
            texts.setdefault((row["task_type"], row["grid"]), set()).add(hooks.doc_to_text(row, settings))
    assert len(texts) == 6
    assert all(len(each) == 1 for each in texts.values())
    assert "3×3 grid" in next(iter(texts["detection_open", "3x3"]))
    assert "  J) None" in next(iter(texts["detection_mcq", "3x3"]))


def test_neutral_wording_leaves_referring_questions(dataset):
    row = next(row for row in dataset.remove_columns("image") if row["task_type"] == "referring_mcq")
    assert hooks.doc_to_text(row, {"wording": "neutral"}) == row["question"]


def test_the_minis_own_questions_do_not_give_the_sign_away(dataset):
    signs = {}
    for row in dataset.remove_columns("image"):
        if not row["task_type"].startswith("referring"):
            signs.setdefault(row["question"], set()).add(row["negative"])
    assert all(each == {0, 1} for each in signs.values())
