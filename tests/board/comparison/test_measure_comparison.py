"""Two runs on the same questions: numbers by hand, texts shown and withheld, all formats."""

import csv
import io
import json
from dataclasses import replace

import pytest
import typer
from statsmodels.stats.contingency_tables import mcnemar
from typer.testing import CliRunner

from lmms_medtasks.board import packing
from lmms_medtasks.board.collect import collect_entries
from lmms_medtasks.board.comparison import compared_entries, measure_comparison
from lmms_medtasks.board.comparison.comparison_document import comparison_report, comparison_screen, comparison_to_json
from lmms_medtasks.board.comparison.gate import read_rules, run_gate
from lmms_medtasks.board.comparison.measure_comparison import cohens_h
from lmms_medtasks.board.trust import pins
from lmms_medtasks.cli import compare as command
from lmms_medtasks.errors import UserError
from lmms_medtasks.report import terminal
from lmms_medtasks.report.judged_tables import LEXICAL, MEANINGS
from lmms_medtasks.statistics.intervals import estimate_mean
from tests.board.made_up_entries import KINDS, of_every_kind, sides

TASK = "medq_deg_l1"
FIRST = {"q1": "A", "q2": "B", "q3": "B", "q4": "A", "q5": "B", "q6": "!"}
SECOND = {"q1": "A", "q2": "A", "q3": "A", "q4": "B", "q5": "A", "q6": "A"}


@pytest.fixture
def both(tmp_path, runs):
    def write(first=FIRST, second=SECOND, rows=runs.choice_rows, task=TASK, others=({}, {}), **chosen):
        folders = []
        for name, answers, other in (("a", first, others[0]), ("b", second, others[1])):
            runs.write(tmp_path / name, {task: rows(answers)}, **{"model": f"model-{name}", **chosen, **other})
            folders.append(tmp_path / name)
        return folders

    return write


def compared(folders, **chosen):
    return measure_comparison.compare(*(compared_entries.read_compared_runs(folder) for folder in folders), **chosen)


def test_numbers_by_hand(both):
    found = compared(both())
    (comparison,) = found.comparisons
    of = comparison
    # Five questions with both scores: A 2 of 5, B 4 of 5; B wins q2, q3, q5, loses q4, q1 is a tie.
    assert (len(of.pairs), of.pairs.unscored, of.change.first, of.change.second) == (5, 1, 0.4, 0.8)
    assert (of.wins, of.ties, of.losses) == (3, 1, 1)
    assert of.change.interval.estimate == pytest.approx(0.4)
    assert of.change.interval.low < 0.4 < of.change.interval.high
    # McNemar, exact: 3 against 1; with one question an image the permutation test is the same.
    expected = mcnemar([[1, 1], [3, 0]], exact=True).pvalue
    assert expected == 0.625
    assert (of.test, of.p_questions, of.change.p, of.p_holm) == (
        "McNemar",
        expected,
        pytest.approx(0.625),
        of.change.p,
    )
    assert of.cohens_h == pytest.approx(cohens_h(0.4, 0.8))
    assert of.odds == pytest.approx(3.5 / 1.5)
    assert of.rank_biserial is None


def test_compare_and_gate_take_the_interval_that_reports_take(both):
    """The change over the same questions, over images."""
    folders = both()
    (comparison,) = compared(folders).comparisons
    of = comparison
    images = [f"image {number}" for number in range(5)]
    expected = estimate_mean(images, [0, 1, 1, -1, 1])
    assert expected.low < 0.4 < expected.high
    assert list(of.pairs.clusters) == images
    assert (of.change.interval.low, of.change.interval.high) == pytest.approx((expected.low, expected.high))
    decided = run_gate(*(compared_entries.read_compared_runs(folder) for folder in folders), read_rules(None))
    (verdict,) = decided.verdicts
    assert (verdict.interval.low, verdict.interval.high) == pytest.approx((-expected.high, -expected.low))


