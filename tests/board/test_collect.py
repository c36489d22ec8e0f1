"""From folders to a board: what is read of a run, and everything that can be wrong with it."""

import copy
import json
from contextlib import nullcontext

import numpy as np
import pytest

from lmms_medtasks.board import rules as board_rules
from lmms_medtasks.board.collect import collect_entries
from lmms_medtasks.board.site import ranking
from lmms_medtasks.board.trust import limits, safe_files
from lmms_medtasks.build_cache import BuildCache
from lmms_medtasks.errors import UserError
from lmms_medtasks.suites.judged_measures import bound_of

TASK = "medq_deg_l1"
ANSWERS = {"q2": "AAB", "q1": "AAA", "q3": "B-!", "q4": "!!!"}
GOOD = {"q1": "AAA", "q2": "AAB", "q3": "BBA", "q4": "BBB"}


def codes(board):
    return [(problem.code, problem.level) for problem in board.problems]


def test_an_entry_has_scores_by_question_whatever_the_order_of_the_log(tmp_path, runs):
    rows = runs.choice_rows(ANSWERS)
    one = runs.write(tmp_path / "a", {TASK: rows})
    # The same questions in another order, as several processes write them.
    runs.write(tmp_path / "b", {TASK: rows[::-1]}, model="model-b")
    board = collect_entries([one, tmp_path / "b"])
    first, second = board.entries
    assert first.questions is second.questions
    assert first.questions.ids.tolist() == ["q1", "q2", "q3", "q4"]
    # q2: 2 of 3; q3: 0 of the 2 that came; q4: no reply, so no score.
    np.testing.assert_allclose(first.scores("accuracy"), [1, 2 / 3, 0, np.nan])
    found = first.interval("accuracy")
    assert found.estimate == pytest.approx((1 + 2 / 3) / 3)
    assert (found.n, first.counts.rows) == (3, 4)
    # 12 requests, 4 failed, 8 replies of which one could not be read.
    assert (first.counts.requests, first.counts.failed, first.counts.replies, first.counts.parsed) == (12, 4, 8, 7)
    assert first.questions.tag("severity").to_pylist() == [1, 1, 1, 1]
    assert first.samples.column("trials")[0] == ["A", "A", "A"]
    assert (first.model.name, first.suite, first.version, first.data) == ("model-a", "medq_deg", "1.3", "full")


def test_questions_are_clustered_as_their_records_say(tmp_path, runs):
    rows = runs.choice_rows(GOOD)
    for row, item in zip(rows, "xxyx", strict=True):
        row["questions"]["cluster"] = item
    (entry,) = collect_entries([runs.write(tmp_path, {"medobvious": rows})]).entries
    assert entry.samples.column("cluster").tolist() == ["x", "x", "y", "x"]
    assert entry.interval("accuracy").clusters == 2


def test_no_text_is_kept(tmp_path, runs):
    judged = runs.judged_rows({"q1": 100.0, "q2": 20.0})
    chosen = runs.choice_rows({"q1": "A", "q2": "A"}, report="a finding " * 20)
    chosen[0]["questions"]["expected"] = chosen[0]["questions"]["trials"][0] = "a long text that is no letter"
    runs.write(tmp_path / "a", {"med_cmr_open": judged})
    runs.write(tmp_path / "b", {"chest_side": chosen}, metadata={"template": "multiple_choice"})
    open_entry, entry = sorted(collect_entries([tmp_path]).entries, key=lambda entry: entry.task, reverse=True)
    kept = str([*open_entry.samples.arrow("trials"), entry.questions.table, entry.answers])
    assert not any(text in kept for text in ("long text", "a finding", "secret", "reference"))
    assert open_entry.interval("total").estimate == 60
    # The digest of an answer is as good as the answer to count again.
    assert entry.scores("accuracy").tolist() == [1, 1]
    assert entry.samples.column("trials")[0] == [entry.samples.column("expected")[0]]


def test_a_missing_judgement_is_no_score_and_has_bounds(tmp_path, runs):
    path = runs.write(
        tmp_path, {"med_cmr_open": runs.judged_rows({"q1": 100.0, "q2": None})}, metadata={"judge": runs.JUDGE}
    )
    board = collect_entries([path])
    (entry,) = board.entries
    assert entry.interval("total").estimate == 100
    bounds = [bound_of(entry.samples, "total", which) for which in ("low", "high")]
    assert bounds == [50, 100]  # (100 + 0) / 2 and (100 + 100) / 2
    assert entry.counts.coverage == 0.5
    assert ("low_coverage", "unranked") in codes(board)
    assert not entry.ranked


