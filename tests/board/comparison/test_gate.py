"""The gate: failed by a planted drop and by unsound runs, passed where none is shown, undecided where neither is."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from lmms_medtasks.board.boards import drawn_clusters
from lmms_medtasks.board.comparison import compared_entries
from lmms_medtasks.board.comparison.gate import read_rules, run_gate
from lmms_medtasks.board.comparison.gate import test_outcomes as outcomes_of
from lmms_medtasks.board.comparison.gate_summary import gate_decision, gate_report
from lmms_medtasks.board.comparison.measure_comparison import compare
from lmms_medtasks.errors import UserError
from lmms_medtasks.report import markdown as markdown_writer
from lmms_medtasks.report.judged_tables import LEXICAL, MEANINGS
from lmms_medtasks.report.terminal import screen_text
from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.statistics.non_inferiority import margin_test
from lmms_medtasks.suites import registry

TASK = "medq_deg_l1"
IMAGES = 60
QUESTIONS = 3 * IMAGES


def answers(share, seed, count=QUESTIONS):
    rng = seeded_generator("test", "gate", seed)
    return {f"q{row:03d}": "A" if hit else "B" for row, hit in enumerate(rng.random(count) < share)}


def with_wrong(count, of=QUESTIONS):
    """Right answers, the first ``count`` of them wrong."""
    return {f"q{row:03d}": "B" if row < count else "A" for row in range(of)}


def sides(folder, *names, **given):
    return [compared_entries.read_compared_runs(folder / name, **given) for name in names or ("base", "new")]


def gate_of(folder):
    """The gate by the rules of no file on the folders ``base`` and ``new``."""
    return run_gate(*sides(folder), read_rules())


@pytest.fixture
def decided(tmp_path, runs):
    def run(baseline, candidate, rules="", base=None, new=None, images=IMAGES):
        for name, tasks, chosen in (("base", baseline, base), ("new", candidate, new)):
            tasks = tasks if TASK in tasks or not tasks else {TASK: tasks}
            own = {task: runs.choice_rows(each, images=images) for task, each in tasks.items()}
            runs.write(tmp_path / name, own, model=name, **(chosen or {}))
        path = tmp_path / "rules.yml"
        path.write_text(rules)
        read = read_rules(path)
        return run_gate(*sides(tmp_path, rules=read.board), read)

    return run


def markdown(found):
    return markdown_writer.render_markdown(gate_report(found))


def gate_lines(found):
    return screen_text(gate_report(found, is_screen=True)).splitlines()


def test_a_planted_drop_fails_it(decided):
    found = decided(answers(0.8, 1), answers(0.5, 2))
    (verdict,) = found.verdicts
    assert (verdict.outcome, verdict.effect, found.decision) == ("worse", "fail", "failed")
    assert verdict.test.drop == pytest.approx(verdict.baseline - verdict.candidate)
    assert verdict.interval.low > 0.02
    assert verdict.model == "new"  # the candidate's, not the baseline's
    assert markdown(found).startswith("## Gate: failed (1 reason)")
    screen = list(gate_lines(found))
    assert screen[0] == "Gate: failed (1 reason)"
    assert max(map(len, screen)) <= 100 and not any("|" in line or "**" in line for line in screen)
    assert sum(line.startswith("✕ ") and TASK in line for line in screen) == 1


def test_shares_are_in_percent_and_their_differences_in_points(decided):
    found = decided(answers(0.9, 1), answers(0.6, 2))
    [row] = [line.split(" | ") for line in markdown(found).splitlines() if "medq" in line and line.startswith("|")]
    assert [row[place] for place in (5, 6)] == [
        f"{100 * value:.1f}" for value in (found.verdicts[0].baseline, found.verdicts[0].candidate)
    ]
    assert [cell.split()[-1] for cell in row[8:11]] == ["points"] * 3


def test_a_drop_that_is_shown_to_be_less_than_the_margin_passes(decided):
    """One of 180 questions lost, an image of 60: with a margin of 20 points that is enough, with 2 points it is not."""
    found = decided(with_wrong(0), with_wrong(1), "rules: [{margin: 0.2}]")
    (verdict,) = found.verdicts
    assert (verdict.outcome, verdict.effect, found.decision) == ("not worse", "ignore", "passed")
    assert verdict.test.not_worse_p < 0.05 < verdict.test.worse_p
    assert 1 / 180 < verdict.most < 0.2
    assert markdown(found).startswith("## Gate: passed\n")


def test_a_gain_that_is_shown_is_no_drop_of_less_than_nothing(decided):
    found = decided(with_wrong(QUESTIONS), with_wrong(0))
    assert found.verdicts[0].most < 0
    screen = list(gate_lines(found))
    for text in ("\n".join(screen), markdown(found)):
        # A folder of the tests may have "-9" in its name.
        without_paths = re.sub(r"/\S+", "", text)
        assert "gain ≥ 9" in without_paths and "-9" not in without_paths
    assert max(map(len, screen)) <= 100


def test_noise_with_few_images_can_not_be_told_from_a_drop(decided):
    found = decided(answers(0.8, 1), answers(0.8, 3))
    (verdict,) = found.verdicts
    assert (verdict.outcome, verdict.effect, found.decision) == ("can't tell", "undecided", "undecided")
    assert min(verdict.test.worse_p, verdict.test.not_worse_p) > 0.05
    assert markdown(found).startswith("## Gate: can't tell (1 measure)")


def test_an_improvement_passes(decided):
    found = decided(answers(0.5, 1), answers(0.8, 2))
    assert (found.verdicts[0].outcome, found.decision) == ("not worse", "passed")


def test_answers_that_are_all_equal_say_how_far_a_drop_is_ruled_out(decided):
    """60 images without a change: a whole image lost in 1 - 0.05 ** (1 / 60) = 4.9 % of cases can't be ruled out."""
    found = decided(with_wrong(20), {**with_wrong(20), "q179": "AA"})  # the same scores, another file
    (verdict,) = found.verdicts
    assert (verdict.outcome, verdict.test.drop) == ("can't tell", 0.0)
    assert verdict.most == pytest.approx(1 - 0.05 ** (1 / 60), abs=1e-3)
    assert verdict.test.worse_p == pytest.approx(1.0)
    assert decided(with_wrong(20), with_wrong(20), "rules: [{margin: 0.05}]").decision == "passed"