def test_graded_scores_take_wilcoxon_and_a_rank_correlation(both, runs):
    first, second = {"q1": 20.0, "q2": 60.0, "q3": 40.0}, {"q1": 60.0, "q2": 50.0, "q3": 40.0}
    found = compared(both(first, second, runs.judged_rows, "med_cmr_open"))
    (of,) = found.comparisons
    (section, *_) = comparison_report(found).parts[0].sections
    # Points of 100, which no table multiplies.
    assert [cell.value for cell in section.tables[0].rows[0].cells[4:7]] == pytest.approx([40, 50, 10])
    # Differences +40, -10, 0: ranks 2 and 1, so (2 - 1) / 3.
    assert (of.test, of.rank_biserial) == ("Wilcoxon", pytest.approx(1 / 3))
    assert (of.cohens_h, of.odds) == (None, None)
    assert of.change.interval.estimate == pytest.approx(10)


@pytest.mark.parametrize("words", [(False, False), (True, False), (False, True), (True, True)])
def test_numbers_of_the_judge_that_compares_words_are_marked_and_the_sign_is_said_once(tmp_path, runs, words):
    names = ["lexical" if each else runs.JUDGE["name"] for each in words]
    for side, judge in zip("ab", names, strict=True):
        tasks = {"med_cmr_open": runs.judged_rows({"q1": 20.0, "q2": 60.0 + 10 * "ab".index(side)}, judge)}
        metadata = {"judge": {**runs.JUDGE, "name": judge}}
        runs.write(tmp_path / side, tasks, model=side, metadata=metadata)
    found = compared([tmp_path / "a", tmp_path / "b"])
    assert {each.pairs.by_words for each in found.comparisons} == {words}
    for table in (each for _, each in comparison_report(found).tables()):
        columns = [[column.name for column in table.columns].index(name) for name in "AB"]
        assert {tuple(row.cells[place].mark == LEXICAL for place in columns) for row in table.rows} == {words}
        assert sum(MEANINGS[LEXICAL] in note for note in table.all_notes) == any(words)
    lines = _screen(found)
    rows = [line for line in lines if "med_cmr_open," in line and line[0] in "=≠"]
    assert rows and {line.count(LEXICAL) for line in rows} == {sum(words)} and max(map(len, lines)) <= 100
    assert sum(MEANINGS[LEXICAL] in line for line in lines) == any(words)
    assert [each["by_words"] for each in comparison_to_json(found)["comparisons"]] == [
        dict(zip("ab", words, strict=True))
    ]


def test_what_rules_settle_is_compared_with_nothing_where_no_judge_judged(both, runs):
    """Neither by compare nor by the gate."""
    rows = lambda totals: runs.judged_rows(totals, settled={"q1"})  # noqa: E731
    folders = both({"q1": 0.0, "q2": 60.0}, {"q1": 0.0, "q2": None}, rows, "med_cmr_open",
                   others=({}, {"reported": {"total,trials": None}}))  # fmt: skip
    (comparison,) = compared(folders).comparisons
    assert (len(comparison.pairs), comparison.change.second, comparison.change.p) == (0, None, None)
    found = run_gate(*map(compared_entries.read_compared_runs, folders), read_rules(None))
    assert [(verdict.candidate, verdict.test) for verdict in found.verdicts] == [(None, None)]


def test_holm_corrects_over_all_tasks(tmp_path, runs):
    right, wrong = {f"q{n}": "A" for n in range(6)}, {f"q{n}": "B" for n in range(6)}
    half = {**right, "q0": "B"}
    for name, answers in (("a", wrong), ("b", right)):
        tasks = {"medq_deg_l0": answers, "medq_deg_l1": answers, "medq_deg_l2": half if name == "a" else right}
        runs.write(tmp_path / name, {task: runs.choice_rows(each) for task, each in tasks.items()}, model=name)
    found = compared([tmp_path / "a", tmp_path / "b"])
    # p: 2/64, 2/64 and 2 * 1/2; Holm: 3 * 2/64, 3 * 2/64 (never less than the one before), 1.
    assert [each.p_holm for each in found.comparisons] == pytest.approx([6 / 64, 6 / 64, 1.0])


