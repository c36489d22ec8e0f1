"""One document from runs of any suites."""

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.report import Options, assemble, build, reported_suites


def test_run_of_other_tasks(tmp_path):
    (tmp_path / "x_results.json").write_text('{"results": {"mmlu": {}}, "configs": {"mmlu": {}}}')
    with pytest.raises(UserError, match="No task of .*MedQ-Deg.* in .*'mmlu'"):
        build([tmp_path])


def test_every_suite_offers_what_the_registry_says():
    for suite in reported_suites.suites().values():
        assert suite.title
        assert suite.uses <= {"pairs", "parameters"}
        assert callable(suite.is_ours)
        assert callable(suite.report)


def test_option_that_no_suite_here_uses_is_refused(write_run):
    with pytest.raises(UserError, match="--pair is of no use here: the report of MedQ-Deg"):
        build([write_run()], Options(pairs=(("a", "b"),), resamples=0))


def test_parts_of_several_suites_are_called_by_their_suite(write_run, monkeypatch):
    found = [reported_suites.suites()["medq_deg"], reported_suites.suites()["medq_deg"]]
    alone = [part.title for part in build([write_run()], Options(resamples=0, drawn=False)).parts]
    monkeypatch.setattr(assemble, "holding", lambda runs: {f"s{n}": (each, runs) for n, each in enumerate(found)})
    parts = build([write_run("other")], Options(resamples=0, drawn=False)).parts
    assert [part.title for part in parts] == [f"MedQ-Deg: {each}" for each in alone] * 2


def test_a_comparison_opens_with_what_was_found_of_each_model(write_run):
    wrong = {level: {"q1": "BB", "q2": "AA"} for level in range(3)}
    document = build([write_run("a"), write_run("b", model="other", trials=wrong)], Options(resamples=0, drawn=False))
    said = document.first.sentences["MedQ-Deg", document.parts[0].name]
    assert said.startswith("some_model") and "; other" in said and "no better than guessing at" in said
    assert document.parts[0].name == "Comparison"
