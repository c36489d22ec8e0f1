"""Rows, prompts and swapped images on the mini data."""

from __future__ import annotations

import datasets
import hypothesis
import pytest
from hypothesis import strategies as st

from lmms_medtasks.data import mini
from lmms_medtasks.data.documents import images_of
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import hooks as shared
from lmms_medtasks.prompt_files import prompt_text
from lmms_medtasks.task_configs.bones_joints import hooks


@pytest.fixture(scope="module")
def split(tmp_path_factory):
    cache = tmp_path_factory.mktemp("hf")

    def load(name):
        return datasets.load_dataset(
            "parquet", data_files={"test": str(mini.mini_file("bones_joints", name))}, cache_dir=str(cache)
        )["test"]  # fmt: skip

    return load


@pytest.fixture(scope="module")
def made(split):
    return hooks.t8_made(split("open"))


@pytest.mark.parametrize("task", ["t4", "t5", "t6", "t7"])
def test_each_task_has_its_rows(split, task):
    assert set(getattr(hooks, task)(split("open"))["task"]) == {task}
    assert len(getattr(hooks, f"{task}_report")(split("open"))) == 25


def test_reports_that_are_not_there(split):
    rows = split("open").remove_columns("report").add_column("report", [""] * 99 + ["A gap."])
    assert len(hooks.t7_report(rows)) == 1
    with pytest.raises(UserError, match="No case of Task IV, Diagnosis Generation has a radiology report"):
        hooks.t4_report(rows)
    with pytest.raises(UserError, match="no question of Task V"):
        hooks.t5(hooks.t4(rows))


def test_task_eight_is_made_of_real_mismatches(split, made):
    sources = {row["case_id"]: row for row in hooks.t4(split("open"))}
    assert len(made) == 25 and set(made["task"]) == {"t8"}
    for row in made:
        text, shown = sources[row["case_id"]], sources[row["image_case"]]
        assert row["site"] == text["site"] != shown["site"] == row["image_site"]
        assert row["question"] == text["question"] and row["id"] == f"t8-{row['case_id']}"
        assert row["answer"] == f"The images show the {shown['site']}, the text is about the {text['site']}."
        assert [image.tobytes() for image in images_of(row)] == [image.tobytes() for image in images_of(shown)]
        assert row["image_id"] == shown["image_id"] and row["image_count"] == len(images_of(row))
    assert len(set(made["image_case"])) == 25  # each case's images once
    assert hooks.t8_made(split("open"))["image_case"][:] == made["image_case"][:]


def test_task_eight_needs_sites(split):
    rows = split("open").remove_columns("site").add_column("site", ["leg"] * 100)
    with pytest.raises(UserError, match="0 of 25 cases are of one of the seven sites"):
        hooks.t8_made(rows)
    rows = rows.remove_columns("site").add_column("site", ["knee"] * 100)
    with pytest.raises(UserError, match=r"Task VIII can't be made: all 25 cases are of one site \(knee\)"):
        hooks.t8_made(rows)


def test_swapped_images_are_of_another_disease(split):
    plain, swapped = split("t3"), hooks.t3_swapped(split("t3"))
    disease = dict(zip(plain["case_id"], plain["disease"], strict=True))
    assert list(swapped["id"]) == list(plain["id"]) and list(swapped["answer"]) == list(plain["answer"])
    for one, other in zip(swapped["case_id"], swapped["image_case"], strict=True):
        assert one != other and disease[one] != disease[other]


def test_the_report_takes_the_images_place():
    doc = {"question": "Medical history: fell.", "options": [], "report": "A gap {x}."}
    settings = {"prompt": "bones_joints/prompt_t4.txt"}
    plain, report = hooks.doc_to_text(doc, settings), hooks.doc_to_text(doc, {**settings, "report": True})
    assert "Medical history: fell." in plain and "A gap" not in plain
    assert report == plain.replace("fell.", "fell.\nRadiology report: A gap {x}.")
    image = {"image": None, "images": []}
    assert shared.doc_to_visual({**doc, **image, "id": "x"}, {"severity": 0}) == []


def test_the_prompt_of_task_eight_gives_no_hint():
    text = prompt_text("bones_joints/prompt_t8.txt").lower()
    assert not any(word in text for word in ("contradict", "mismatch", "inconsisten", "belong", "match", "fit"))


# --- Who gets whose images: never the same site, never one's own, each given once if that can be ----------------------

# The paper's shares of 203 cases: 54, 42, 32, 29, 24, 12, 10.
FIRST = [192, 167, 87, 76, 61, 174, 130, 198]
PAPER = [site for site, n in zip("kshaewp", (54, 42, 32, 29, 24, 12, 10), strict=True) for _ in range(n)]


@hypothesis.settings(max_examples=60, deadline=None)
@hypothesis.given(st.lists(st.sampled_from("abcd"), min_size=2, max_size=30))
def test_never_the_same_site(sites):
    images = [str(n) for n in range(len(sites))]
    if len(set(sites)) == 1:
        with pytest.raises(UserError, match="have no other case"):
            hooks.other_sites(sites, images, 0)
        return
    found = hooks.other_sites(sites, images, 0)
    assert len(found) == len(sites)
    assert all(sites[one] != sites[other] for one, other in enumerate(found))
    if max(map(sites.count, sites)) <= len(sites) / 2:
        assert sorted(found) == list(range(len(sites)))  # each case's images are used once


def test_the_paper_s_sites_all_find_a_partner():
    images = [str(n) for n in range(len(PAPER))]
    found = hooks.other_sites(PAPER, images, "t8", 0)
    assert sorted(found) == list(range(203))
    assert found == hooks.other_sites(PAPER, images, "t8", 0) != hooks.other_sites(PAPER, images, "t8", 1)
    # The pairs are part of the benchmark: another way to draw them asks other questions.
    assert found[:8] == FIRST
    # No two sites are always paired: the knee gets images of every other site.
    assert len({PAPER[found[row]] for row in range(54)}) == 6


def test_the_same_images_of_two_sites_are_no_mismatch():
    for seed in range(20):
        found = hooks.other_sites("abab", ["whole leg", "whole leg", "u", "v"], seed)
        assert found[0] == 3 and found[1] == 2  # not each other's, though their sites differ


def test_more_than_half_of_one_site():
    found = hooks.other_sites("aaab", "1234", 0)
    assert [found[row] for row in range(3)] == [3, 3, 3] and found[3] in (0, 1, 2)


def test_another_disease_where_it_can_be():
    images, diseases = list("uvwxyz"), ["f", "f", "f", "o", "o", ""]
    found = hooks.other_cases(images, diseases, 0)
    assert all(one != other for one, other in enumerate(found))
    assert all(diseases[one] != diseases[other] for one, other in enumerate(found) if diseases[one])
    assert sorted(hooks.other_cases(["u", "v"], ["f", "f"], 0)) == [0, 1]  # the same disease is all there is
    with pytest.raises(UserError):
        hooks.other_cases(["u", "u"], ["f", "o"], 0)  # the same images are no others


def test_nobody_fits():
    with pytest.raises(UserError, match="1 of 2 cases"):
        hooks.draw_partners(2, lambda one, other: one == 0 and other == 1, 0)