def test_the_same_run_on_both_sides_is_not_worse(tmp_path, runs):
    runs.write(tmp_path / "base", {TASK: runs.choice_rows(answers(0.8, 1), images=IMAGES)})
    side = compared_entries.read_compared_runs(tmp_path / "base")
    found = run_gate(side, side, read_rules())
    assert (found.verdicts[0].outcome, found.verdicts[0].adjusted, found.decision) == ("not worse", None, "passed")
    # No drop can be: a limit or a p value would look as if it had been measured.
    assert (found.verdicts[0].test, found.verdicts[0].most, found.verdicts[0].detectable) == (None, None, None)


def test_a_limit_is_said_before_the_table_and_folders_tell_the_runs_apart(tmp_path, runs):
    for name, count, original in (("base", 60, None), ("new", 20, 60)):
        rows = runs.choice_rows(with_wrong(0, count))
        runs.write(tmp_path / name, {TASK: rows}, original=original, limit=20 if original else None)
    found = gate_of(tmp_path)
    assert list(gate_lines(found))[5].strip() == "The candidate asked 20 questions a task (--limit 20)."
    text = "".join(line.strip() for line in gate_lines(found))
    assert text.count("--limit 20") == 1
    assert all(f"({tmp_path / name})" in text for name in ("base", "new"))


def test_four_images_decide_nothing_whatever_the_number_of_questions(decided):
    """Sixty questions from right to wrong on four images: p = 2 ** -4, said, and never passed over in silence."""
    found = decided(with_wrong(0, 60), with_wrong(60, 60), images=4)
    (verdict,) = found.verdicts
    assert (verdict.outcome, found.decision, verdict.test.n, verdict.test.clusters) == (
        "can't tell", "undecided", 60, 4,
    )  # fmt: skip
    text = markdown(found)
    assert "| 0.0625 |" in text and "4 images with a score in both, 5 required" in text
    five = decided(with_wrong(0, 60), with_wrong(60, 60), images=5)
    assert (five.verdicts[0].outcome, five.decision) == ("worse", "failed")
    assert five.verdicts[0].test.worse_p == pytest.approx(1 / 32)


def test_a_small_task_that_loses_everything_fails(tmp_path, runs):
    """Bones and Joints' Task VIII has as few questions as mini data has: from all right to none right is worse."""
    for side, total in (("base", "A"), ("new", "B")):
        own = {"bones_joints_t3_image": runs.choice_rows({f"q{row}": total for row in range(8)})}
        runs.write(tmp_path / side, own)
    found = gate_of(tmp_path)
    assert {each.outcome for each in found.verdicts} == {"worse"} and found.decision == "failed"


def margin_tests(sums, questions=3, margin=0.02):
    return [margin_test(-each, np.full(len(each), questions), margin) for each in sums]


