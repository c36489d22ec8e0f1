"""Names, published rows, JSON: the small parts of a site."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lmms_medtasks.board.collect import collect_entries
from lmms_medtasks.board.entries import EntryModel, EntryProblem
from lmms_medtasks.board.model_facts import KnownModels
from lmms_medtasks.board.site import board_tables, file_names, suite_page, suite_words
from lmms_medtasks.board.site.board_tables import BoardStandings
from lmms_medtasks.board.site.questions import script_safe_json
from lmms_medtasks.samples.runs import read_arguments, shown_arguments


def test_every_suite_with_a_page_says_what_it_is():
    for name in ("medq_deg", "med_cmr", "medobvious", "sure_vqa", "bones_joints"):
        assert suite_words.suite_texts(name).about and suite_words.suite_texts(name).read


def test_models_of_one_name_show_the_arguments_that_differ_and_no_secret(tmp_path, runs):
    texts = ["pretrained=m,dtype=float16,max_pixels=100,api_key=1234", "pretrained=m,dtype=float16,max_pixels=200"]
    found = [shown_arguments({"config": {"model": "hf", "model_args": text}}) for text in texts]
    assert found == ["dtype=float16,max_pixels=100", "dtype=float16,max_pixels=200"]
    models = [EntryModel("m", "hf", str(number)) for number in range(3)]
    told = dict(zip([each.key for each in models], [*found, "max_pixels=<b>,verified=yes"], strict=True))
    assert list(file_names.model_titles(models, told).values()) == [
        "m (hf, dtype=float16, max_pixels=100)", "m (hf, dtype=float16, max_pixels=200)", "m (hf)"
    ]  # fmt: skip
    rows = {"medq_deg_l0": runs.choice_rows({f"q{number}": "A" for number in range(3)})}
    for text in texts:
        path = runs.write(tmp_path / text[-3:], rows, model="m")
        content = json.loads(path.read_text("utf-8"))
        content["config"] |= {"model": "hf", "model_args": text}
        path.write_text(json.dumps(content), "utf-8")
    standings = BoardStandings(collect_entries([tmp_path]), resamples=0)
    assert sorted(standings.titles.values()) == ["m (hf, max_pixels=100)", "m (hf, max_pixels=200)"]


@pytest.mark.parametrize(
    "text",
    [
        "api_key=1",
        "hf_token=12345678",
        "password=true",
        "passphrase=12345",
        "otp=123456",
        "revision=ghp_abcdefghijklmnop",
        "dtype=sk-abc",
        "revision=hf_abcdefg",
        "steps=１２３",
        "base_url=http://a",
        "pretrained=/home/me",
        "dtype=a b",
        "x=word",
    ],
)
def test_an_argument_that_may_be_a_secret_is_never_shown(text):
    assert shown_arguments({"config": {"model_args": text}}) == "" and read_arguments(text) == {}


def test_nobody_published_numbers_of_a_task_that_is_not_installed():
    assert board_tables.published_scores_of_task("bones_joints_t1_knowledge", {})
    assert board_tables.published_scores_of_task("bones_joints_t1_knowledge_of_mine", {}) == []


def test_published_tables_hold_no_row_of_ours():
    for suite in ("medq_deg", "med_cmr", "medobvious", "sure_vqa"):
        tables = list(suite_page._printed_tables_of(suite, KnownModels()))
        assert tables and all(row.kind in ("reference", "average") for table in tables for row in table.rows)
    assert list(suite_page._printed_tables_of("no_such_suite", KnownModels())) == []


def test_published_rows_are_in_the_unit_that_is_shown():
    # Table 14: LLaVA-Med without fine-tuning, closed i.i.d. 0.60, open 2.57 stars.
    sure = board_tables.published_scores_of_task("sure_slake_modality", {})[0]
    assert (sure.cells["closed_iid"].value, sure.cells["open_iid"].value) == (60.0, 2.57)
    assert board_tables.published_scores_of_task("medq_deg_l2_noimage", {}) == []
    # MedObvious, Table 2: LLaVA-1.5-7B over 470, 470, 235, 235 and 470 questions.
    overall = board_tables.published_scores_of_task("medobvious", {})[0].cells["accuracy"].value
    assert overall == pytest.approx((470 * (40.4 + 22.3 + 50.0) + 235 * (22.1 + 35.7)) / 1880)


def test_json_is_harmless():
    text = script_safe_json({"a": "</script><!--&\u2028"})
    assert not set("<>&\u2028") & set(text) and json.loads(text) == {"a": "</script><!--&\u2028"}


def test_the_same_limit_of_several_tasks_stands_once():
    found = [EntryProblem("mini_data", "flag", "Mini data.", "r.json", task, "m") for task in ("t2", "t1")]
    found += [EntryProblem("limited", "unranked", "Few.", "r.json", "t1", "m")]
    cells = [[cell.value for cell in row.cells] for row in board_tables.problems_table(found, ()).rows]
    assert cells == [["not ranked", "m", "t1", "r.json", "Few."], ["flagged", "m", "t1, t2", "r.json", "Mini data."]]
    copy = EntryProblem("duplicate", "flag", "The same replies.", "r.json", "t", "m")
    assert board_tables.problems_table([copy], ()).rows[0].cells[0].value == "copy"
    # Of runs in two folders the folders tell files of one name apart.
    two = replace(copy, source="/x/one/r.json", reason="The same replies as in /x/two/r.json.")
    (row,) = board_tables.problems_table([two], (Path("/x/one"), Path("/x/two"))).rows
    assert [row.cells[3].value, row.cells[4].value] == ["one/r.json", "The same replies as in two/r.json."]


def test_published_rows_of_bones_and_joints_stand_below_their_tasks():
    # The language models of the paper read reports: their numbers stand beside ours on images too, and are marked.
    read_reports = board_tables.published_scores_of_task("bones_joints_t4_diagnosis", {})
    assert [(each.model, each.cells["accuracy"].value, each.cells["accuracy"].mark) for each in read_reports] == [
        ("MedGPT", 83.3, "§"), ("DeepSeek-R1-0528", 70.0, "§"),
    ]  # fmt: skip
    assert all("read reports" in each.source for each in read_reports)
    assert " § " in suite_words.suite_texts("bones_joints").chart["about"]
    assert board_tables.published_scores_of_task("bones_joints_t8_released", {}) == []