def test_a_log_that_nobody_judged_is_still_an_entry(tmp_path, runs):
    rows = runs.judged_rows({"q1": None, "q2": None}, judge="none")
    board = collect_entries([runs.write(tmp_path, {"med_cmr_open": rows}, metadata={"judge": {"name": "none"}})])
    assert board.entries[0].interval("total").estimate is None
    found = {code for code, _ in codes(board)}
    assert "no_judge" in found and "low_coverage" not in found  # nobody was asked for what is missing


def test_what_rules_settle_is_no_mean_where_no_judge_judged(tmp_path, runs):
    """Not even where the board's rules rank such an entry."""
    totals = {"q1": 0.0, "q2": None, "q3": None}
    none = {"metadata": {"judge": {"name": "none"}}, "reported": {"total,trials": None}}
    for name, settled in (("none", {"q1"}), ("judged", ())):
        rows = runs.judged_rows(totals, judge="none", settled=settled)
        runs.write(tmp_path / name, {"med_cmr_open": rows}, model=name, **none)
    levels = {"levels": {"no_judge": "flag"}}
    board = collect_entries([tmp_path], rules=board_rules.with_own(levels, "here"))
    found = {entry.model.name: entry for entry in board.entries}
    nobody = found["none"].interval("total")
    assert (nobody.estimate, nobody.n) == (None, 0)
    bounds = [bound_of(found["none"].samples, "total", which) for which in ("low", "high")]
    assert bounds == [0, pytest.approx(200 / 3)]
    assert (found["none"].counts.judged, found["none"].counts.wanted) == (1, 3)
    assert found["judged"].interval("total").estimate == 0
    assert [standing.mean.estimate for standing in ranking.rank_models(
        [found["none"]], "total", resamples=20).standings] == [None]  # fmt: skip
    assert found["none"].ranked


def bad_runs(tmp_path, runs):
    """A good run and each kind of bad one; what is expected of the bad ones, by folder."""
    rows = runs.choice_rows(GOOD)
    runs.write(tmp_path / "good", {TASK: rows})
    cut = runs.write(tmp_path / "cut", {TASK: rows}, model="cut")
    log = cut.with_name(f"20260101_000000_samples_{TASK}.jsonl")
    log.write_bytes(log.read_bytes()[:-40])
    runs.write(tmp_path / "twice", {TASK: [*rows, rows[0]]}, model="twice")
    runs.write(tmp_path / "empty", {TASK: []}, model="empty")
    runs.write(tmp_path / "unknown", {"nobodys_task": rows}, model="unknown")
    runs.write(tmp_path / "without", {TASK: rows}, model="without", samples=False)
    runs.write(tmp_path / "lying", {TASK: rows}, model="lying", reported={"accuracy,trials": 0.99})
    edited = copy.deepcopy(rows[:3])
    for row in edited:
        row["questions"]["measures"]["accuracy"]["score"] = row["accuracy"]["score"] = 1.0
    runs.write(tmp_path / "edited", {TASK: edited}, model="edited")
    runs.write(tmp_path / "stopped", {TASK: rows}, model="stopped")
    path = tmp_path / "stopped" / "20260101_000000_results.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "results": {}}))
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "x_results.json").write_text('{"results": ')
    runs.write(tmp_path / "again", {TASK: rows})
    return {
        "cut": ("broken_log", "line 4: broken or cut off"),
        "twice": ("broken_log", "line 5: question 'q1' is there a second time"),
        "empty": ("broken_log", "holds no sample"),
        "unknown": ("unknown_task", "nobodys_task is none of the tasks"),
        "without": ("no_samples", "--log_samples"),
        "lying": ("not_adding_up", "accuracy is 0.99 in the result file; its samples give 0.5."),
        "edited": ("not_adding_up", "accuracy of question 'q2' is 1, its trials give 0.666666666666667"),
        "stopped": ("no_result", "stopped before"),
        "broken": ("unreadable", "Can't read"),
    }


