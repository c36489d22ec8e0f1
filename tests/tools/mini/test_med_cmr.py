"""Med-CMR's mini data: every dimension, balanced, small, and answered by the pictures."""

from __future__ import annotations

from collections import Counter

import pyarrow.parquet as pq
import pytest

from lmms_medtasks.baselines.phantoms import all_questions
from lmms_medtasks.data import documents, mini, sources
from lmms_medtasks.task_configs.med_cmr.measures import load_dimensions
from lmms_medtasks.task_configs.med_cmr.source import MED_CMR
from tools.mini import med_cmr


@pytest.fixture(scope="module")
def built():
    return med_cmr.rows()


@pytest.fixture(scope="module")
def bundled():
    return {split: pq.read_table(mini.mini_file("med_cmr", split)).to_pylist() for split in ("mcq", "open")}


def test_the_bundled_rows_are_what_the_code_builds(built, bundled):
    for split in bundled:
        plain = [[{k: v for k, v in row.items() if k != "image"} for row in rows[split]] for rows in (built, bundled)]
        assert plain[0] == plain[1]


def test_rows_are_canonical_documents(bundled):
    for rows in bundled.values():
        assert [documents.document_problem(row, MED_CMR.tags) for row in rows] == [None] * len(rows)
        assert len({row["id"] for row in rows}) == len(rows)
    assert set(bundled["mcq"][0]) == set(documents.FIELDS) | set(sources.get("med_cmr").tags)


def test_every_dimension_has_as_many_questions(bundled):
    for split, count in (("mcq", 10), ("open", 5)):
        names = [each.short for each in load_dimensions()]
        assert Counter(row["dimension"] for row in bundled[split]) == dict.fromkeys(names, count)
        # A prefix of the rows (--limit) is a sample of all dimensions.
        assert [row["dimension"] for row in bundled[split][:7]] == names


def test_right_letters_are_balanced(bundled):
    for count in (3, 4, 5):
        letters = Counter(row["answer"] for row in bundled["mcq"] if len(row["options"]) == count)
        assert max(letters.values()) - min(letters.values()) <= 1


def test_the_text_alone_is_worth_little(bundled):
    # The most frequent right option of each question's text, seen with the answers themselves: an upper bound.
    rights: dict[str, Counter[str]] = {}
    for row in bundled["mcq"]:
        rights.setdefault(row["question"], Counter())[row["options"][ord(row["answer"]) - ord("A")]] += 1
    assert sum(counts.most_common(1)[0][1] for counts in rights.values()) / len(bundled["mcq"]) < 0.75
    assert max(max(counts.values()) for counts in rights.values()) <= 2


def test_the_two_splits_ask_different_things(bundled):
    asked = [{(row["image_id"], row["question"]) for row in rows} for rows in bundled.values()]
    assert not asked[0] & asked[1]


def test_open_answers_are_options_of_the_bank(bundled):
    bank = {question.text: set(question.options) for question in all_questions()}
    assert all(row["answer"] in bank[row["question"]] and row["options"] == [] for row in bundled["open"])


def test_the_mapping_names_questions_that_exist():
    names = [name for names in med_cmr._form()["dimensions"].values() for name in names]
    assert set(names) <= {question.name for question in all_questions()} and len(names) == len(set(names))
    assert list(med_cmr._form()["dimensions"]) == [each.short for each in load_dimensions()]


def test_the_bundle_is_small():
    assert sum(mini.mini_file("med_cmr", split).stat().st_size for split in ("mcq", "open")) < 1_000_000
