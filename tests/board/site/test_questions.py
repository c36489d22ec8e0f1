"""The question browser's data: scores as digits, and texts and images only where terms allow them."""

import json
import re

import numpy as np
import pytest
from PIL import Image

from lmms_medtasks.board.collect import collect
from lmms_medtasks.board.site.question_scores import Scores, scores_of
from lmms_medtasks.board.site.questions import _question, visible
from lmms_medtasks.board.site.suite_words import Shown, shown
from lmms_medtasks.board.site.write_site import Options, build
from lmms_medtasks.errors import UserError
from lmms_medtasks.samples.result_files import Run
from lmms_medtasks.samples.runs import splits_of
from lmms_medtasks.suites.suite import Measure


def read(path):
    text = path.read_text("ascii")
    return json.loads(text[re.search(r"[{\[]", text).start() : text.rindex(")")])


@pytest.fixture
def browse(tmp_path, write):
    """Builds the site of one run and gives a suite's index, its first shard and the site's folder."""

    def make(task, rows, suite, **more):
        write(tmp_path / "run", "m", "AB", "SAID", tasks={task: rows}, **more)
        build(collect([tmp_path]), tmp_path / "site", Options(resamples=0, reports=False))
        folder = tmp_path / "site" / "questions" / suite
        return read(folder / "index.js"), read(next(folder.glob("*-0.js"))), tmp_path / "site"

    return make


@pytest.fixture
def makers():
    from importlib.util import module_from_spec, spec_from_file_location
    from pathlib import Path

    spec = spec_from_file_location("medtasks_site_makers", Path(__file__).with_name("conftest.py"))
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_scores_are_digits_and_texts(browse, makers):
    index, shard, _ = browse("medq_deg", makers.medq_deg, "medq_deg")
    (task,) = index["tasks"]
    # q0 is right at all levels; q1 wrong at all.
    assert dict(zip(task["ids"], task["scores"][0], strict=True)) == {
        "q0": "9", "q0/blur/L1": "9", "q0/blur/L2": "9", "q1": "0", "q1/blur/L1": "0", "q1/blur/L2": "0",
    }  # fmt: skip
    assert task["tags"]["severity"]["values"][1:] == ["0", "1", "2"]
    assert shard[0]["answers"] == [["100.0%", ["SAID", "A"]]]
    assert (shard[0]["prompt"], shard[0]["expected"], task["heads"][0]) == ("SAID?", "A", "SAID?")


def test_a_reply_of_white_space_is_handed_to_the_page_as_an_empty_one():
    scores = Scores(np.array([0.0]), np.array([0.0]), (Measure("accuracy"),), np.array([0]))
    found = _question(0, "q", [{"q": ("Which?", "A", [" \n", "", " A"])}], [scores], {})
    assert found["answers"] == [["0.0%", ["", "", " A"]]]


def test_credentialed_data_is_never_shown(browse, makers):
    metadata = {"agreement": "an agreement", "data": "mini"}
    index, shard, site = browse("sure_mimic_age", makers.sure, "sure_vqa", metadata=metadata)
    assert "terms" in index["tasks"][0]["withheld"]
    assert all(set(each) == {"id", "answers"} and each["answers"][0][1] is None for each in shard)
    assert not (site / "images").exists()
    assert not any("SAID" in path.read_text("utf-8") for path in site.rglob("questions/*/*.js"))


def test_nor_is_it_where_the_run_does_not_say_that_it_is(browse, makers):
    _, shard, site = browse("sure_mimic_age", makers.sure, "sure_vqa", metadata={"data": "mini"})
    assert not any("SAID" in path.read_text("utf-8") for path in site.rglob("questions/*/*.js"))


def test_mini_images_are_shown_without_their_metadata(browse, makers):
    def rows(letters, said):
        found = makers.medq_deg(letters, said)
        for row in found:
            row["questions"]["pair"] = "mini-ct-000-q1"
        return found

    _, shard, site = browse("medq_deg", rows, "medq_deg", metadata={"data": "mini"})
    (picture,) = {path for each in shard for path in each["images"]}
    with Image.open(site / picture) as image:
        assert image.format == "WEBP" and not image.info.keys() & {"exif", "xmp", "icc_profile"}
        assert np.asarray(image).std() > 5


def test_full_images_are_not_shown_unless_asked_for(browse, makers):
    _, shard, site = browse("medq_deg", makers.medq_deg, "medq_deg")
    assert "images" not in shard[0] and not (site / "images").exists()


def test_texts_that_must_be_asked_for(write, runs, board):
    entry = board.entries[0]
    assert not Shown().text_of(entry, ["sure_ovqa"])
    assert Shown(texts=frozenset({"sure_ovqa"})).text_of(entry, ["sure_ovqa"])
    assert not Shown(texts=frozenset({"sure_ovqa"})).text_of(entry, ["sure_ovqa", "sure_mimic"])
    assert not Shown().text_of(entry, []) and not Shown().text_of(entry, ["unheard_of"])
    assert Shown(images=frozenset({"med_cmr"})).images_of(entry, ["med_cmr"])


def test_what_terms_forbid_can_not_be_asked_for():
    assert shown(["sure_ovqa"], ["med_cmr"]) == Shown(frozenset({"sure_ovqa"}), frozenset({"med_cmr"}))
    for texts, images in ((["sure_mimic"], []), ([], ["sure_mimic"]), ([], ["sure_ovqa"])):
        with pytest.raises(UserError, match="its terms keep them back"):
            shown(texts, images)
    with pytest.raises(UserError, match="Did you mean 'med_cmr'"):
        shown([], ["med_crm"])


def test_all_data_sets_of_a_task_are_found():
    files = {"data_files": {"test": ["medtasks://sure_slake/test", "medtasks://sure_mimic/train"]}}
    run = Run(None, {"results": {}, "configs": {"t": {"dataset_kwargs": files}, "other": {}}})
    assert splits_of(run, "t") == [("sure_slake", "test"), ("sure_mimic", "train")]
    assert splits_of(run, "other") == []


def test_a_packs_entry_has_scores_and_no_texts(tmp_path, write, makers):
    from lmms_medtasks.board import packing

    write(tmp_path / "run", "m", "AB", "SAID", tasks={"medq_deg": makers.medq_deg})
    content = packing.pack(collect([tmp_path / "run"]).entries, "Ada Lovelace <ada@example.org>")
    packing.write(content, tmp_path / "packs" / "entry.json")
    build(collect([tmp_path / "packs"]), tmp_path / "site", Options(resamples=0))
    folder = tmp_path / "site" / "questions" / "medq_deg"
    assert "packs" in read(folder / "index.js")["tasks"][0]["withheld"]
    assert read(next(folder.glob("*-0.js")))[0]["answers"] == [["100.0%", None]]
    model = next((tmp_path / "site" / "models").glob("*.html")).read_text()
    assert "Ada Lovelace" in model and "Only packs" in model


def test_a_question_of_no_score_has_none(board):
    entry = next(each for each in board.entries if each.task == "medobvious" and not each.ranked)
    ids = np.array(sorted([*entry.questions.ids.tolist(), "zzz"]))
    scores = scores_of(entry, ids)
    assert np.isnan(scores.values[-1]) and scores.text(len(ids) - 1) is None


def test_what_can_not_be_seen_is_marked():
    assert visible("a\u202eb\x1b[31m\tc\r\nd\u200be") == "a\ufffdb\ufffd[31m\tc\nd\ufffde"
