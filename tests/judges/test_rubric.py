"""A rubric in YAML is a whole protocol, each mistake in it is named, and a record tells its scale without the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from lmms_medtasks import prompt_files
from lmms_medtasks.errors import UserError
from lmms_medtasks.judges import own_scales, prompts, records, registry
from lmms_medtasks.judges.protocol import JudgedItem, ScoreDimension

RUBRIC = {
    "name": "spot_report",
    "version": 2,
    "prompt": "prompt.txt",
    "scores": {
        "place": {0: "another field", 1: "the right field"},
        "wording": {"poor": {"is": 0, "means": "words"}, "good": {"is": 2, "means": "a sentence"}},
    },
    "score": {"place": 3, "wording": 1},
    "fields": ["question", "reference", "answer", "site"],
    "reply": "free",
    "trials": 2,
    "exact_match": True,
}
PROMPT = "Rules.\n{{scale}}\n\n{{question}}\n\n{{reference}}\n\n{{answer}}\n\n{{site}}\n"
DOC = {"id": "q1", "question": "Where?", "answer": "left", "site": "north"}


@pytest.fixture(autouse=True)
def _forgotten():
    registry.forget_custom_protocols()
    yield
    registry.forget_custom_protocols()


@pytest.fixture
def write(tmp_path: Path):
    def written(text: str = "", told: str = PROMPT, **changes: object) -> Path:
        content = {key: value for key, value in {**RUBRIC, **changes}.items() if value is not None}
        (tmp_path / "prompt.txt").write_text(told, "utf-8")
        (tmp_path / "rubric.yml").write_text(text or yaml.safe_dump(content, sort_keys=False), "utf-8")
        registry.forget_custom_protocols()
        prompt_files.read_prompt_file.cache_clear()
        return tmp_path

    return written


def test_a_rubric_is_a_protocol(write):
    protocol = registry.get("rubric.yml", write())
    assert (protocol.name, protocol.version, protocol.reply, protocol.trials) == ("spot_report", 2, "free", 2)
    assert protocol.dimensions == (
        ScoreDimension("place", {"0": 0.0, "1": 1.0}), ScoreDimension("wording", {"poor": 0.0, "good": 2.0})
    )  # fmt: skip
    assert protocol.total({"place": 1, "wording": 2}) == 1.25
    assert registry.get("spot_report") is protocol
    (item,) = records.make_judged_items(DOC, ["<think>hm</think> On the left."], protocol)
    assert item == JudgedItem(
        "q1", {"question": "Where?", "reference": "left", "answer": "On the left.", "site": "north"}
    )
    text = prompts.render_prompt(protocol, item).text
    assert "place:\n0 - another field\n1 - the right field\nwording:\npoor - words\ngood - a sentence" in text


def test_what_needs_no_judge(write):
    protocol = registry.get("rubric.yml", write())
    assert protocol.settle(protocol.item(DOC, " ")) == ({"place": "0", "wording": "poor"}, "no answer")
    assert protocol.settle(protocol.item(DOC, "Left.")) == ({"place": "1", "wording": "good"}, "exact match")
    assert protocol.settle(protocol.item(DOC, "right")) is None
    plain = registry.get("rubric.yml", write(exact_match=None))
    assert plain.settle(plain.item(DOC, "left")) is None


@pytest.mark.parametrize(("score", "number"), [("mean", 1.5), ("sum", 3.0), ("wording", 2.0)])
def test_the_score_of_several(write, score, number):
    assert registry.get("rubric.yml", write(score=score)).total({"place": 1, "wording": 2}) == number


def test_the_shortest_rubric_takes_the_built_in_prompt(write):
    text = "name: short\nversion: 1\nscores:\n  side:\n    0: wrong\n    1: right\n"
    protocol = registry.get("rubric.yml", write(text))
    assert protocol.total is None and protocol.prompt == "rubric.txt"
    item = protocol.item(DOC, "left")
    assert "0 - wrong\n1 - right" in prompts.render_prompt(protocol, item).text


def test_a_meaning_changes_the_digest(write):
    before = prompts.prompt_digest(registry.get("rubric.yml", write()))
    scores = {**RUBRIC["scores"], "place": {0: "no field", 1: "the right field"}}
    assert prompts.prompt_digest(registry.get("rubric.yml", write(scores=scores))) != before


def test_a_record_tells_the_scale_without_the_file_and_without_its_folder(write):
    protocol = registry.get("rubric.yml", write())
    said = json.loads(
        json.dumps({"name": "a judge", "protocol": protocol.name, "scale": own_scales.scale_of(protocol)})
    )
    assert registry.protocol_from_description(said) is protocol
    registry.forget_custom_protocols()
    again = registry.protocol_from_description(said)
    assert (again.dimensions, again.total) == (protocol.dimensions, protocol.total)
    with pytest.raises(UserError, match="'spot_report' is not here"):
        again.item(DOC, "left")
    for scale in ({"labels": {"place": {"0": "x"}}}, {**said["scale"], "score": {}}):
        with pytest.raises(UserError, match="Was the log edited"):
            registry.protocol_from_description({**said, "scale": scale})


def test_of_a_total_by_code_a_record_tells_the_range(write, tmp_path):
    write()
    (tmp_path / "parts.py").write_text(
        "from dataclasses import replace\nfrom pathlib import Path\nfrom lmms_medtasks.judges import rubric\n"
        "PROTOCOL = replace(rubric.read(Path(__file__).with_name('rubric.yml')), total=lambda n: n['place'] ** 2)\n"
    )
    protocol = registry.get("parts.py:PROTOCOL", tmp_path)
    scale = own_scales.scale_of(protocol)
    assert scale["score"] == {"reference": "parts.py:PROTOCOL", "range": [0, 1]}
    total = own_scales.protocol_from_scale("spot_report", scale).total
    assert (total({"place": 0, "wording": 0}), total({"place": 1, "wording": 2})) == (0, 1)
    with pytest.raises(UserError, match=r"parts.py:PROTOCOL.*--include_path"):
        total({"place": 1, "wording": 0})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"nam": "x"}, "unknown key 'nam'. Did you mean 'name'"),
        ({"name": None}, "name is None, expected a text"),
        ({"name": "Spot Report"}, "name is 'Spot Report', expected small letters"),
        ({"name": "open_answer"}, "'open_answer', which is one of ours"),
        ({"version": 0}, "version is 0, expected a whole number"),
        ({"version": "1"}, "version is '1'"),
        ({"trials": True}, "trials is True"),
        ({"reply": "json"}, "Unknown reply 'json'"),
        ({"exact_match": "yes"}, "exact_match is 'yes', expected true or false"),
        ({"scores": None}, "scores is None, expected a mapping"),
        ({"scores": {"place": {0: "wrong"}}}, "scores, place: got .*expected two or more labels"),
        ({"scores": {"place": ["1", "1"]}}, "scores, place: a label stands twice"),
        ({"scores": {"place": {1: "a", "1": "b"}}}, "line 7: the key .1. stands on line 6"),
        ({"scores": {"place": {True: "a", False: "b"}}}, "the label True is no text to YAML. Put it in quotes"),
        ({"scores": {"place": {"good": "a", "bad": "b"}}}, "label 'good': which number is it"),
        ({"scores": {"place": {"good": {"is": 1}, "bad": {"is": 1}}}}, "all labels stand for 1"),
        ({"scores": {"place": {"good": {"be": 1}, "bad": {"is": 0}}}}, r"got the keys \['be'\], expected is and means"),
        ({"scores": {"place": {0: "a", 1: "see {{answer}}"}}}, "without {{places}}"),
        ({"score": None}, "score is missing: which of place, wording"),
        ({"score": "plac"}, "Unknown score 'plac'.*Did you mean 'place'"),
        ({"score": {"side": 1}}, "Unknown score 'side'"),
        ({"score": {"place": 0}}, "the weight of place is 0"),
        ({"fields": ["question", "answer"]}, "'reference' is missing"),
        ({"fields": ["answer", "reference", "answer"]}, "each stands once"),
        ({"fields": ["question", "reference", "answer"]}, "has the places .*'site'"),
        ({"prompt": "prompts.txt"}, "prompt: there is no file prompts.txt beside it"),
        ({"check": "check.yml"}, "check: there is no file check.yml beside it"),
        ({"prompt_text": "x"}, "unknown key"),
    ],
)
def test_each_mistake_is_named_with_the_file(write, changes, said):
    with pytest.raises(UserError, match=said) as caught:
        registry.get("rubric.yml", write(**changes))
    assert "rubric.yml" in str(caught.value) or "spot_report" in str(caught.value)


def test_mistakes_between_the_prompt_and_the_rubric(write):
    with pytest.raises(UserError, match="meanings would reach no judge"):
        registry.get("rubric.yml", write(told=PROMPT.replace("{{scale}}\n", "")))
    bare = {"place": ["0", "1"]}
    with pytest.raises(UserError, match="no label has a meaning"):
        registry.get("rubric.yml", write(scores=bare, score="place"))
    with pytest.raises(UserError, match="has the places .*'sit'"):
        registry.get("rubric.yml", write(told=PROMPT.replace("{{site}}", "{{sit}}")))
    with pytest.raises(UserError, match=r"rubric.yml, line 3: the key 'version' stands on line 2"):
        registry.get("rubric.yml", write("name: x\nversion: 1\nversion: 2\n"))
    with pytest.raises(UserError, match="There is no rubric other.yml"):
        registry.get("other.yml", write())


def test_a_field_that_a_question_has_not_is_named(write):
    protocol = registry.get("rubric.yml", write())
    with pytest.raises(UserError, match=r"rubric.yml: the field 'site': question 'q1' has no such column.*tags="):
        protocol.item({**DOC, "site": None}, "left")