def test_false_alarms_of_a_gate_of_many_tasks_are_those_of_one():
    rng = seeded_generator("test", "many tasks")
    failed = {"holm": 0, "none": 0}
    for _ in range(200):
        tests = margin_tests(rng.integers(-2, 3, (10, IMAGES)).astype(float), margin=0.0)
        for correction in failed:
            failed[correction] += any(each == "worse" for each, _ in outcomes_of(tests, [0.05] * 10, correction))
    assert failed["holm"] <= 18
    assert failed["none"] > 50  # 1 - 0.95**10 is 40 %


def test_the_correction_is_for_worse_only():
    """Four tests with hand-worked p values: Holm takes 4, 3, 2, 1 times the p of worse, and none of not worse."""
    tests = [
        SimpleNamespace(worse_p=worse, not_worse_p=not_worse)
        for worse, not_worse in ((0.01, 1.0), (0.03, 1.0), (0.9, 0.04), (0.5, 0.3))
    ]
    assert [(each, round(p, 6)) for each, p in outcomes_of(tests, [0.05] * 4, "holm")] == [
        ("worse", 0.04), ("can't tell", 0.09), ("not worse", 1.0), ("can't tell", 1.0),
    ]  # fmt: skip


def test_a_drop_within_the_margin_is_a_warning(decided):
    found = decided(answers(0.8, 1), answers(0.6, 2), f"rules: [{{tasks: {TASK}, measures: acc*, margin: 0.5}}]")
    assert (found.decision, found.verdicts[0].outcome) == ("passed", "not worse")
    assert any("less than the margin" in text for text in found.warnings)


@pytest.mark.parametrize(
    ("action", "decision", "effect", "said"),
    [
        ("fail", "undecided", "undecided", "can't tell (1 measure)"),
        ("warn", "passed", "warn", "passed (can't tell of 1 measure)"),
        ("pass", "passed", "ignore", "passed (can't tell of 1 measure)"),
    ],
)
def test_what_it_does_where_it_can_not_tell(decided, action, decision, effect, said):
    found = decided(answers(0.8, 1), answers(0.8, 3), f"rules: [{{on_cannot_tell: {action}}}]")
    assert (found.verdicts[0].outcome, found.verdicts[0].effect, found.decision) == ("can't tell", effect, decision)
    assert markdown(found).startswith(f"## Gate: {said}\n")


def test_what_is_worse_fails_also_beside_what_can_not_be_told(decided):
    both = {TASK: answers(0.8, 1), "medq_deg_l2": answers(0.8, 1)}
    found = decided(both, {TASK: answers(0.4, 2), "medq_deg_l2": answers(0.8, 3)})
    assert [each.outcome for each in found.verdicts] == ["worse", "can't tell"]
    assert found.decision == "failed"


def test_nothing_answered_is_missing_and_fails(decided):
    found = decided(answers(0.8, 1), dict.fromkeys(answers(0.8, 1), "!"))
    assert [(each.outcome, each.test) for each in found.verdicts] == [("missing", None)]
    assert found.decision == "failed"


def test_without_a_question_that_both_have_a_score_for_it_can_not_tell(decided):
    right = with_wrong(0)
    halves = [{name: "!" if row % 2 == side else "A" for row, name in enumerate(right)} for side in (0, 1)]
    found = decided(*halves, "old_problems: ignore")
    assert [(each.outcome, each.test) for each in found.verdicts] == [("can't tell", None)]
    assert "No question has a score in both." in found.verdicts[0].detail
    assert found.decision == "undecided"


def test_a_baseline_without_a_score_is_nothing_to_hold_against(decided):
    unread = dict.fromkeys(answers(0.8, 1), "!")
    found = decided(unread, answers(0.8, 1), "old_problems: ignore")
    assert [(each.outcome, each.effect, each.detail) for each in found.verdicts] == [
        ("not tested", "warn", "The baseline has no score.")
    ]
    assert found.decision == "passed"
    assert gate_decision(found) == "passed (nothing was compared)"
    found = decided(unread, unread, "old_problems: ignore")
    assert not found.verdicts
    assert f"{TASK}: The baseline has no score, so nothing was compared." in found.warnings


def test_the_screen_says_once_what_many_measures_have_in_common(decided):
    lost = {f"{TASK[:-1]}{level}": answers(0.8, 1) for level in range(3)}
    found = decided(lost, {TASK: answers(0.8, 1)}, "old_problems: ignore")
    said = [line for line in gate_lines(found) if "no such result" in line]
    assert len(said) == 1
    text = " ".join(" ".join(gate_lines(found)).split())
    assert "Missing (2): " in text and "no such result: medq_deg_l0, accuracy; medq_deg_l2, accuracy." in text


