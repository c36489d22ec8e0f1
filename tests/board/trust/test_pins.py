"""Pins of a board in public: who judges, which the first run that was judged says."""

import re
from dataclasses import replace

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from lmms_medtasks.board.collect import collect_entries
from lmms_medtasks.board.trust import pins
from lmms_medtasks.cli.app import build_app
from lmms_medtasks.errors import UserError


def run_of(tmp_path, runs, name, judge):
    rows = {f"o{number}": None if judge == "none" else 60.0 for number in range(12)}
    metadata = {
        "judge": {**runs.JUDGE, "name": "none", "settings": {}} if judge == "none" else {**runs.JUDGE, "name": judge}
    }
    return runs.write(tmp_path / name, {"med_cmr_open": runs.judged_rows(rows, judge)}, model=name, metadata=metadata)


def pinned(run, path):
    return CliRunner().invoke(build_app(), ["leaderboard", "pin", str(run), "-o", str(path)])


def test_a_judged_task_without_a_judge_is_named_and_gets_that_of_a_later_run(tmp_path, runs):
    path = tmp_path / "pins.yml"
    result = pinned(run_of(tmp_path, runs, "random", "none"), path)
    assert result.exit_code == 0 and "No judge is pinned for med_cmr_open." in result.output
    (pin,) = pins.read_pins(path).found.values()
    assert pin.judge == "" and list(pin.prompts) == ["med_cmr_open"]
    result = pinned(run_of(tmp_path, runs, "judged", runs.JUDGE["name"]), path)
    assert result.exit_code == 0 and "No judge" not in result.output and "(0 new" in result.output
    (pin,) = pins.read_pins(path).found.values()
    (entry,) = collect_entries([tmp_path / "judged"]).entries
    assert pin.judge == entry.judge.name and pin.prompts == entry.judge.prompts
    assert pinned(run_of(tmp_path, runs, "other", "openai:friend"), path).exit_code == 0
    assert next(iter(pins.read_pins(path).found.values())).judge == entry.judge.name


def test_a_judge_that_compares_words_is_pinned_with_a_warning_that_names_its_tasks(tmp_path, runs):
    path = tmp_path / "pins.yml"
    result = pinned(run_of(tmp_path, runs, "words", "lexical"), path)
    assert result.exit_code == 0 and next(iter(pins.read_pins(path).found.values())).judge.startswith("lexical")
    (warning,) = [line for line in result.stderr.splitlines() if line.startswith("Warning: ")]
    assert "med_cmr_open" in warning and "compares words" in warning and "Warning" not in result.stdout
    # Where a language model is pinned it stays the board's judge.
    other = tmp_path / "others.yml"
    assert "Warning" not in pinned(run_of(tmp_path, runs, "judged", runs.JUDGE["name"]), other).stderr
    assert "Warning" not in pinned(tmp_path / "words", other).stderr


def test_a_task_that_nobody_judges_needs_no_judge(submissions, runs, tmp_path):
    submissions.content()
    assert "No judge" not in pinned(submissions.folder.parent / "run1", tmp_path / "pins.yml").output


def without(entry, row):
    """The entry with a question, by its row, that belongs to the measure no more."""
    mask = pa.array([None if each == row else True for each in range(len(entry.questions))])
    place = entry.answers.column_names.index("accuracy.asked")
    return replace(entry, answers=entry.answers.set_column(place, "accuracy.asked", mask))


def test_which_questions_belong_to_a_measure_is_pinned_and_not_how_many_alone(submissions):
    """An easy question in a measure in place of a hard one leaves their number as it is."""
    submissions.pack("h.json")
    (entry,) = submissions.board().entries
    pin = pins.pin_of(replace(without(entry, 0), source=replace(entry.source, kind="run")))
    assert not pin.differences(without(entry, 0))
    (said,) = pin.differences(without(entry, 1))
    assert said.startswith("Of its questions 11 (") and ") belong to accuracy, and of the pinned ones 11 (" in said


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("accuracy", "12", "digest of its questions beside their number: pin the run again"),
        ("questions", "12", "questions: 12, expected a text: put it in quotation marks"),
        ("count", "'11'", "count: '11', expected a whole number"),
        ("count", "0", "count: 0, expected a whole number from 0, of questions from 1"),
        ("harness", "[a, b]", "harness: .*, expected a text"),
        ("judg", "a", "unexpected keyword argument 'judg'"),
    ],
)
def test_pins_edited_to_another_form_are_refused(submissions, field, value, message):
    submissions.pins()
    path = submissions.folder.parent / "pins.yml"
    text, count = re.subn(rf"\b{field}: .*", f"{field}: {value}", path.read_text("utf-8"), count=1)
    path.write_text(text if count else text.replace("      count:", f"      {field}: {value}\n      count:"), "utf-8")
    with pytest.raises(UserError, match=message):
        pins.read_pins(path)
