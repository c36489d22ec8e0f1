"""The gate's file of rules, and its command: options, exit status, and a baseline that is damaged."""

import pytest
import typer
from typer.testing import CliRunner

from lmms_medtasks.board.comparison.gate import read_rules
from lmms_medtasks.cli import compare as command
from lmms_medtasks.errors import UserError

TASK = "medq_deg_l1"


IMAGES = 60


QUESTIONS = 3 * IMAGES


def with_wrong(count, of=QUESTIONS):
    """Right answers, the first ``count`` of them wrong."""
    return {f"q{row:03d}": "B" if row < count else "A" for row in range(of)}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rules: [{margn: 1}]", "Unknown setting 'margn'"),
        ("rules: [{alpha: 2}]", "alpha is 2"),
        ("rules: [{margin: -0.1}]", "margin is -0.1; expected a number from 0 to 1"),
        ("rules: [{margin: 2}]", "margin is 2; expected a number from 0 to 1"),
        ("rules: [{min_images: 0}]", "min_images is 0"),
        ("rules: [{on_cannot_tell: shrug}]", "Unknown action 'shrug'"),
        ("rules: [{on_cannot_tell: [fail]}]", "Unknown action"),
        ("rules: [{on_missing: shrug}]", "Unknown action 'shrug'"),
        ("rules: {a: b}", "expected a list"),
        ("problems: [unreadable]", "expected a mapping"),
        ("problems: {no_such: fail}", "Unknown problem 'no_such'"),
        ("correction: bonferroni", "Unknown correction"),
        ("correction:", "Unknown correction None"),
        ("thresholds: {coverage: 95}", "expected a number from 0 to 1"),
        ("extra: 1", "Unknown section 'extra'"),
        ("extra:", "Unknown section 'extra'"),
    ],
)
def test_rules_that_mean_nothing(tmp_path, text, said):
    path = tmp_path / "rules.yml"
    path.write_text(text)
    with pytest.raises(UserError, match=said):
        read_rules(path)


def test_the_first_rule_that_fits_counts_for_each_setting(tmp_path):
    path = tmp_path / "rules.yml"
    path.write_text("rules: [{tasks: 'sure_*', margin: 0.1}, {measures: open*, margin: 0.2, alpha: 0.01}]")
    rules = read_rules(path)
    rule = rules.of("sure_slake_modality", "open_iid")
    assert (rule.margin, rule.alpha, rule.min_images) == (0.1, 0.01, 5)
    assert rules.of("med_cmr_mcq", "accuracy").margin == 0.02
    # What the command line says holds where the file says nothing.
    given = read_rules(path, margin=0.3, on_cannot_tell="warn")
    assert (given.of("sure_x", "closed").margin, given.of("medobvious", "accuracy").margin) == (0.1, 0.3)
    assert given.of("sure_x", "closed").on_cannot_tell == "warn"


@pytest.fixture
def invoked(tmp_path):
    """The command on the folders ``base`` and ``new``, with the errors that the command line shows."""

    def run(*more):
        app = typer.Typer()
        app.command()(command.gate)
        names = [str(tmp_path / "base"), str(tmp_path / "new"), "-o", str(tmp_path / "s.md")]
        return CliRunner().invoke(app, [*names, *more])

    return run


@pytest.mark.parametrize(
    ("wrong", "more", "status"),
    [
        (100, (), 1),
        (21, (), 3),
        (21, ("--cannot-tell", "fail"), 3),
        (21, ("--cannot-tell", "warn"), 0),
        (21, ("--cannot-tell", "pass"), 0),
        (100, ("--cannot-tell", "pass"), 1),
        (21, ("--margin", "0.3"), 0),
        (100, ("--margin", "1"), 0),
    ],
)
def test_the_exit_status_of_the_command(tmp_path, runs, invoked, wrong, more, status):
    for side, count in (("base", 20), ("new", wrong)):
        runs.write(tmp_path / side, {TASK: runs.choice_rows(with_wrong(count), images=IMAGES)})
    result = invoked(*more)
    assert result.exit_code == status, result.output
    assert result.stdout.startswith("Gate: ") and (tmp_path / "s.md").read_text().startswith("## Gate: ")


@pytest.mark.parametrize("margin", ["-0.1", "1.5"])
def test_a_margin_of_the_command_line_is_from_0_to_1(tmp_path, runs, invoked, margin):
    for side in ("base", "new"):
        runs.write(tmp_path / side, {TASK: runs.choice_rows(with_wrong(3), images=IMAGES)})
    error = invoked("--margin", margin).exception
    assert isinstance(error, UserError) and "--margin" in str(error) and margin in str(error)


def test_a_damaged_baseline_is_no_baseline(tmp_path, runs, invoked):
    """The rest of the baseline would do, and the gate once passed with a warning."""
    tasks = {name: runs.choice_rows(with_wrong(3), images=IMAGES) for name in (TASK, "medq_deg_l2")}
    for side in ("base", "new"):
        runs.write(tmp_path / side, tasks)
    (log,) = (tmp_path / "base").rglob("*samples_medq_deg_l2.jsonl")
    log.write_text(log.read_text()[:-40])
    error = invoked().exception
    assert isinstance(error, UserError) and "damaged" in str(error) and "medq_deg_l2" in str(error)
    assert not (tmp_path / "s.md").exists()
    # The other task alone can still be held against it; a damaged candidate fails.
    assert invoked("--task", TASK, "--margin", "0.3").exit_code == 0
    log.write_text("")
    (tmp_path / "base").rename(tmp_path / "old")
    (tmp_path / "new").rename(tmp_path / "base")
    (tmp_path / "old").rename(tmp_path / "new")
    assert invoked("--margin", "0.3").exit_code == 1
