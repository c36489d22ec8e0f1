"""The question browser's data: indexes to filter by, bounded shards, texts only where terms allow them."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from lmms_medtasks.board.collect import collect_entries
from lmms_medtasks.board.site import question_scores, questions, suite_words
from lmms_medtasks.board.site.question_data import QuestionData
from lmms_medtasks.board.site.question_scores import QuestionScores, scores_of
from lmms_medtasks.board.site.suite_words import AllowedData, parse_allowed_data, sort_suites
from lmms_medtasks.board.site.write_site import SiteOptions, build_site
from lmms_medtasks.errors import UserError
from lmms_medtasks.report.csv_writer import render_csv
from lmms_medtasks.report.document import Cell, Frame, FrameColumn, FrameRow
from lmms_medtasks.samples.result_files import ResultFile
from lmms_medtasks.samples.runs import list_task_splits
from lmms_medtasks.visible_text import replace_invisible


def read(path):
    text = path.read_text("ascii")
    return json.loads(text[re.search(r'[{\[]|"', text).start() : text.rindex(")")])


@pytest.fixture
def browse(tmp_path, write):
    """Builds the site of one run and gives its task, that task's index, its first shard and the site's folder."""

    def make(task, rows, suite, **more):
        write(tmp_path / "run", "m", "AB", "SAID", tasks={task: rows}, **more)
        build_site(collect_entries([tmp_path]), tmp_path / "site", SiteOptions(resamples=0, reports=False))
        folder = tmp_path / "site" / "questions" / suite
        (found,) = read(folder / "index.js")["tasks"]
        own = folder / found["folder"]
        return found, read(own / "index.js"), read(own / "0.js"), tmp_path / "site"

    return make


@pytest.fixture
def makers():
    from importlib.util import module_from_spec, spec_from_file_location
    from pathlib import Path

    spec = spec_from_file_location("medtasks_site_makers", Path(__file__).with_name("conftest.py"))
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def answers_of(shard, number):
    """What the models got for a question of a shard: score, its digit, replies."""
    question = shard["questions"][number]
    found = [question["answers"][place] for place in question["who"] if place >= 0]
    return [(*shard["scores"][score], replies) for score, replies in found]


def test_scores_are_digits_and_texts(browse, makers):
    task, index, shard, site = browse("medq_deg", makers.medq_deg, "medq_deg")
    digits = read(site / "questions" / "medq_deg" / task["folder"] / "model-0.js")
    # q0 is right at all levels; q1 wrong at all.
    assert dict(zip(index["ids"], digits, strict=True)) == {
        "q0": "9", "q0/blur/L1": "9", "q0/blur/L2": "9", "q1": "0", "q1/blur/L1": "0", "q1/blur/L2": "0",
    }  # fmt: skip
    assert index["tags"]["severity"]["values"] == ["", "0", "1", "2"]
    # Right is A; the letters that were read, not the words of the replies.
    assert (shard["questions"][0]["text"], shard["questions"][0]["right"]) == ("SAID?", "A")
    assert answers_of(shard, 0) == [("100.0%", "9", "AA")]


def test_credentialed_data_is_never_shown(browse, makers):
    metadata = {"agreement": "an agreement", "data": "mini"}
    task, _, shard, site = browse("sure_mimic_age", makers.sure, "sure_vqa", metadata=metadata)
    assert "terms" in task["withheld"]
    assert all(set(each) == {"id", "answers", "who"} for each in shard["questions"])
    assert answers_of(shard, 0)[0][2] is None
    assert not (site / "images").exists()
    assert not any("SAID" in path.read_text("utf-8") for path in site.rglob("questions/**/*.js"))


def test_nor_is_it_where_the_run_does_not_say_that_it_is(browse, makers):
    _, _, _, site = browse("sure_mimic_age", makers.sure, "sure_vqa", metadata={"data": "mini"})
    assert not any("SAID" in path.read_text("utf-8") for path in site.rglob("questions/**/*.js"))


def test_texts_that_must_be_asked_for(write, runs, board):
    entry = board.entries[0]
    assert not AllowedData().text_of(entry, ["sure_ovqa"])
    assert AllowedData(texts=frozenset({"sure_ovqa"})).text_of(entry, ["sure_ovqa"])
    assert not AllowedData(texts=frozenset({"sure_ovqa"})).text_of(entry, ["sure_ovqa", "sure_mimic"])
    assert not AllowedData().text_of(entry, []) and not AllowedData().text_of(entry, ["unheard_of"])
    assert AllowedData(images=frozenset({"med_cmr"})).images_of(entry, ["med_cmr"])


def test_what_terms_forbid_can_not_be_asked_for():
    assert parse_allowed_data(["sure_ovqa"], ["med_cmr"]) == AllowedData(
        frozenset({"sure_ovqa"}), frozenset({"med_cmr"})
    )
    for texts, images in ((["sure_mimic"], []), ([], ["sure_mimic"]), ([], ["sure_ovqa"])):
        with pytest.raises(UserError, match="its terms keep them back"):
            parse_allowed_data(texts, images)
    with pytest.raises(UserError, match="Did you mean 'med_cmr'"):
        parse_allowed_data([], ["med_crm"])


def test_all_data_sets_of_a_task_are_found():
    files = {"data_files": {"test": ["medtasks://sure_slake/test", "medtasks://sure_mimic/train"]}}
    run = ResultFile(None, {"results": {}, "configs": {"t": {"dataset_kwargs": files}, "other": {}}})
    assert list_task_splits(run, "t") == [("sure_slake", "test"), ("sure_mimic", "train")]
    assert list_task_splits(run, "other") == []


def test_a_packs_entry_has_scores_and_no_texts(tmp_path, write, makers):
    from lmms_medtasks.board import packing

    write(tmp_path / "run", "m", "AB", "SAID", tasks={"medq_deg": makers.medq_deg})
    content = packing.make_submission(collect_entries([tmp_path / "run"]).entries, "Ada Lovelace <ada@example.org>")
    packing.write_submission(content, tmp_path / "packs" / "entry.json")
    board = collect_entries([tmp_path / "packs"])
    build_site(replace(board, owned=True), tmp_path / "site", SiteOptions(resamples=0))
    folder = tmp_path / "site" / "questions" / "medq_deg"
    assert "<p>The scores of each question." in folder.with_suffix(".html").read_text("utf-8")
    assert '<small class="level">scores only</small>' in (tmp_path / "site" / "index.html").read_text("utf-8")
    assert "packs" in read(folder / "index.js")["tasks"][0]["withheld"]
    assert answers_of(read(folder / "medq_deg" / "0.js"), 0) == [("100.0%", "9", None)]
    model = next((tmp_path / "site" / "models").glob("*.html")).read_text()
    assert (
        'verified">scores only</a>' in model
        and "submitted by Ada Lovelace" in model
        and "ada@" not in model
        and "There is no report: a submission" in model
    )


def test_questions_are_listed_as_people_count(tmp_path, runs):
    """q2 before q10; scores, tags and replies go with their question."""
    for model, letters in (("m", "ABABABABABAB"), ("n", "AAAAAAAAAAAA")):
        rows = runs.choice_rows({f"q{number}": letter for number, letter in enumerate(letters)})
        for number, row in enumerate(rows):
            row["questions"]["tags"]["modality"] = ("CT", "MRI")[number % 3 == 0]
        runs.write(tmp_path / model, {"med_cmr_mcq": rows}, model=model)
    build_site(collect_entries([tmp_path]), tmp_path / "site", SiteOptions(resamples=0, reports=False))
    own = tmp_path / "site" / "questions" / "med_cmr" / "med_cmr_mcq"
    index, shard = read(own / "index.js"), read(own / "0.js")
    names = [f"q{number}" for number in range(12)]
    assert index["ids"] == [each["id"] for each in shard["questions"]] == names
    # What each model was, and what its replies were, by the order of the run.
    assert (own / "model-0.js").read_text().count("909090909090") == 1
    assert [answers_of(shard, number)[0][1] for number in range(12)] == ["9", "0"] * 6
    modality = index["tags"]["modality"]
    assert [modality["values"][code] for code in modality["codes"]] == ["MRI", "CT", "CT"] * 4
    lines = (tmp_path / "site" / "data" / "questions" / "med_cmr-med_cmr_mcq.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in lines[1:]] == names


def test_scores_take_a_byte_a_question_where_few_differ(board):
    entry = next(each for each in board.entries if each.task == "medobvious" and each.ranked)
    ids = entry.questions.ids
    scores = scores_of(entry, ids)
    assert (scores.places.dtype, len(scores.places)) == (np.uint8, len(ids)) and len(scores.distinct) <= 3
    shown = [(scores.text(row) or "–", question_scores.score_character(scores.normal[row])) for row in range(len(ids))]
    assert scores.said(slice(0, len(ids))) == shown


def test_replies_that_may_not_be_shown_are_not_decoded(browse, makers, monkeypatch):
    """They are most of what a board of many models has, and a page of scores alone needs none of them."""
    decoded = []
    monkeypatch.setattr(questions, "_decoded_values", lambda table, name, places: decoded.append(name))
    monkeypatch.setattr(QuestionData, "may_tell", lambda data, entry: False)
    _, index, shard, _ = browse("medq_deg", makers.medq_deg, "medq_deg")
    assert not decoded and len(shard["questions"]) == len(index["ids"])
    assert answers_of(shard, 0) == [("100.0%", "9", None)]


def test_what_can_not_be_seen_is_marked():
    assert replace_invisible("a\u202eb\x1b[31m\tc\r\nd\u200be") == "a\ufffdb\ufffd[31m\tc\nd\ufffde"


def test_the_stream_of_scores_is_the_csv_of_their_table():
    ids = np.array(["=a", 'b"q', "c,d", "e\u202e", "f"])
    values = [[0.0, 1 / 3, np.nan, 1.0, 1 / 3], [np.nan, np.nan, -0.0, 1e-9, 0.1 + 0.2]]
    found = [QuestionScores(np.arange(5), np.array(each), np.array(each), np.zeros(5, np.int16), ()) for each in values]
    names = ["+model", "other"]
    columns = (FrameColumn("question", "text"), *(FrameColumn(name, digits=3) for name in names))
    rows = tuple(
        FrameRow((Cell(id), *(Cell(None if np.isnan(each[row]) else each[row]) for each in values)))
        for row, id in enumerate(ids.tolist())
    )
    assert "".join(questions._csv_lines(names, ids, found)) == render_csv(Frame("t", "t", columns, rows))


def test_the_browser_opens_on_the_task_of_the_headline_and_has_words_for_tasks_and_values(tmp_path, runs):
    for task, level in (("medq_deg_calib", 1), ("medq_deg_l0", 0), ("medq_deg_l2", 2)):
        runs.write(tmp_path / "run" / task, {task: runs.choice_rows({"q1": "A", "q2": "B"}, severity=level)}, model="m")
    build_site(collect_entries([tmp_path / "run"]), tmp_path / "site", SiteOptions(resamples=0, reports=False))
    found = read(tmp_path / "site" / "questions" / "medq_deg" / "index.js")["tasks"]
    assert [(each["task"], each["name"]) for each in found][0] == ("medq_deg_l2", "Severe degradation (L2)")
    page = (tmp_path / "site" / "questions" / "medq_deg.html").read_text("utf-8")
    assert ">Severe degradation (L2)</a>" in page and ">medq_deg_l2</a>" not in page
    about = suite_words.suite_texts("medq_deg")
    assert (about.value_of("severity", 2), about.value_of("degradation", "gaussian_noise")) == (
        "severe",
        "gaussian noise",
    )
    assert suite_words.suite_texts("med_cmr").value_of("dimension", "SOD") == "small objects"


def test_the_questions_of_each_benchmark_lead_to_those_of_all_others(site):
    suites = [path.stem for path in sorted((site / "questions").glob("*.html"))]
    for name in suites:
        page = (site / "questions" / f"{name}.html").read_text("utf-8")
        line = page[page.index("Questions of ") : page.index("<noscript>")]
        assert re.findall(r'<a href="([^"]+)\.html"', line) == [other for other in sort_suites(suites) if other != name]