def test_the_screen_names_its_test_and_the_other_one_and_cuts_no_name_of_40_letters(decided):
    found = decided(answers(0.8, 1), answers(0.8, 3))
    name = f"{'x' * 30}, accuracy"
    lines = list(gate_lines(replace(found, verdicts=(replace(found.verdicts[0], task="x" * 30),))))
    assert len(name) == 40 and sum(name in line for line in lines) == 1
    (test,) = [line for line in lines if "one-sided" in line]
    assert "compare" in test and "two-sided" in test and max(map(len, lines)) <= 100


def test_one_image(decided):
    found = decided(with_wrong(0, 10), with_wrong(10, 10), images=1)
    assert (found.verdicts[0].outcome, found.verdicts[0].test.worse_p) == ("can't tell", 0.5)
    assert "1 image with a score in both" in found.verdicts[0].detail


@pytest.mark.parametrize(("action", "failed"), [("fail", True), ("warn", False)])
def test_a_task_that_the_candidate_lacks(decided, action, failed):
    both = {TASK: answers(0.8, 1), "medq_deg_l2": answers(0.8, 1)}
    found = decided(both, {TASK: answers(0.8, 1)}, f"rules: [{{on_missing: {action}}}]")
    assert [each.outcome for each in found.verdicts] == ["can't tell", "missing"]
    assert (found.decision == "failed") is failed
    found = decided({TASK: answers(0.8, 1)}, both)
    assert any("Not in the baseline" in text for text in found.warnings)


def test_another_version_does_not_compare(decided):
    found = decided(answers(0.8, 1), answers(0.8, 1), new={"versions": {TASK: 2.0}})
    assert (found.verdicts[0].outcome, found.decision) == ("not comparable", "failed")
    assert "Task version 1.3 and 2.0" in found.verdicts[0].detail


def test_a_server_that_answered_as_another_model_does_not_compare(decided):
    told = {"metadata": {"server": {"model": "m", "answers_as": ["m", "other"]}}}
    found = decided(answers(0.8, 1), answers(0.8, 1), new=told)
    assert (found.verdicts[0].outcome, found.decision) == ("not comparable", "failed")
    assert "answered as 'm' and 'other' in turn" in found.verdicts[0].detail
    assert ("fail", "other_model") in {(action, problem.code) for action, problem in found.problems}


def test_unsound_runs_fail_it(decided):
    new = {name: "-" if row % 4 == 0 else letter for row, (name, letter) in enumerate(answers(0.9, 1).items())}
    old = {name: "B" if letter == "-" else letter for name, letter in new.items()}
    lax = "rules: [{margin: 0.3}]\n"
    found = decided(old, new, lax)
    assert found.verdicts[0].outcome == "not worse"
    assert [problem.code for action, problem in found.problems if action == "fail"] == ["low_parse_rate"]
    assert found.decision == "failed"
    assert decided(old, new, f"{lax}problems: {{low_parse_rate: warn}}").decision == "passed"
    assert decided(old, new, f"{lax}thresholds: {{parse_rate: 0.5}}").decision == "passed"
    # Where the baseline has it too it is no news.
    assert decided(new, new, lax).decision == "passed"
    assert decided(new, new, f"{lax}old_problems: fail").decision == "failed"


def test_judgements_that_are_missing_fail_it(tmp_path, runs):
    totals = {f"q{row}": float(20 + row) for row in range(60)}
    lacking = {name: None if row < 10 else total for row, (name, total) in enumerate(totals.items())}
    for name, own in (("base", totals), ("new", lacking)):
        runs.write(tmp_path / name, {"med_cmr_open": runs.judged_rows(own)}, metadata={"judge": runs.JUDGE})
    found = gate_of(tmp_path)
    assert [problem.code for action, problem in found.problems if action == "fail"] == ["low_coverage"]


