"""``--confidence``: every number, head, note and file of a command is of the level that was asked for."""

import json
import re

import pytest
from typer.testing import CliRunner

import lmms_medtasks as mt
from lmms_medtasks.cli.app import build_app
from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.statistics import confidence
from tests import made_up_runs

TASK, USUAL = "med_cmr_mcq", re.compile(r"(?<![\d.])95[ \u00a0]%|⟨")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for name, share in (("a", 0.8), ("b", 0.5)):
        hits = seeded_generator("test", "confidence", name).random(60) < share
        rows = made_up_runs.choice_rows({f"q{row}": "AB"[int(not hit)] for row, hit in enumerate(hits)}, images=20)
        made_up_runs.write(folder / name, {TASK: rows}, model=f"model-{name}")
    return folder


def call(*arguments):
    done = CliRunner().invoke(build_app(), list(map(str, arguments)))
    assert confidence.current_level() == confidence.DEFAULT
    return done


COMMANDS = {
    "report": ("report", "{a}", "{b}", "--all", "--resamples", "20"),
    "report md": ("report", "{a}", "--format", "md", "--resamples", "20"),
    "report html": ("report", "{a}", "{b}", "--format", "html", "--resamples", "20"),
    "compare": ("compare", "{a}", "{b}"),
    "compare all": ("compare", "{a}", "{b}", "--format", "md"),
    "gate": ("gate", "{a}", "{b}"),
    "gate md": ("gate", "{a}", "{b}", "--format", "md"),
    "power": ("power", "{a}", "{b}"),
}
WITHOUT_WORDS = ("gate", "power")
"""They print no interval: power and limit of a drop are of alpha alone."""


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_printed_says_the_level_and_never_the_usual_one(name, runs):
    arguments = [each.format(a=runs / "a", b=runs / "b") for each in COMMANDS[name]]
    usual, asked = call(*arguments), call(*arguments, "--confidence", "0.9")
    assert usual.exit_code == asked.exit_code in (0, 1, 3), asked.output
    assert usual.output != asked.output and not USUAL.search(asked.output)
    assert ("90 %" in asked.output.replace("\u00a0", " ")) is (name not in WITHOUT_WORDS)
    if name not in WITHOUT_WORDS:
        assert USUAL.search(usual.output)


def test_files_have_the_intervals_of_the_level_and_say_it(runs):
    found = {}
    for level in ("0.95", "0.9"):
        done = call("compare", runs / "a", runs / "b", "--format", "json", "--confidence", level)
        found[level] = json.loads(done.stdout)
    usual, asked = (found[level]["comparisons"][0] for level in ("0.95", "0.9"))
    assert (found["0.9"]["confidence"], usual["p"]) == (0.9, asked["p"])
    assert usual["low"] < asked["low"] < asked["high"] < usual["high"]
    assert usual["detectable"] > asked["detectable"]  # by a test at 0.1 in place of 0.05
    lines = [call("report", runs / "a", "--format", "csv", "--confidence", each).stdout for each in ("0.95", "0.9")]
    assert " low," in lines[0] and " low 90 %,high" not in lines[0] and " low 90 %," in lines[1]


def test_python_has_the_same_keyword_and_keeps_the_level_for_what_is_written_later(runs, tmp_path):
    with pytest.raises(UserError, match="confidence is 95: expected a number from 0.5 to 0.9999"):
        mt.compare(runs / "a", runs / "b", confidence=95)
    with pytest.raises(UserError, match="confidence is '0.9'"):
        mt.report(runs / "a", confidence="0.9")
    report = mt.report(runs / "a", resamples=20, confidence=0.9)
    compared = mt.compare(runs / "a", runs / "b", confidence=0.9)
    arguments = ("--confidence", "0.9", "--format")
    assert report.html == call("report", runs / "a", "--resamples", "20", *arguments, "html").stdout
    assert compared.to_dict() == json.loads(call("compare", runs / "a", runs / "b", *arguments, "json").stdout)
    assert any(" low 90 %," in path.read_text("utf-8") for path in report.save(tmp_path) if path.suffix == ".csv")


def test_a_board_is_of_the_level_and_its_cache_is_too(runs, tmp_path):
    arguments = ("leaderboard", "build", runs, "--cache", tmp_path / "cache", "--resamples", "20", "--no-questions")
    assert call(*arguments, "-o", tmp_path / "usual").exit_code in (0, 1)
    assert call(*arguments, "-o", tmp_path / "asked", "--confidence", "0.9").exit_code in (0, 1)
    texts = {path: path.read_text("utf-8") for path in (tmp_path / "asked").rglob("*.html")}
    # A card says what its paper has.
    assert [path.name for path, text in texts.items() if USUAL.search(text.replace("says 95 %", ""))] == []
    assert any("90 %" in text for text in texts.values())
    assert any(USUAL.search(path.read_text("utf-8")) for path in (tmp_path / "usual").rglob("*.html"))


@pytest.mark.parametrize("level", ["0", "1", "95"])
@pytest.mark.parametrize("command", ["report", "compare", "gate", "power", "leaderboard build"])
def test_a_level_that_is_none_is_refused(command, level, runs, tmp_path):
    more = ("-o", tmp_path / "site") if "build" in command else ()
    done = call(*command.split(), runs / "a", runs / "b", *more, "--confidence", level)
    assert done.exit_code and isinstance(done.exception, UserError)
    assert f"confidence is {level}: expected a number from 0.5 to 0.9999" in str(done.exception)