def test_each_bad_run_is_named_with_its_reason_and_the_rest_is_built(tmp_path, runs):
    expected = bad_runs(tmp_path, runs)
    board = collect_entries([tmp_path])
    assert [(entry.model.name, entry.ranked) for entry in board.entries] == [("model-a", True)]
    refused = {problem.source.removeprefix(f"{tmp_path}/").partition("/")[0]: problem for problem in board.refused}
    assert [each.code for each in board.problems if each not in board.refused] == ["duplicate"]
    assert set(refused) == set(expected)
    for name, (code, said) in expected.items():
        assert refused[name].code == code
        assert said in refused[name].reason


def test_logs_are_read_in_several_processes_as_in_one(tmp_path, runs, monkeypatch):
    from lmms_medtasks.board import collect as module

    for name in "abc":
        runs.write(tmp_path / name, {TASK: runs.choice_rows(GOOD)}, model=f"model-{name}")
    alone = collect_entries([tmp_path])
    monkeypatch.setattr(module, "_SMALL", 0)
    several = collect_entries([tmp_path], processes=2)
    assert [entry.reported for entry in several.entries] == [entry.reported for entry in alone.entries]
    assert several.entries[0].questions.digest == alone.entries[0].questions.digest
    assert several.entries[0].questions is several.entries[1].questions


def test_what_is_kept_starts_no_processes_and_gives_the_same(tmp_path, runs, monkeypatch):
    for model in ("a", "b"):
        runs.write(tmp_path / model, {TASK: runs.choice_rows({f"q{number}": "A" for number in range(9)})}, model=model)
    size = sum(path.stat().st_size for path in tmp_path.rglob("*.jsonl"))
    monkeypatch.setattr("lmms_medtasks.board.collect._SMALL", size - 1)
    counts = []
    monkeypatch.setattr("lmms_medtasks.board.collect._make_executor", lambda count: nullcontext(counts.append(count)))
    cache = BuildCache.at(tmp_path / "cache")
    first, again = (collect_entries([tmp_path / "a", tmp_path / "b"], processes=2, cache=cache) for _ in range(2))
    assert counts == [2, 1]
    assert [entry.answers for entry in first.entries] == [entry.answers for entry in again.entries]
    # Of 64 bytes that are kept as much is made as of one that is not.
    monkeypatch.setattr("lmms_medtasks.board.collect._SMALL", size // 64 - 2)
    collect_entries([tmp_path / "a", tmp_path / "b"], processes=2, cache=cache)
    assert counts[2:] == [2]


def test_a_log_is_gone_through_for_its_limits_until_what_it_says_is_kept(tmp_path, runs, monkeypatch):
    runs.write(tmp_path / "a", {TASK: runs.choice_rows(GOOD)})
    checked, check = [], safe_files.check_lines
    monkeypatch.setattr(safe_files, "check_lines", lambda path: checked.append(path) or check(path))
    cache = BuildCache.at(tmp_path / "cache")
    # Nothing is kept of a log that is beyond them: it is refused each time.
    small = {**limits.load_limits(), "line_bytes": 10}
    with monkeypatch.context() as context:
        context.setattr(safe_files, "load_limits", lambda: small)
        for _ in range(2):
            assert "more than 10 bytes" in collect_entries([tmp_path / "a"], cache=cache).problems[0].reason
    assert len(checked) == 2
    for _ in range(2):
        assert len(collect_entries([tmp_path / "a"], cache=cache).entries) == 1
    assert len(checked) == 3
    # Another log.
    with checked[0].open("a") as file:
        file.write("\n")
    collect_entries([tmp_path / "a"], cache=cache)
    assert len(checked) == 4


def test_models_are_told_apart_by_their_arguments_which_are_not_kept(tmp_path, runs):
    runs.write(tmp_path / "a", {TASK: runs.choice_rows(GOOD)}, arguments=",peft=/home/one,api_key=sk-secret")
    runs.write(tmp_path / "b", {TASK: runs.choice_rows(GOOD)}, arguments=",peft=/home/two,api_key=sk-other")
    board = collect_entries([tmp_path])
    assert len(board.models) == 2  # who pays is no other model
    assert "sk-" not in repr(board) and "home" not in repr(board.models)


def test_names_of_others_are_made_printable(tmp_path, runs):
    board = collect_entries([runs.write(tmp_path, {TASK: runs.choice_rows({"\x1b[31mq": "A"})}, model="evil\x1b[2J")])
    assert board.entries[0].model.name == "evil\ufffd[2J"
    assert board.entries[0].questions.ids.tolist() == ["\ufffd[31mq"]


def test_a_path_that_is_not_there(tmp_path):
    with pytest.raises(UserError, match="is not there"):
        collect_entries([tmp_path / "nowhere"])


def test_the_scale_is_the_benchmarks(tmp_path, runs):
    tasks = {TASK: runs.choice_rows(GOOD), "med_cmr_open": runs.judged_rows({"q1": 60.0})}
    entries = {entry.task: entry for entry in collect_entries([runs.write(tmp_path, tasks)]).entries}
    scale = entries["med_cmr_open"].scale("total")
    assert (scale.low, scale.high, scale.unit, scale.factor) == (0, 100, "points", 1)
    assert entries[TASK].scale("accuracy").factor == 100
    # The direction is the metric's.
    assert not entries[TASK].scale("identical_trials").higher_is_better


def test_parts_of_a_measure_are_not_compared_themselves(tmp_path, runs):
    rows = [{**row, "accuracy_sod": row["accuracy"]} for row in runs.choice_rows(GOOD)]
    (entry,) = collect_entries([runs.write(tmp_path, {"med_cmr_mcq": rows})]).entries
    assert entry.main_metrics == ["accuracy"]
    assert entry.metrics == ("accuracy", "accuracy_sod")


def test_a_task_whose_benchmark_is_not_known_here_is_refused_with_the_way_out(tmp_path, runs):
    runs.write(tmp_path, {"own_task": runs.choice_rows(GOOD)}, metadata={"benchmark": "own"})
    board = collect_entries([tmp_path])
    assert (codes(board), board.entries) == ([("unknown_task", "refused")], ())
    assert "--include_path" in board.problems[0].reason


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ({"version": 1}, "line 2: the record is of version 1"),
        ({"measures": {"acuracy": {"score": 1.0}}}, "Did you mean 'accuracy'"),
        ({"measures": {"accuracy": {"score": 1.5}}}, "line 2: accuracy is 1.5, expected a number from 0 to 1"),
        ({"trials": []}, "line 2: trials is []"),
    ],
)
def test_a_record_that_is_none_is_told_with_its_line(tmp_path, runs, edit, said):
    rows = runs.choice_rows(GOOD)
    rows[1]["questions"] |= edit
    (problem,) = collect_entries([runs.write(tmp_path, {TASK: rows})]).problems
    assert problem.code == "broken_log" and said in problem.reason