@pytest.mark.parametrize("words", [(False, False), (True, True)])
@pytest.mark.parametrize("data", ["full", "mini"])
def test_numbers_of_the_judge_that_compares_words_and_of_mini_data_are_said_to_be_no_benchmarks(
    tmp_path, runs, words, data
):
    judge = "lexical" if all(words) else runs.JUDGE["name"]
    for number, side in enumerate(("base", "new")):
        rows = runs.judged_rows({f"q{row}": float(20 + row + number) for row in range(12)}, judge)
        for row in rows:
            row["questions"]["tags"]["data"] = data
        metadata = {"judge": {**runs.JUDGE, "name": judge}, "data": data}
        runs.write(tmp_path / side, {"med_cmr_open": rows}, metadata=metadata)
    found = gate_of(tmp_path)
    assert {each.pairs.by_words for each in found.verdicts if each.test} == {words}
    lines, text = list(gate_lines(found)), markdown(found)
    both = "(baseline: med_cmr_open; candidate: med_cmr_open)"
    for said, is_so in (("Mini data, not the benchmark", data == "mini"), ("compares words and is no", all(words))):
        assert sum(said in each and both in each for each in found.remarks) == is_so
        assert sum(said in line for line in lines) == text.count(said) == is_so
    rows = [line for line in lines if "med_cmr_open, " in line]
    assert {line.count(LEXICAL) for line in rows} == {sum(words)} and max(map(len, lines)) <= 100
    rows = [line for line in text.splitlines() if line.startswith("| ") and "cmr" in line]
    assert {line.count(LEXICAL) for line in rows} == {sum(words)}
    assert sum(MEANINGS[LEXICAL] in line for line in lines) == text.count(MEANINGS[LEXICAL]) == any(words)


APART = [
    ({"url": "http://h:2/v1"}, "http://h:2/v1"),
    ({"url": "http://h:1/team/v1"}, "http://h:1/team/v1"),
    ({"model_that_answers": "m-2"}, "answered by m-2"),
    ({"model_that_answers": ""}, "answering without a model's name"),
]


@pytest.mark.parametrize(("other", "said"), APART)
def test_judges_of_one_name_do_not_compare(tmp_path, runs, other, said):
    """The same name at another port or path, or answered by another model: the gate fails, compare warns."""
    totals = {f"q{row}": float(20 + row) for row in range(60)}
    for name, judge in (("base", {}), ("same", {}), ("new", other)):
        runs.write_judged(tmp_path / name, totals, **judge)
    base, same, new = sides(tmp_path, "base", "same", "new")
    shut, held = (run_gate(base, each, read_rules()) for each in (new, same))
    assert shut.decision == "failed" and {each.outcome for each in shut.verdicts} == {"not comparable"}
    assert held.decision != "failed" and {each.outcome for each in held.verdicts} <= {"not worse", "can't tell"}
    (warning,) = compare(base, new).warnings
    assert (
        "judged by openai:judge at http://h:1/v1, answered by m-1 and openai:judge at " in warning and said in warning
    )
    assert not any("not of the same thing" in text for text in compare(base, same).warnings)


def test_several_models_are_matched_by_name(tmp_path, runs):
    for side, share in (("base", 0.9), ("new", 0.6)):
        for model in ("x", "y"):
            own = answers(share if model == "y" else 0.9, f"{side}{model}")
            runs.write(tmp_path / side / model, {TASK: runs.choice_rows(own, images=IMAGES)}, model=model)
    found = gate_of(tmp_path)
    assert [(each.model, each.outcome) for each in found.verdicts] == [("x", "can't tell"), ("y", "worse")]


@pytest.mark.parametrize("several", ["base", "new"])
def test_several_runs_against_one_are_refused_with_their_names(tmp_path, runs, several):
    """The gate once failed with a reason for each measure of each other run."""
    for side in ("base", "new"):
        for model in ("x", "y") if side == several else ("x",):
            rows = runs.choice_rows(answers(0.9, f"{side}{model}"), images=IMAGES)
            runs.write(tmp_path / side / model, {TASK: rows}, model=model)
    with pytest.raises(UserError, match=f"{several} has two entries on {TASK}: x .*/x/.* and y .*/y/"):
        gate_of(tmp_path)


def test_hostile_names_do_no_harm_in_the_summary(tmp_path, runs):
    for side in ("base", "new"):
        own = {TASK: runs.choice_rows(answers(0.8, 1), images=IMAGES)}
        runs.write(tmp_path / side, own, model="<img src=x>|`\x1b[31m")
    text = markdown(gate_of(tmp_path))
    assert "<img" not in text.replace("\\<", "") and "\x1b" not in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in rows} == {17}


def test_what_is_drawn_is_said_by_the_benchmarks_of_the_entries(decided):
    """No benchmark is named beside the results of another."""
    assert "MedObvious" not in markdown(decided(answers(0.8, 1), answers(0.8, 3)))
    entries = [SimpleNamespace(declaration=registry.get(name)) for name in ("medq_deg", "medobvious", "medobvious")]
    assert drawn_clusters(entries[:1]) == "images"
    assert drawn_clusters(entries) == "images (MedObvious: items)"


def test_only_a_gate_of_a_change_says_that_its_margin_is_wider(decided):
    assert "twice as wide" not in markdown(decided(answers(0.8, 1), answers(0.8, 3)))