def test_the_most_telling_questions_with_both_answers(both):
    found = compared(both(), telling=3)
    assert len(found.telling) == 3
    assert {each["id"] for each in found.telling} < {"q2", "q3", "q4", "q5"}
    shown = {each["id"]: each for each in compared(both()).telling}
    assert set(shown) == {"q2", "q3", "q4", "q5"}
    replies = {"a_replies": ["reply B to q2"], "b_replies": ["reply A to q2"]}
    texts = {"asked": "prompt of q2", "expected": "A", **replies}
    assert {name: shown["q2"][name] for name in texts} == texts


def test_sentences_that_all_prompts_share_stand_below_the_table_once(tmp_path, runs):
    """An instruction that is longer than the room for a question would hide all questions."""
    same = "You are a medical assistant. " + "Look at the picture. " * 20
    for name, answers in (("a", FIRST), ("b", SECOND)):
        rows = runs.choice_rows(answers)
        for row in rows:
            row["input"] = f"{same}Which sign is in {row['input'].split()[-1]}?"
        runs.write(tmp_path / name, {TASK: rows}, model=name)
    found = comparison_report(compared([tmp_path / "a", tmp_path / "b"]))
    [table] = [table for part in found.parts for section in part.sections if section.key == "telling"
               for table in section.tables]  # fmt: skip
    asked = [column.name for column in table.columns].index("asked")
    assert {row.cells[asked].value for row in table.rows} == {
        f"Which sign is in {q}?" for q in ("q2", "q3", "q4", "q5")
    }
    assert [note for note in table.notes if note.startswith(f"Each prompt begins with: {same[:100]}")]


@pytest.mark.parametrize("side", [0, 1])
def test_credentialed_data_is_named_by_ids_alone(both, side):
    others = [{}, {}]
    others[side] = {"metadata": {"agreement": "a signed one"}}
    found = compared(both(others=others))
    assert {each["id"] for each in found.telling} == {"q2", "q3", "q4", "q5"}
    text = json.dumps(comparison_to_json(found)) + repr(comparison_report(found))
    assert "reply" not in text and "prompt of" not in text


def test_text_of_models_is_harmless_on_a_terminal(tmp_path, runs):
    for name, letter in (("a", "A"), ("b", "B")):
        rows = runs.choice_rows({"q1": letter})
        rows[0]["filtered_resps"] = ["\x1b]0;title\x07\x1b[2J=cmd()\u202ereply"]
        runs.write(tmp_path / name, {TASK: rows}, model=f"\x1b[31m{name}")
    result = _invoke([str(tmp_path / "a"), str(tmp_path / "b"), "--format", "md"])
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.output and "\x07" not in result.output and "\u202e" not in result.output
    assert "reply" in result.output


def test_what_does_not_compare_is_said(both):
    found = compared(both(others=[{}, {"metadata": {"data_digest": "0ther"}, "versions": {TASK: 2.0}}]))
    (warning,) = found.warnings
    assert "task version 1.3 and 2.0" in warning and "other data" in warning
    found = compared(both(others=[{}, {"metadata": {"digests": {"package": "0ther", "prompt": "9409"}}}]))
    assert found.notes == (f"{TASK}: Also differs: other code of lmms-medtasks 1.0.",)


def _screen(found):
    return terminal.screen_text(comparison_screen(found)).splitlines()