def test_a_number_that_is_no_main_one_is_checked_too(tmp_path, runs):
    path = runs.write(tmp_path, {TASK: runs.choice_rows(GOOD)}, reported={"parse_rate,trials": 0.5})
    (problem,) = collect_entries([path]).refused
    assert problem.reason == "parse_rate is 0.5 in the result file; its samples give 1."


def test_what_a_benchmark_calls_a_reply_that_could_be_read_is_its_own(tmp_path, runs):
    """Of Med-CMR's open answers those with both labelled parts; a pack is counted by the same rule."""
    rows = runs.judged_rows({"q1": 100.0, "q2": 60.0})
    rows[1]["questions"]["tags"]["parts"] = "no_reasoning"
    (entry,) = collect_entries([runs.write(tmp_path, {"med_cmr_open": rows}, metadata={"judge": runs.JUDGE})]).entries
    assert (entry.counts.parsed, entry.counts.replies) == (1, 2)
    assert "parts" in entry.answers.column_names and "parts" not in entry.questions.tags


def test_tasks_on_degraded_pictures_are_left_out(tmp_path, runs):
    """They read the data of a benchmark and are none of its tasks: neither an entry nor a reason to fail."""
    rows, name = runs.choice_rows(GOOD), f"{TASK}@gaussian_noise.2"
    done = {"degradation": {"of": TASK, "name": "gaussian_noise", "level": "2"}}
    path = runs.write(tmp_path / "a", {TASK: rows})
    content = json.loads(path.read_text("utf-8"))
    config = content["configs"][TASK]
    content["configs"][name] = {**config, "task": name, "metadata": {**config["metadata"], **done}}
    content["results"][name] = content["results"][TASK]
    path.write_text(json.dumps(content), "utf-8")
    board = collect_entries([path])
    assert [entry.task for entry in board.entries] == [TASK] and not board.bad
    del content["configs"][TASK]
    path.write_text(json.dumps(content), "utf-8")
    assert codes(collect_entries([path])) == [("unknown_task", "refused")]
