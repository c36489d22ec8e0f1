"""A blind sheet: what is drawn, what it does not show, its page and its pictures."""

import base64
import csv
import hashlib
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from lmms_medtasks import prompt_files
from lmms_medtasks.agreement import judged_answers, ratings
from lmms_medtasks.agreement.sheet import (
    SheetImages,
    describe_equal_labels,
    draw_sheet_answers,
    format_csv,
    key_csv,
    read_sheet_images,
    render_sheet,
    sheet_csv,
)
from lmms_medtasks.data import locating
from lmms_medtasks.errors import UserError
from lmms_medtasks.judges.protocol import ScoreDimension
from lmms_medtasks.samples import runs


@pytest.fixture
def judged(write_run):
    questions = {f"q{number}": ["34"] for number in range(20)}
    runs = [write_run(questions, name, model=f"model-{name}", judge="secret-judge") for name in ("a", "b")]
    return judged_answers.read_judged_answers(runs)


def table(text):
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))


def test_all_models_answers_to_the_drawn_questions_in_random_order(judged):
    drawn = draw_sheet_answers(judged, 8)
    assert len(drawn) == 16
    ids = [each.answer.key.id for each in drawn]
    assert len(set(ids)) == 8 and all(ids.count(id) == 2 for id in ids)
    models = [each.answer.key.model for each in drawn]
    assert models != sorted(models)
    assert len({each.code for each in drawn}) == 16


def test_seeded(judged):
    assert draw_sheet_answers(judged, 8) == draw_sheet_answers(judged, 8)
    assert draw_sheet_answers(judged, 8) != draw_sheet_answers(judged, 8, seed=1)


def test_the_order_of_the_runs_does_not_change_which_questions(judged, write_run):
    other = judged_answers.JudgedAnswers(judged.protocol, judged.answers[::-1], {})
    assert {each.answer.key for each in draw_sheet_answers(judged, 8)} == {
        each.answer.key for each in draw_sheet_answers(other, 8)
    }


def test_no_more_than_there_are(judged):
    assert len(draw_sheet_answers(judged, 100)) == 40


def test_no_code_is_a_number_to_a_spreadsheet(judged):
    codes = [each.code for each in draw_sheet_answers(judged, 100, seed=13)]  # 73E22 was one of them
    assert not [code for code in codes if re.fullmatch("[0-9]+E[0-9]+", code)]


def test_the_sheet_hides_models_verdicts_and_ids(judged):
    drawn = draw_sheet_answers(judged, 8)
    text = sheet_csv(drawn, judged.protocol, SheetImages())
    for hidden in ("model-", "secret-judge", "image of", "run"):
        assert hidden not in text.replace("answer of model-", "")
    rows = table(text)
    columns = ["id", "rater", "question", "reference", "answer", "coherence", "visual_accuracy", "comment"]
    assert list(rows[0]) == columns
    assert [row["id"] for row in rows] == [each.code for each in drawn]
    assert all(row["coherence"] == row["visual_accuracy"] == row["rater"] == row["comment"] == "" for row in rows)


def test_pictures_are_named_in_a_column_of_their_own(judged):
    drawn = draw_sheet_answers(judged, 2)
    pictures = SheetImages(of_question={drawn[0].answer.key.id: ("a.png", "b.png")})
    rows = table(sheet_csv(drawn, judged.protocol, pictures))
    assert {row["images"] for row in rows} == {"images/a.png images/b.png", ""}
    assert rows[0]["images"] == "images/a.png images/b.png"


def test_formulas_in_texts_are_harmless(write_run):
    run = write_run({"q1": ["34"]}, answers={"q1": '=HYPERLINK("http://x")'})
    judged = judged_answers.read_judged_answers([run])
    (row,) = table(sheet_csv(draw_sheet_answers(judged, 1), judged.protocol, SheetImages()))
    assert row["answer"] == '\'=HYPERLINK("http://x")'


def test_what_was_rated_on_the_sheet_comes_back_by_its_key(write_run, tmp_path):
    run = write_run({"=q,1": ["34"], "-q2": ["55"]}, model="@model")
    judged = judged_answers.read_judged_answers([run])
    drawn = draw_sheet_answers(judged, 2)
    (tmp_path / "key.csv").write_text(key_csv(drawn), encoding="utf-8", newline="")
    lines = sheet_csv(drawn, judged.protocol, SheetImages()).splitlines()
    filled = [lines[0], *(line.replace(",,,", f",{place},5,") for place, line in enumerate(lines[1:], 3))]
    (tmp_path / "anna.csv").write_text("\n".join(filled), encoding="utf-8")
    found = ratings.read_ratings([tmp_path / "anna.csv"], judged, tmp_path / "key.csv")
    expected = {each.answer.key: {"coherence": 3.0 + place, "visual_accuracy": 5.0} for place, each in enumerate(drawn)}
    assert found == {"anna": expected}


