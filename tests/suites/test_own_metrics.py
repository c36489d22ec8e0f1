"""Metrics of someone's own: their numbers, what a run says of them, and every mistake by file, question and value."""

from __future__ import annotations

import json

import pytest

from lmms_medtasks import extensions
from lmms_medtasks.errors import UserError
from lmms_medtasks.record import QuestionRecord, ScoreValue
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.suites import own_metrics, own_parts, registry
from lmms_medtasks.suites.estimates import Contrast, Fraction, Macro, Mean
from lmms_medtasks.suites.templates import measures
from lmms_medtasks.suites.templates.measures import CustomScoring

PARTS = '''
from lmms_medtasks.suites.estimates import Contrast, Fraction, Mean
from lmms_medtasks.suites.own_metrics import question_metric
from lmms_medtasks.suites.suite import Metric

def sensitivity(record):
    """Right where there is one."""
    return record.measures["accuracy"].score if record.expected == "A" else None

@question_metric(name="stars", low=1, high=5, unit="stars", higher_is_better=False, main=True)
def _stars(record):
    return 4.5

def two(a, b):
    return 1

def raises(record):
    return record.tags["sight"]

def text(record):
    return "1"

def not_a_number(record):
    return float("nan")

def too_much(record):
    return 1.5

def accuracy(record):
    return 1

CHANGE = Metric("change", Contrast(first={"site": "a"}, second={"site": "b"}), about="b less a.", unit="points")
F1 = Metric("f1", Fraction(top=lambda rows: [1.0] * len(rows), bottom=lambda rows: [2.0] * len(rows)))
NO_ESTIMATE = Metric("no_estimate", 1)
BAD_NAME = Metric("Bad name", Mean())
UNKNOWN_MEASURE = Metric("unknown_measure", Mean(measure="acuracy"))
FILTERED = Metric("filtered", Mean({"sight": "a"}))
SURE = Metric("sure", Mean({"accuracy.score": 1.0}), main=True)
SIGNED = Metric("signed", Mean(), None, main=True)
'''


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "parts.py").write_text(PARTS, "utf-8")
    return tmp_path


def reference(folder, name):
    return f"{folder / 'parts.py'}:{name}"


def records():
    return [
        QuestionRecord(
            f"q{n}", f"i{n}", ("A",), "AB"[n % 2], {"accuracy": ScoreValue(float(n < 6))}, {"site": "ab"[n % 2]}
        )
        for n in range(12)
    ]


def test_a_function_is_the_mean_over_the_questions_that_it_speaks_of(folder):
    own = CustomScoring((reference(folder, "sensitivity"),))
    suite = measures.of_kind("choice", own)
    rows = QuestionTable.of_records(
        own_metrics.with_values(each, measures.load_custom_metrics(own)) for each in records()
    )
    found = suite.metric("sensitivity").estimate.of(rows)["mean"]
    assert (found.estimate, found.n, found.clusters) == (0.5, 6, 6)
    assert 0 < found.low < 0.5 < found.high < 1
    assert measures.of_name(suite.name) is suite


def test_what_a_function_is_declared_to_be(folder):
    own = own_metrics.get(reference(folder, "_stars"))
    assert (own.metric.name, own.metric.main, own.metric.higher_is_better) == ("stars", True, False)
    assert own.measure.range == (1, 5)
    [value] = [own_metrics.with_values(each, [own]).measures["stars"].score for each in records()[:1]]
    assert value == 4.5


def test_a_file_of_another_encoding(folder):
    (folder / "parts.py").write_bytes("# coding: latin-1\n# Größe\ndef good(record):\n    return 1\n".encode("latin-1"))
    assert own_metrics.get(reference(folder, "good")).metric.name == "good"


def test_a_fraction_has_an_interval_and_is_none_without_a_sum():
    rows = QuestionTable.of_records(records())
    own = Fraction(top=lambda rows: rows.column("accuracy.score"), bottom=lambda rows: [2.0] * len(rows))
    found = own.of(rows)["fraction"]
    assert found.estimate == 0.25 and found.low < 0.25 < found.high
    assert Fraction(bottom=lambda rows: [0.0] * len(rows)).value(rows) is None
    with pytest.raises(UserError, match="12 numbers, 0 or more"):
        Fraction(top=lambda rows: [-1.0] * len(rows)).value(rows)


@pytest.mark.parametrize("name", ["sensitivity", "_stars", "CHANGE"])
def test_what_a_run_says_makes_the_metric_again_without_the_code(folder, name):
    own = own_metrics.get(reference(folder, name))
    said = {own_parts.KEY: json.loads(json.dumps(own_parts.describe_custom_parts([own], None, None)))}
    assert str(folder) not in json.dumps(said)
    again = own_parts.restore_declaration(own_parts.serialize_declaration(said), None)
    assert again.metrics == (own.metric,)
    assert again.measures == ((own.measure,) if own.measure else ())


