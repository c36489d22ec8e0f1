"""The gate: shut by a planted regression and by unsound runs, open for noise."""

from types import SimpleNamespace

import pytest
import typer
from typer.testing import CliRunner

from lmms_medtasks.board.comparison import compared_entries, gate_rules
from lmms_medtasks.board.comparison.gate import decide, gate
from lmms_medtasks.board.comparison.gate_summary import markdown
from lmms_medtasks.board.comparison.measure_comparison import compare
from lmms_medtasks.board.entries import drawn_clusters
from lmms_medtasks.cli import gate as command
from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import generator
from lmms_medtasks.statistics.sign_flip import sign_flip
from lmms_medtasks.suites import registry

TASK = "medq_deg_l1"
IMAGES = 60
QUESTIONS = 3 * IMAGES


def answers(share, seed, count=QUESTIONS):
    rng = generator("test", "gate", seed)
    return {f"q{row:03d}": "A" if hit else "B" for row, hit in enumerate(rng.random(count) < share)}


@pytest.fixture
def decided(tmp_path, runs):
    def run(baseline, candidate, rules="", base=None, new=None, rows=runs.choice_rows):
        for name, tasks, chosen in (("base", baseline, base), ("new", candidate, new)):
            tasks = tasks if TASK in tasks or not tasks else {TASK: tasks}
            own = {
                task: rows(each, images=IMAGES) if rows is runs.choice_rows else each for task, each in tasks.items()
            }
            runs.write(tmp_path / name, own, model=name, **(chosen or {}))
        path = tmp_path / "rules.yml"
        path.write_text(rules)
        read = gate_rules.read(path)
        return gate(
            *(compared_entries.read(tmp_path / name, rules=read.board) for name in ("base", "new")), read, resamples=200
        )

    return run


def test_a_planted_regression_shuts_it(decided):
    found = decided(answers(0.8, 1), answers(0.6, 2))
    (verdict,) = found.verdicts
    assert (verdict.outcome, verdict.action, found.failed) == ("regressed", "fail", True)
    assert verdict.drop == pytest.approx(verdict.baseline - verdict.candidate)
    assert verdict.interval.low > 0
    assert verdict.model == "new"  # the candidate's, not the baseline's
    assert markdown(found).startswith("## Gate: failed (1 reason)")


def test_noise_leaves_it_open(decided):
    found = decided(answers(0.8, 1), answers(0.8, 3))
    assert not found.failed
    assert markdown(found).startswith("## Gate: passed")


def test_an_improvement_leaves_it_open(decided):
    found = decided(answers(0.5, 1), answers(0.8, 2))
    assert (found.verdicts[0].outcome, found.failed) == ("improved", False)


def test_false_alarms_come_at_about_the_level():
    """200 pairs of runs of one model: each image has its own difficulty, each question is answered by chance anew."""
    rng = generator("test", "false alarms")
    rule = gate_rules.read().of(TASK, "accuracy")
    difficulty = rng.beta(4, 2, (200, IMAGES, 1))
    base, new = (rng.random((200, IMAGES, 3)) < difficulty for _ in range(2))
    sums = (new.astype(float) - base).sum(axis=2)
    alarms = sum(decide([(-each.mean() / 3, sign_flip(each, "less"))], [rule], "holm")[0][0] for each in sums)
    # Level 0.05: 10 of 200 expected, at most 18 with a probability of 99.6 %; an exact test of steps is a bit below.
    assert 3 <= alarms <= 18
    # The test is not blind: with 12 points less most are found.
    worse = (rng.random((200, IMAGES, 3)) < difficulty - 0.12).astype(float) - base
    found = sum(
        decide([(-each.mean() / 3, sign_flip(each, "less"))], [rule], "holm")[0][0] for each in worse.sum(axis=2)
    )
    assert found > 100


def test_false_alarms_of_a_gate_of_many_tasks_are_those_of_one():
    rng = generator("test", "many tasks")
    rule = gate_rules.read().of(TASK, "accuracy")
    shut = {"holm": 0, "none": 0}
    for _ in range(200):
        sums = rng.integers(-2, 3, (10, IMAGES)).astype(float)
        drops = [(-float(each.mean()), sign_flip(each, "less")) for each in sums]
        for correction in shut:
            shut[correction] += any(regressed for regressed, _ in decide(drops, [rule] * 10, correction))
    assert shut["holm"] <= 18
    assert shut["none"] > 50  # 1 - 0.95**10 is 40 %