def test_only_what_a_judge_was_needed_for(write_run):
    runs = [
        write_run({"q1": ["=55"], "q2": ["=55"], "q3": ["!"]}, "a", model="a"),
        write_run({"q1": ["34"], "q2": ["=55"], "q3": ["11"]}, "b", model="b"),
    ]
    judged = judged_answers.read_judged_answers(runs)

    def keys(drawn):
        return {(each.answer.key.model, each.answer.key.id) for each in drawn}

    # q1 of both models, that there are pairs; q3 of the one that got a reply.
    assert keys(draw_sheet_answers(judged, 9)) == {("a", "q1"), ("b", "q1"), ("b", "q3")}


def test_one_reply_of_each_model_the_same_of_all(write_run):
    replies = {f"q{number}": ["34", "45", "!"] for number in range(12)}
    judged = judged_answers.read_judged_answers([write_run(replies, name, model=name) for name in ("a", "b")])
    trials = {}
    for each in draw_sheet_answers(judged, 12):
        trials.setdefault(each.answer.key.id, []).append(each.answer.key.trial)
    assert all(len(each) == 2 and len(set(each)) == 1 for each in trials.values())
    assert {each[0] for each in trials.values()} == {1, 2}


def test_texts_that_are_withheld(write_run, change_protocol):
    change_protocol(terms="not for others")
    judged = judged_answers.read_judged_answers([write_run({"q1": ["34"]}, withheld=True)])
    with pytest.raises(UserError, match="must not be given to others. The data's terms: not for others"):
        draw_sheet_answers(judged, 1)


def test_nothing_to_draw(write_run):
    judged = judged_answers.read_judged_answers([write_run({"q1": ["=55"], "q2": ["!"]})])
    with pytest.raises(UserError, match="no answer to rate.*a rule settled all"):
        draw_sheet_answers(judged, 1)


def test_labels_that_score_alike_are_named(change_protocol):
    scale = ScoreDimension("verdict", {"Correct": 1.0, "Incorrect": 0.0, "Unclear": 0.0})
    said = "verdict: Incorrect, Unclear score alike and count as one."
    changed = change_protocol(dimensions=(scale,))
    assert describe_equal_labels(changed) == [said]


@given(st.lists(st.text(st.characters(blacklist_categories=("Cs",)), max_size=20), min_size=2, max_size=2))
def test_written_cells_are_guarded_and_read_back(cells):
    (row,) = csv.reader(io.StringIO(format_csv([cells]).removeprefix("\ufeff"), newline=""))
    assert [ratings.unguard_formula(cell) for cell in row] == [cell.replace("\0", "") for cell in cells]


def test_the_character_nul_is_not_written():
    assert format_csv([["a\0", "b"], ["=\0", "\0=1"]]) == "\ufeffa,b\r\n'=,'=1\r\n"


HOSTILE = """</div></article><script>fetch("https://x.example")</script><img src=x onerror=alert(1)>
& "quoted" 'so' {{ 7*7 }}"""