def test_what_is_code_is_found_in_the_folder_or_said_to_be_missing(folder):
    own = own_metrics.get(reference(folder, "F1"))
    said = own_parts.serialize_declaration({own_parts.KEY: own_parts.describe_custom_parts([own], None, None)})
    [found] = own_parts.restore_declaration(said, folder).metrics
    assert found.estimate is own.metric.estimate
    [missing] = own_parts.restore_declaration(said, None).metrics
    assert missing.estimate.value(QuestionTable.of_records(records())) is None
    assert "parts.py:F1 is not here" in missing.estimate.reason
    with pytest.raises(UserError, match="Was it edited"):
        own_parts.restore_declaration('{"metrics": [{}]}', None)


@pytest.mark.parametrize("named", ["{0}/outside.py:F1", "../outside.py:F1", "outside:F1"])
def test_code_that_only_a_log_names_is_not_run(folder, named, monkeypatch):
    monkeypatch.syspath_prepend(folder.parent)
    (folder.parent / "outside.py").write_text("open(__file__ + '.ran', 'w')\n", "utf-8")
    (folder / "other.yaml").write_bytes(b"metrics: [not.outside:F1, outside:F12]  # \xe9 in Latin-1\n")
    said = json.dumps({"metrics": [{"name": "f1", "reference": named.format(folder.parent)}]})
    for given in (folder, None):
        [found] = own_parts.restore_declaration(said, given).metrics
        assert isinstance(found.estimate, own_parts.MissingEstimate) and "is not here" in found.estimate.reason
    settings = {"default": {"judge": named.format(folder.parent)}}
    config = {"metadata": {"template": "open"}, "lmms_eval_specific_kwargs": settings}
    assert registry.find_suite("mine", config).name == "mine"
    assert not (folder.parent / "outside.py.ran").exists()


def test_the_code_counts_into_the_digests(folder):
    own = own_metrics.get(reference(folder, "F1"))
    metadata = {own_parts.KEY: own_parts.describe_custom_parts([own], None, None)}
    [before] = extensions.custom_code_digests(metadata)
    file = folder / "parts.py"
    file.write_text(PARTS.replace("2.0", "3.0"), "utf-8")
    assert before != f"parts.py:F1 {own_parts.custom_code_digest(file)}"
    assert extensions.custom_code_digests({}) == [] and extensions.custom_code_digests([]) == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("two", r"takes \(a, b\), which one record does not fit"),
        ("accuracy", "called 'accuracy', which is one of ours"),
        ("NO_ESTIMATE", "its estimate is 1, expected"),
        ("BAD_NAME", "called 'Bad name': expected small letters"),
        ("sensitivty", "Did you mean 'sensitivity'"),
        (
            "SURE",
            r"parts.py, line \d+: the metric 'SURE' can't be a main metric: it chooses questions by accuracy.score",
        ),
        ("SIGNED", "no direction to rank by"),
        ("Metric", "is no function .type.. Expected"),
    ],
)
def test_what_is_no_metric_is_refused(folder, name, said):
    with pytest.raises(UserError, match=said) as caught:
        own_metrics.get(reference(folder, name), tuple(measures.template_metrics()))
    assert "parts.py" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("raises", "there is no 'sight', parts.py line 18. Tags: site. Measures: accuracy"),
        ("text", "returns '1' .str.. Expected a number, or None"),
        ("not_a_number", "returns nan. Expected a finite number"),
        ("too_much", "returns 1.5, expected 0 to 1. Another range: @question_metric"),
    ],
)
def test_a_mistake_at_a_question_is_named(folder, name, said):
    own = own_metrics.get(reference(folder, name))
    with pytest.raises(UserError, match=said) as caught:
        own_metrics.with_values(records()[3], [own])
    assert f"parts.py: the metric '{name}' on question 'q3'" in str(caught.value)


def test_a_measure_or_a_tag_that_there_is_not_is_named(folder):
    with pytest.raises(UserError, match="Unknown measure 'acuracy'.*Did you mean 'accuracy'"):
        measures.of_kind("choice", CustomScoring((reference(folder, "UNKNOWN_MEASURE"),)))
    own = own_metrics.get(reference(folder, "FILTERED"))
    with pytest.raises(UserError, match="Unknown tag 'sight' in parts.py: the metric 'filtered'.*Allowed: id, site"):
        own_metrics.check_columns([own], ["site", "id"])


def test_the_columns_that_an_estimate_chooses_groups_and_pairs_by():
    assert Mean({"site": "a"}).columns == ["site"] and Macro(by="site", groups=({"sex": 1},)).columns == ["sex", "site"]
    assert Contrast(first={"site": "a"}, pair=("id", "site")).columns == ["site", "id"]