def test_runs_of_other_things_are_no_wins_and_said_to_be_others_first(both):
    first = {f"q{number}": "B" for number in range(40)}
    second = dict.fromkeys(first, "A")
    lines = _screen(compared(both(first, second, others=[{}, {"metadata": {"data_digest": "0ther"}}])))
    assert lines[0].startswith("A and B are not of the same thing: other data (both full, of other questions, answers")
    assert not any("better" in line for line in lines)
    (row,) = [line for line in lines if TASK in line]
    assert row.startswith("≠") and row.split()[-2:] == ["–", "40"]
    assert sum("not of the same thing:" in line and "data" in line for line in lines) == 1


def test_only_rows_of_the_same_thing_are_counted(tmp_path, runs):
    right, wrong = ({f"q{n}": letter for n in range(12)} for letter in "AB")
    for name, answers, versions in (("a", wrong, {}), ("b", right, {TASK: 2.0})):
        tasks = {task: runs.choice_rows(answers) for task in (TASK, "medq_deg_l2")}
        runs.write(tmp_path / name, tasks, model=name, versions=versions)
    found = compared([tmp_path / "a", tmp_path / "b"])
    lines = _screen(found)
    assert lines[0] == f"A and B are not of the same thing in 1 of 2 tasks: task version 1.3 and 2.0 ({TASK})."
    assert any(line.startswith("B is better in 1 of 1 numbers") for line in lines)
    assert [each["same_thing"] for each in comparison_to_json(found)["comparisons"]] == [False, True]
    rows = comparison_report(found).parts[0].sections[0].tables[0].rows
    assert [row.cells[0].mark for row in rows] == ["≠", ""]


def test_two_runs_of_one_model_are_told_apart_by_their_folders(both, tmp_path):
    lines = _screen(compared(both(others=[{"model": "m"}, {"model": "m"}])))
    for name in "ab":
        assert f"({tmp_path / name})" in "".join(line.strip() for line in lines)
    folder = both(others=[{"model": "m"}, {"model": "m"}])[0]
    assert _screen(compared([folder, folder]))[0] == "A and B are the same run, from the same files."


def test_a_limit_is_said_first_and_not_once_a_measure(both, tmp_path, runs):
    folders = both()
    few = {name: SECOND[name] for name in ("q1", "q2")}
    runs.write(tmp_path / "few", {TASK: runs.choice_rows(few)}, original=6, limit=2)
    lines = _screen(compared([folders[0], tmp_path / "few"]))
    assert lines[0] == "B asked 2 questions a task (--limit 2)."
    assert sum("--limit 2)" in line for line in lines) == 1
    assert not any("of A alone" in line for line in lines)


def test_a_broken_log_is_the_first_remark(tmp_path, runs):
    for name in "ab":
        tasks = {task: runs.choice_rows(FIRST) for task in (TASK, "medq_deg_l2")}
        runs.write(tmp_path / name, tasks, model=name, metadata={"data": "mini"})
    (log,) = (tmp_path / "b").glob("*_l2.jsonl")
    log.write_text(log.read_text()[:-40])
    found = comparison_screen(compared([tmp_path / "a", tmp_path / "b"]))
    (remarks,) = [section.items for section in found.parts[0].sections if section.title == "Remarks"]
    assert log.name[-10:] in remarks[0]
    assert "Mini data" not in remarks[0] and any("Mini data" in each for each in remarks[1:])


def test_questions_of_one_side_alone_are_counted(both):
    found = compared(both(second={name: letter for name, letter in SECOND.items() if name != "q2"}))
    pairs = found.comparisons[0].pairs
    assert (len(pairs), pairs.only_first, pairs.only_second) == (4, 1, 0)


def test_what_is_not_as_a_board_pins_it_is_said_by_compare_and_by_the_gate(both, tmp_path):
    folders = both(second={name: letter for name, letter in SECOND.items() if name != "q2"})
    path = tmp_path / "pins.yml"
    pins.write_pins(collect_entries(folders[:1]).entries, path)
    said = "Its 5 questions are not the 6 pinned ones"
    for options, is_said in ((["--pins", str(path)], True), ([], False)):
        assert (said in " ".join(_invoke([*map(str, folders), *options]).output.split())) is is_said
    found = run_gate(*compared_entries.read_both(*folders, pins=path), read_rules())
    assert [action for action, problem in found.problems if problem.code == "other_questions"] == ["warn"]