def test_a_drop_within_what_the_rules_allow_is_a_warning(decided):
    rules = f"rules: [{{tasks: {TASK}, measures: acc*, max_drop: 0.5}}]"
    found = decided(answers(0.8, 1), answers(0.6, 2), rules)
    assert (found.failed, found.verdicts[0].outcome) == (False, "held")
    assert any("within the 0.5 that the rules allow" in text for text in found.warnings)


@pytest.mark.parametrize(
    ("rules", "failed"), [("", False), ("rules: [{on_few: fail}]", True), ("rules: [{min_questions: 20}]", True)]
)
def test_few_questions_decide_nothing(decided, rules, failed):
    found = decided(dict.fromkeys(answers(1, 1, 20), "A"), dict.fromkeys(answers(0, 2, 20), "B"), rules)
    assert found.failed is failed
    assert found.verdicts[0].outcome == ("regressed" if "min" in rules else "too few questions")


@pytest.mark.parametrize(("action", "failed"), [("fail", True), ("warn", False)])
def test_a_task_that_the_candidate_lacks(decided, action, failed):
    both = {TASK: answers(0.8, 1), "medq_deg_l2": answers(0.8, 1)}
    found = decided(both, {TASK: answers(0.8, 1)}, f"rules: [{{on_missing: {action}}}]")
    assert [each.outcome for each in found.verdicts] == ["held", "missing"]
    assert found.failed is failed
    found = decided({TASK: answers(0.8, 1)}, both)
    assert any("Not in the baseline" in text for text in found.warnings)


def test_another_version_does_not_compare(decided):
    found = decided(answers(0.8, 1), answers(0.8, 1), new={"versions": {TASK: 2.0}})
    assert (found.verdicts[0].outcome, found.failed) == ("not comparable", True)
    assert "Task version 1.0 and 2.0" in found.verdicts[0].detail


def test_unsound_runs_shut_it(decided):
    new = {name: "-" if row % 4 == 0 else letter for row, (name, letter) in enumerate(answers(0.9, 1).items())}
    old = {name: "B" if letter == "-" else letter for name, letter in new.items()}
    found = decided(old, new)
    assert found.verdicts[0].outcome == "held"
    assert [problem.code for action, problem in found.problems if action == "fail"] == ["low_parse_rate"]
    assert found.failed
    assert not decided(old, new, "problems: {low_parse_rate: warn}").failed
    assert not decided(old, new, "thresholds: {parse_rate: 0.5}").failed
    # Where the baseline has it too it is no news.
    assert not decided(new, new).failed
    assert decided(new, new, "old_problems: fail").failed


def test_judgements_that_are_missing_shut_it(tmp_path, runs):
    totals = {f"q{row}": float(20 + row) for row in range(60)}
    lacking = {name: None if row < 10 else total for row, (name, total) in enumerate(totals.items())}
    for name, own in (("base", totals), ("new", lacking)):
        runs.write(tmp_path / name, {"med_cmr_open": runs.judged_rows(own)}, metadata={"judge": runs.JUDGE})
    found = gate(*(compared_entries.read(tmp_path / name) for name in ("base", "new")), gate_rules.read())
    assert [problem.code for action, problem in found.problems if action == "fail"] == ["low_coverage"]


APART = [
    ({"url": "http://h:2/v1"}, "http://h:2/v1"),
    ({"url": "http://h:1/team/v1"}, "http://h:1/team/v1"),
    ({"model_that_answers": "m-2"}, "answered by m-2"),
    ({"model_that_answers": ""}, "answering without a model's name"),
]