class Reader(HTMLParser):
    """Elements with their attributes, and the text in elements of class "text"."""

    def __init__(self):
        super().__init__()
        self.elements, self.texts, self.script, self._in = [], [], "", ""

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._in = tag
        if tag == "div" and (dict(attrs).get("class") or "").startswith("text"):
            self._in = "text"
            self.texts.append("")

    def handle_endtag(self, tag):
        self._in = ""

    def handle_data(self, data):
        if self._in == "text":
            self.texts[-1] += data
        elif self._in == "script":
            self.script += data

    def named(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture
def read(write_run):
    def read(text="fine", scores="34"):
        judged = judged_answers.read_judged_answers([write_run({"q1": [scores], "q2": [scores]}, answers={"q1": text})])
        drawn = draw_sheet_answers(judged, 2)
        reader = Reader()
        reader.feed(render_sheet(drawn, judged.protocol, SheetImages()))
        reader.close()
        return drawn, reader

    return read


def test_an_article_an_answer_and_a_choice_a_label(read):
    drawn, found = read()
    assert [each["id"] for each in found.named("article")] == [each.code for each in drawn]
    names = [each["name"] for each in found.named("input") if each.get("type") == "radio"]
    assert len(names) == 2 * 2 * 5
    first = f"{drawn[0].code}-coherence"
    values = [each["value"] for each in found.named("input") if each.get("name") == first]
    assert values == ["1", "2", "3", "4", "5"]
    body = found.named("body")[0]
    assert json.loads(body["data-columns"]) == ["id", "rater", "coherence", "visual_accuracy", "comment"]


def test_labels_are_from_worst_to_best_each_with_a_key(read, change_protocol):
    labels = {"Correct": 1.0, "Wrong": 0.0}
    change_protocol(
        dimensions=(ScoreDimension("coherence", labels), ScoreDimension("visual_accuracy", {"4": 4.0, "0": 0.0}))
    )
    drawn, found = read(scores="-")
    radios = [each for each in found.named("input") if each.get("name", "").startswith(drawn[0].code)]
    assert [(each["value"], each["data-key"]) for each in radios] == [
        ("Wrong", "1"),
        ("Correct", "2"),
        ("0", "0"),
        ("4", "4"),
    ]


def test_hostile_texts_are_only_texts(read):
    drawn, found = read(HOSTILE)
    place = [each.answer.key.id for each in drawn].index("q1")
    assert found.texts[3 * place : 3 * place + 3] == ["question q1", "ref", HOSTILE]
    assert len(found.named("script")) == 1
    assert not found.named("img")


def test_control_characters_are_shown(read):
    drawn, found = read("a\x00b\x1b[31m\r\nc")
    assert "a\ufffdb\ufffd[31m\nc" in found.texts


def test_only_its_own_script_may_run(read):
    _, found = read(HOSTILE)
    (policy,) = [each["content"] for each in found.named("meta") if "http-equiv" in each]
    digest = base64.b64encode(hashlib.sha256(found.script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")


def test_nothing_is_fetched(read):
    _, found = read()
    addresses = [value for _, each in found.elements for key, value in each.items() if key in ("src", "href", "action")]
    assert addresses == ["data:,"]
    assert not re.search(r"https?:|fetch\(|XMLHttpRequest|import\(", found.script)
    assert not [key for _, each in found.elements for key in each if key.startswith("on")]


def test_models_judges_and_ids_are_hidden(write_run):
    run = write_run({"question-77": ["34"]}, model="secret-model", judge="secret-judge", answers={"question-77": "so"})
    judged = judged_answers.read_judged_answers([run])
    text = render_sheet(draw_sheet_answers(judged, 1), judged.protocol, SheetImages())
    assert "secret" not in text and "image of" not in text
    assert "Rate &lt;this&gt;." in text


def test_a_picture_is_in_the_page_once_and_shown_with_each_answer(write_run):
    judged = judged_answers.read_judged_answers([write_run({"q1": ["34"]}, name, model=name) for name in ("a", "b")])
    drawn = draw_sheet_answers(judged, 1)
    found = SheetImages({"0123.png": b"PNG"}, {"q1": ("0123.png",)})
    text = render_sheet(drawn, judged.protocol, found)
    assert text.count(base64.b64encode(b"PNG").decode()) == 1
    reader = Reader()
    reader.feed(text)
    assert [each["class"] for each in reader.named("img")] == ["p0123", "p0123"]


def test_anchors_stand_below_their_scale(write_run, protocol, tmp_path):
    lines = "".join(
        f"{name}:\n" + "".join(f"{n} - level {n} of {name}\n" for n in range(1, 6))
        for name in ("coherence", "visual_accuracy")
    )
    (tmp_path / "prompt.txt").write_text(lines + "{{question}} {{reference}} {{answer}}")
    prompt_files.read_prompt_file.cache_clear()
    judged = judged_answers.read_judged_answers([write_run({"q1": ["34"]})])
    assert (
        render_sheet(draw_sheet_answers(judged, 1), judged.protocol, SheetImages()).count("level 3 of coherence</li>")
        == 1
    )
    prompt_files.read_prompt_file.cache_clear()


@pytest.fixture
def ids():
    located = locating.find_split("med_cmr", "open", "mini")
    return pq.read_table(located.path, columns=["id"]).column("id").to_pylist()[:3]


def of_run(folder, **told):
    """What is found for a run whose task reads the mini questions of Med-CMR."""
    path = Path(folder) / "x_results.json"
    content = json.loads(path.read_text())
    config = content["configs"]["open"]
    config |= {"dataset_kwargs": {"data_files": {"test": "medtasks://med_cmr/open"}}, "metadata": {"data": "mini"}}
    config["lmms_eval_specific_kwargs"]["default"] |= told
    path.write_text(json.dumps(content))
    drawn = draw_sheet_answers(judged_answers.read_judged_answers([Path(folder)]), 10)
    return read_sheet_images(runs.find_result_files([Path(folder)]), drawn), drawn


def test_the_pictures_of_the_drawn_questions(write_run, ids):
    found, drawn = of_run(write_run({id: ["34"] for id in ids}))
    assert sorted(found.of_question) == sorted(ids) and not found.problems
    for each in drawn:
        for name in found.picture_names(each):
            assert each.answer.key.id not in name
            with Image.open(io.BytesIO(found.files[name])) as picture:
                assert picture.mode == "RGB" and max(picture.size) <= 640 and not picture.info.get("exif")


def test_no_pictures_where_the_model_had_none_or_the_data_is_not_here(write_run, ids):
    assert not of_run(write_run({id: ["34"] for id in ids}), no_image=True)[0].files
    assert not of_run(write_run({"other": ["34"]}, "other"))[0].files