def test_a_side_with_two_models_is_refused(both, runs, tmp_path):
    folders = both()
    with pytest.raises(UserError, match="two entries on medq_deg_l1: model-a .* and model-b"):
        compared([tmp_path, folders[0]])


def test_no_common_task_and_nothing_to_read(both, runs, tmp_path):
    runs.write(tmp_path / "c", {"medq_deg_l2": runs.choice_rows(FIRST)})
    with pytest.raises(UserError, match="No task in common"):
        compared([both()[0], tmp_path / "c"])


def test_a_task_that_a_side_has_no_result_of_is_told_with_those_it_has(both, tmp_path):
    with pytest.raises(UserError) as told:
        compared_entries.read_compared_runs(both()[0], tasks=[TASK, "medq_deg_l0"])
    for word in ("medq_deg_l0", str(tmp_path / "a"), f"Did you mean '{TASK}'?", f"Tasks there: {TASK}."):
        assert word in str(told.value)


def test_a_folder_without_a_run_is_told_what_is_expected_there(both, tmp_path):
    folder = both()[0]
    (folder / "20260101_000000_results.json").unlink()  # its logs alone are no run
    with pytest.raises(UserError, match=r"No \*_results\.json .* Give the --output_path of a run"):
        compared_entries.read_compared_runs(folder)
    with pytest.raises(UserError, match=f"Did you mean '{tmp_path / 'b'}'"):
        compared_entries.read_compared_runs(tmp_path / "bb")


def test_reasons_beyond_three_are_counted(tmp_path, runs):
    tasks = [TASK, "medq_deg_l0", "medq_deg_l2", "medq_deg_calib", "medobvious"]
    runs.write(tmp_path / "a", {task: runs.choice_rows(FIRST) for task in tasks}, samples=False)
    with pytest.raises(UserError) as told:
        compared_entries.read_compared_runs(tmp_path / "a")
    assert str(told.value).count("No sample log") == 3 and str(told.value).endswith(" And 2 more.")


def test_of_a_pack_only_the_task_that_is_named_is_compared(runs, tmp_path):
    rows = runs.choice_rows(FIRST)
    runs.write(tmp_path / "a", {TASK: rows, "medq_deg_l2": rows})
    pack = tmp_path / "pack.json"
    packing.write_submission(packing.make_submission(collect_entries([tmp_path / "a"]).entries, "A <a@b.org>"), pack)
    assert compared_entries.entry_tasks(compared_entries.read_compared_runs(pack, tasks=[TASK]).board.entries) == [TASK]
    with pytest.raises(UserError, match=f"Tasks there: {TASK}, medq_deg_l2"):
        compared_entries.read_compared_runs(pack, tasks=["nope"])


def _invoke(arguments):
    app = typer.Typer()
    app.command()(command.compare)
    return CliRunner().invoke(app, arguments)


@pytest.mark.parametrize("form", ["terminal", "md", "csv", "json"])
def test_every_format_has_the_same_numbers(both, form):
    result = _invoke([*map(str, both()), "--format", form])
    assert result.exit_code == 0, result.output
    if form == "json":
        (found,) = json.loads(result.stdout)["comparisons"]
        assert (found["difference"], found["p"]) == (pytest.approx(0.4), pytest.approx(0.625))
    elif form == "csv":
        lines = list(csv.reader(io.StringIO(result.stdout)))
        row = dict(zip(lines[1], lines[2], strict=True))
        assert (row["difference (points)"], row["p"], row["wins"]) == ("40.0", "0.625", "3")
    else:
        assert "+40.0" in result.stdout.replace("\\", "") and "0.6250" in result.stdout
        assert ("rank-biserial" in result.stdout) is (form == "md") is ("--format md" not in result.stdout)