@pytest.mark.parametrize(("other", "said"), APART)
def test_judges_of_one_name_do_not_compare(tmp_path, runs, other, said):
    """The same name at another port or path, or answered by another model: the gate is shut, compare warns."""
    totals = {f"q{row}": float(20 + row) for row in range(60)}
    for name, judge in (("base", {}), ("same", {}), ("new", other)):
        runs.write_judged(tmp_path / name, totals, **judge)
    base, same, new = (compared_entries.read(tmp_path / name) for name in ("base", "same", "new"))
    shut, held = (gate(base, each, gate_rules.read(), resamples=100) for each in (new, same))
    assert shut.failed and {each.outcome for each in shut.verdicts} == {"not comparable"}
    assert not held.failed and {each.outcome for each in held.verdicts} == {"held"}
    (warning,) = compare(base, new, resamples=100).warnings
    assert (
        "judged by openai:judge at http://h:1/v1, answered by m-1 and openai:judge at " in warning and said in warning
    )
    assert compare(base, same, resamples=100).warnings == ()


def test_several_models_are_matched_by_name(tmp_path, runs):
    for side, share in (("base", 0.9), ("new", 0.6)):
        for model in ("x", "y"):
            own = answers(share if model == "y" else 0.9, f"{side}{model}")
            runs.write(tmp_path / side / model, {TASK: runs.choice_rows(own, images=IMAGES)}, model=model)
    found = gate(*(compared_entries.read(tmp_path / name) for name in ("base", "new")), gate_rules.read())
    assert [(each.model, each.outcome) for each in found.verdicts] == [("x", "held"), ("y", "regressed")]


def test_hostile_names_do_no_harm_in_the_summary(tmp_path, runs):
    for side in ("base", "new"):
        own = {TASK: runs.choice_rows(answers(0.8, 1), images=IMAGES)}
        runs.write(tmp_path / side, own, model="<img src=x>|`\x1b[31m")
    text = markdown(gate(*(compared_entries.read(tmp_path / name) for name in ("base", "new")), gate_rules.read()))
    assert "<img" not in text.replace("\\<", "") and "\x1b" not in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in rows} == {12}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rules: [{max_drp: 1}]", "Unknown setting 'max_drp'"),
        ("rules: [{alpha: 2}]", "alpha is 2"),
        ("rules: [{max_drop: -1}]", "max_drop is -1"),
        ("rules: [{on_missing: shrug}]", "Unknown action 'shrug'"),
        ("rules: {a: b}", "wanted a list"),
        ("problems: {no_such: fail}", "Unknown problem 'no_such'"),
        ("correction: bonferroni", "Unknown correction"),
        ("thresholds: {coverage: 95}", "wanted a number from 0 to 1"),
        ("extra: 1", "Unknown section 'extra'"),
    ],
)
def test_rules_that_mean_nothing(tmp_path, text, said):
    path = tmp_path / "rules.yml"
    path.write_text(text)
    with pytest.raises(UserError, match=said):
        gate_rules.read(path)


def test_the_first_rule_that_fits_counts_for_each_setting(tmp_path):
    path = tmp_path / "rules.yml"
    path.write_text("rules: [{tasks: 'sure_*', max_drop: 0.1}, {measures: open*, max_drop: 0.2, alpha: 0.01}]")
    rules = gate_rules.read(path)
    rule = rules.of("sure_slake_modality", "open_iid")
    assert (rule.max_drop, rule.alpha, rule.min_questions) == (0.1, 0.01, 50)
    assert rules.of("med_cmr_mcq", "accuracy").max_drop == 0


@pytest.mark.parametrize(("share", "status"), [(0.8, 0), (0.6, 1)])
def test_the_command(tmp_path, runs, share, status):
    for side, own in (("base", answers(0.8, 1)), ("new", answers(share, 2))):
        runs.write(tmp_path / side, {TASK: runs.choice_rows(own, images=IMAGES)})
    app = typer.Typer()
    command.register(app)
    names = ["--baseline", str(tmp_path / "base"), "--candidate", str(tmp_path / "new"), "-o", str(tmp_path / "s.md")]
    result = CliRunner().invoke(app, names)
    assert result.exit_code == status, result.output
    assert (tmp_path / "s.md").read_text() == result.stdout


def test_what_is_drawn_is_said_by_the_benchmarks_of_the_entries(decided):
    """No benchmark is named beside the results of another."""
    assert "MedObvious" not in markdown(decided(answers(0.8, 1), answers(0.8, 3)))
    entries = [SimpleNamespace(declaration=registry.get(name)) for name in ("medq_deg", "medobvious", "medobvious")]
    assert drawn_clusters(entries[:1]) == "images"
    assert drawn_clusters(entries) == "images (MedObvious: items)"
