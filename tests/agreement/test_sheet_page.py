"""The rating sheet as a page: nothing runs but its own script, nothing is fetched, every text is only a text."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from lmms_medtasks.agreement import judged_answers
from lmms_medtasks.agreement.sheet import draw, instructions
from lmms_medtasks.agreement.sheet_page import page
from lmms_medtasks.agreement.sheet_pictures import SheetPictures
from lmms_medtasks.judges import prompts

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
        judged = judged_answers.read([write_run({"q1": [scores], "q2": [scores]}, answers={"q1": text})])
        drawn = draw(judged, 2)
        reader = Reader()
        reader.feed(page(drawn, judged.protocol))
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
    from lmms_medtasks.judges.protocol import Dimension

    labels = {"Correct": 1.0, "Wrong": 0.0}
    change_protocol(dimensions=(Dimension("coherence", labels), Dimension("visual_accuracy", {"4": 4.0, "0": 0.0})))
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
    judged = judged_answers.read([run])
    text = page(draw(judged, 1), judged.protocol)
    assert "secret" not in text and "image of" not in text
    assert "Rate &lt;this&gt;." in text


def test_a_picture_is_in_the_page_once_and_shown_with_each_answer(write_run):
    judged = judged_answers.read([write_run({"q1": ["34"]}, name, model=name) for name in ("a", "b")])
    drawn = draw(judged, 1)
    found = SheetPictures({"0123.png": b"PNG"}, {"q1": ("0123.png",)})
    text = page(drawn, judged.protocol, found)
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
    prompts.text_of.cache_clear()
    judged = judged_answers.read([write_run({"q1": ["34"]})])
    assert page(draw(judged, 1), judged.protocol).count("level 3 of coherence</li>") == 1
    assert "    3: level 3 of coherence\n" in instructions(judged.protocol)
    prompts.text_of.cache_clear()