def test_the_suffix_of_the_output_says_the_format(both, tmp_path):
    folders = list(map(str, both()))
    for name in ("x.md", "x.csv", "x.json"):
        assert _invoke([*folders, "-o", str(tmp_path / "new" / name)]).exit_code == 0
    assert (tmp_path / "new" / "x.md").read_text().startswith("# Comparison")
    result = _invoke([*folders, "-o", str(tmp_path / "x.pdf")])
    assert isinstance(result.exception, UserError)


def test_where_no_question_differs_p_is_1_and_said(both):
    """All answers equal: there is a p value, and the table shows it."""
    same = {f"q{row}": "AB"[row % 2] for row in range(8)}
    found = compared(both(same, same))
    (comparison,) = found.comparisons
    assert (comparison.change.p, comparison.p_holm, comparison.p_questions) == (1.0, 1.0, None)
    (table,) = comparison_report(found).parts[0].sections[0].tables
    columns = [column.name for column in table.columns]
    assert [table.rows[0].cells[columns.index(name)].value for name in ("p", "p (Holm)")] == [1.0, 1.0]


def test_the_screen_has_the_decision_first_in_a_hundred_columns(both):
    first = {f"q{number}": "B" for number in range(40)}
    found = compared(both(first=first, second={**first, **{f"q{number}": "A" for number in range(30)}}))
    lines = _screen(found)
    assert max(map(len, lines)) <= 100
    assert lines[0].startswith("B is better in 1 of 1 numbers, worse in 0")
    # 0 of 40 right against 30 of 40.
    assert any(line.startswith(f"▲  {TASK}, accuracy") and " 0.0 " in line and " 75.0 " in line for line in lines)


def test_an_interval_without_0_beside_a_p_above_the_level_is_marked_and_explained(both):
    """All five images gain: the interval leaves 0 out, the exact test of five images can't be below 0.06."""
    first = {f"q{number}": "B" for number in range(5)}
    found = compared(both(first=first, second=dict.fromkeys(first, "A")))
    (comparison,) = found.comparisons
    assert comparison.change.interval.low > 0 and comparison.p_holm > 0.05
    lines = _screen(found)
    (row,) = [line for line in lines if line.startswith(f"=  {TASK}")]
    assert row.count("†") == 1 and max(map(len, lines)) <= 100
    assert "Where the two seem to disagree both are right, and p (Holm) decides." in " ".join(" ".join(lines).split())
    assert any("two-sided" in line and "gate" in line for line in lines)


def test_what_is_no_mean_over_questions_is_compared_image_by_image():
    """Six images, an easy and a hard question each: A has 5 and 2 right, B has all."""
    found = measure_comparison.compare(
        *sides(of_every_kind("a", "111110", "110000"), of_every_kind("b", *["111111"] * 2))
    )
    by_name = {each.measure: each for each in found.comparisons}
    drop, balanced, robust = (by_name[name] for name in ("drop", "balanced", "robust"))
    # Parts of the drop, easy less hard: A 0 0 1 1 1 0, B none. All signs alike in 2 of 2 ** 3 cases.
    of = drop
    assert (of.change.first, of.change.second, of.change.interval.estimate) == pytest.approx((0.5, 0.0, -0.5))
    assert (of.wins, of.ties, of.losses, of.change.p, of.test) == (3, 3, 0, 0.25, "signs flipped")
    assert of.pairs.ids.tolist() == [f"image {number:02}" for number in range(6)]
    assert of.pairs.first.tolist() == pytest.approx([0, 0, 1, 1, 1, 0])
    # Of the macro mean: 0 0 1/2 1/2 1/2 1, so 2 of 2 ** 4.
    assert (balanced.change.first, balanced.change.p) == pytest.approx((7 / 12, 0.125))
    assert (robust.change.first, robust.change.second) == pytest.approx((0.4, 1.0))
    assert robust.test == "signs flipped, asymptotic"
    written = {each["measure"]: each for each in comparison_to_json(found)["comparisons"]}
    assert {name: each["of"] for name, each in written.items()} == {
        "accuracy": "questions", **dict.fromkeys((each.name for each in KINDS), "images")
    }  # fmt: skip
    assert [written["drop"][key] for key in ("questions", "images", "wins", "p_questions")] == [None, 6, 3, None]
    assert [written["robust"][key] for key in ("images", "wins", "ties", "losses")] == [6, None, None, None]
    # The telling questions are questions of the mean.
    assert {each["measure"] for each in found.telling} == {"accuracy"} and len(found.telling) == 5
    tables = comparison_report(found).parts[0].sections[0].tables
    assert [table.title.removeprefix("Differences in ") for table in tables] == [
        "percentage points", "points, of changes", "numbers"
    ]  # fmt: skip
    assert {table.columns[2].text(row.cells[2]) for table in tables for row in table.rows} == {"12", "–"}
    assert "asymptotic" in " ".join(tables[-1].all_notes)


def test_a_main_metric_that_one_side_has_no_number_of_does_not_disappear():
    one, other = of_every_kind("a", "111110", "110000"), of_every_kind("b", *["111111"] * 2)
    without = replace(other, metrics=tuple(name for name in other.metrics if name != "balanced"))
    for pair, name in (((one, without), "B"), ((without, one), "A")):
        found = measure_comparison.compare(*sides(*pair))
        assert "balanced" not in {each.measure for each in found.comparisons}
        assert found.notes == (f"made_up_task: {name} has no number of balanced: not compared.",)


def test_why_there_is_no_test_is_told():
    """B has no score of a hard question; four images have no jackknife; questions of one alone are counted."""
    one, other = of_every_kind("a", "11110", "10100"), of_every_kind("b", "11100", "-----")
    found = measure_comparison.compare(*sides(one, other))
    by_name = {each.measure: each for each in found.comparisons}
    assert by_name["drop"].pairs.lacking == "There is no value in both." and by_name["drop"].change.p is None
    assert (by_name["drop"].pairs.unscored, by_name["balanced"].pairs.unscored) == (5, 5)
    assert "There is no value in both: made_up_task, drop; and " in " ".join(_screen(found))
    found = measure_comparison.compare(*sides(of_every_kind("a", "1111", "1010"), of_every_kind("b", "1110", "1000")))
    (robust,) = [each for each in found.comparisons if each.measure == "robust"]
    assert (robust.change.first, robust.change.second) == pytest.approx((0.5, 1 / 3))
    assert (robust.change.p, robust.pairs.lacking) == (None, "No test: fewer than 5 images.")
    screen = " ".join(" ".join(_screen(found)).split())
    assert "No test: fewer than 5 images: made_up_task, robust" in screen
    larger = measure_comparison.compare(
        *sides(of_every_kind("a", "1" * 8, "10" * 4), of_every_kind("b", "1" * 6, "10" * 3))
    )
    assert {each.pairs.only_first for each in larger.comparisons} == {4}


def test_a_degraded_task_is_not_compared_and_the_message_says_where_its_loss_stands(both):
    with pytest.raises(UserError, match=r"can't be compared with another run.*lmms-medtasks report RUN"):
        compared_entries.read_compared_runs(both()[0], tasks=[f"{TASK}@gaussian_noise.2"])


def test_degraded_tasks_of_both_are_said_to_be_left_out(both):
    sides = both()
    for side in sides:
        for file in side.rglob("*_results.json"):
            content = json.loads(file.read_text("utf-8"))
            content["configs"][f"{TASK}@gaussian_noise.2"] = content["configs"][TASK]
            file.write_text(json.dumps(content), "utf-8")
    assert f"Not compared: {TASK}@gaussian_noise.2. A degraded" in "".join(compared(sides).notes)
