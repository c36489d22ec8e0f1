"""What is ranked together: what sets an entry apart from the others, thresholds, and a board's own rules."""

import pytest

from lmms_medtasks.board import rules as board_rules
from lmms_medtasks.board.collect import collect_entries
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness.scoring import metric_values
from lmms_medtasks.record import QuestionJudgement, QuestionRecord, ScoreValue
from lmms_medtasks.task_configs.sure_vqa import measures as sure_measures

TASK = "medq_deg_l1"
GOOD = {"q1": "AAA", "q2": "AAB", "q3": "BBA", "q4": "BBB"}


@pytest.mark.parametrize(
    ("chosen", "code", "said"),
    [
        ({"metadata": {"data": "mini"}}, "mini_data", "Mini data"),
        ({"metadata": {"data": "sample"}}, "sample_data", "Sample data"),
        ({"metadata": {"data": "sample", "data_counts": "57 of 99"}}, "sample_data", "Sample data (57 of 99)"),
        ({"metadata": {"data": "full", "data_counts": "57 of 99"}}, "accepted_counts", "(57 of 99)"),
        ({"metadata": {"data": "100 images of full"}}, "subset_data", "100 images of full data"),
        ({"limit": 4.0, "original": 400}, "limited", "Only 4 of 400 questions were asked (--limit 4)."),
        ({"metadata": {"package_modified": True}}, "modified_package", "not as installed or committed"),
        ({"metadata": {"image_encoding": "JPEG"}}, "reencoded_images", "JPEG"),
        (
            {"metadata": {"server": {"model": "a", "answers_as": ["b"]}}},
            "other_model",
            "asked for 'a', answered as 'b'",
        ),
        ({"metadata": {"data": "odd"}}, "unknown_data", "does not say"),
    ],
)
def test_what_one_run_says_of_itself(tmp_path, runs, chosen, code, said):
    board = collect_entries([runs.write(tmp_path, {TASK: runs.choice_rows(GOOD)}, **chosen)])
    found = {problem.code: problem.reason for problem in board.problems}
    assert said in found[code]


def test_subsets_are_ranked_among_themselves(tmp_path, runs):
    for name, size in (("a", 100), ("b", 100), ("c", 50)):
        chosen = {"data": f"{size} images of full", "data_digest": f"d{size}"}
        runs.write(tmp_path / name, {TASK: runs.choice_rows(GOOD)}, model=name, metadata=chosen)
    ranked = {entry.model.name: entry.ranked for entry in collect_entries([tmp_path]).entries}
    assert ranked == {"a": True, "b": True, "c": False}


def test_accepted_counts_never_stand_before_the_release(tmp_path, runs):
    """Two runs on data that was only called full, one on the release: the ranking is of the release."""
    accepted = {"data_digest": "0ther", "data_counts": "test: 57 questions, 99 expected"}
    for name, chosen in (("a", accepted), ("b", accepted), ("c", {})):
        runs.write(tmp_path / name, {TASK: runs.choice_rows(GOOD)}, model=name, metadata=chosen)
    board = collect_entries([tmp_path])
    assert {entry.model.name: entry.ranked for entry in board.entries} == {"a": False, "b": False, "c": True}
    codes = {(problem.model, problem.code) for problem in board.problems}
    assert codes >= {("a", "accepted_counts"), ("a", "other_data")} and not any(model == "c" for model, _ in codes)


@pytest.mark.parametrize(
    ("chosen", "code"),
    [
        ({"metadata": {"data": "mini"}}, "other_data"),
        ({"metadata": {"data": "100 images of full"}}, "other_data"),
        ({"metadata": {"data_digest": "0ther"}}, "other_data"),
        ({"versions": {TASK: 2.0}}, "other_version"),
        ({"metadata": {"digests": {"package": "c0de", "prompt": "0ther"}}}, "other_prompt"),
        ({"metadata": {"digests": {"package": "0ther", "prompt": "9409"}}}, "other_code"),
        ({"harness": "0.8.0"}, "other_harness"),
    ],
)
def test_what_sets_a_run_apart_from_the_others(tmp_path, runs, chosen, code):
    for name in "ab":
        runs.write(tmp_path / name, {TASK: runs.choice_rows(GOOD)}, model=f"model-{name}")
    runs.write(tmp_path / "c", {TASK: runs.choice_rows(GOOD)}, model="model-c", **chosen)
    board = collect_entries([tmp_path])
    apart = {problem.model for problem in board.problems if problem.code == code}
    assert apart == {"model-c"}
    level = board_rules.read_board_rules().levels[code]
    assert [entry.ranked for entry in board.entries] == [True, True, level == "flag"]


def test_another_version_of_the_package_gives_the_same_numbers_at_the_same_version_of_a_task(tmp_path, runs):
    """And runs of modified code do not decide what a version's own code is, however many they are."""
    for name, version, code in (("a", "1.0", "c0de"), ("b", "1.1", "0ther"), ("c", "1.1", "m0d"), ("d", "1.1", "m0d")):
        metadata = {"package_version": version, "digests": {**runs.DIGESTS, "package": code}}
        metadata["package_modified"] = code == "m0d"
        runs.write(tmp_path / name, {TASK: runs.choice_rows(GOOD)}, model=name, metadata=metadata)
    found = {each.model: each.reason for each in collect_entries([tmp_path]).problems if each.code == "other_code"}
    said = "Another package of lmms-medtasks 1.1 than the ranking's (digest m0d against 0ther)."
    assert found == {"c": said, "d": said}


def test_two_judges_do_not_stand_in_one_ranking(tmp_path, runs):
    rows = {"q1": 100.0, "q2": 60.0}
    for name in "ab":
        runs.write(
            tmp_path / name, {"med_cmr_open": runs.judged_rows(rows)}, model=name, metadata={"judge": runs.JUDGE}
        )
    other = {**runs.JUDGE, "name": "local:other"}
    runs.write(
        tmp_path / "c", {"med_cmr_open": runs.judged_rows(rows, "local:other")}, model="c", metadata={"judge": other}
    )
    prompt = {**runs.JUDGE, "protocols": [{"protocol": "med_cmr_open", "version": 2, "digest": "0ther"}]}
    runs.write(tmp_path / "d", {"med_cmr_open": runs.judged_rows(rows)}, model="d", metadata={"judge": prompt})
    board = collect_entries([tmp_path])
    found = {problem.model: problem.code for problem in board.problems if "judge" in problem.code}
    assert found == {"c": "other_judge", "d": "other_judge_prompt"}
    assert [entry.model.name for entry in board.of(ranked=True)] == ["a", "b"]


APART = [
    {"url": "http://h:2/v1"}, {"url": "http://h:1/team/v1"}, {"url": "https://h:1/v1"}, {"model_that_answers": "m-2"},
    {"model_that_answers": ""},
]  # fmt: skip


@pytest.mark.parametrize("other", APART)
def test_judges_of_one_name_do_not_stand_in_one_ranking(tmp_path, runs, other):
    """Another port, path or answering model is another judge; what needed no verdict is of any of the endpoint."""
    for name, judge in (("a", {}), ("b", {}), ("c", other)):
        runs.write_judged(tmp_path / name, {"q1": 100.0, "q2": 60.0}, model=name, **judge)
    runs.write_judged(tmp_path / "d", {"q1": 0.0, "q2": 0.0}, model="d", status="exact")
    board = collect_entries([tmp_path])
    ((model, code, reason),) = [(each.model, each.code, each.reason) for each in board.problems if "judge" in each.code]
    assert (model, code) == ("c", "other_judge")
    assert board.references["med_cmr_open"].judge == "openai:judge at http://h:1/v1, answered by m-1"
    entries = {entry.model.name: entry for entry in board.entries}
    assert entries["c"].judge.name in reason and entries["a"].judge.name in reason
    assert [entry.model.name for entry in board.of(ranked=True)] == ["a", "b", "d"]


def test_a_run_of_two_answering_models_is_not_ranked(tmp_path, runs):
    runs.write_judged(tmp_path / "a", {"q1": 100.0, "q2": 60.0})
    (log,) = tmp_path.rglob("*samples*")
    log.write_text(log.read_text("utf-8").replace('"m-1"', '"m-2"', 1), "utf-8")
    (problem,) = [each for each in collect_entries([tmp_path]).problems if "judge" in each.code]
    assert problem.code == "several_judges" and "by m-1" in problem.reason and "by m-2" in problem.reason


@pytest.mark.parametrize(
    ("demanded", "ranked"),
    [("openai:judge", ["a", "b"]), ("openai:judge at http://h:2/v1", ["c"]), ("openai:jud", []), ("openai:other", [])],
)
def test_a_board_may_demand_a_judge_by_name_or_in_full(tmp_path, runs, demanded, ranked):
    for name, url in (("a", "http://h:1/v1"), ("b", "http://h:1/v1"), ("c", "http://h:2/v1")):
        runs.write_judged(tmp_path / name, {"q1": 100.0}, model=name, url=url)
    board = collect_entries(
        [tmp_path], rules=board_rules.with_own({"board": {"med_cmr_open": {"judge": demanded}}}, "here")
    )
    assert [entry.model.name for entry in board.of(ranked=True)] == ranked


def test_without_a_pin_entries_of_other_questions_than_one_another_are_all_apart(tmp_path, runs):
    """However many have one of the sets: a majority can be made up."""
    for name in "ab":
        runs.write(tmp_path / name, {TASK: runs.choice_rows(GOOD)}, model=f"model-{name}")
    less = {name: letters for name, letters in GOOD.items() if name != "q2"}
    runs.write(tmp_path / "c", {TASK: runs.choice_rows(less)}, model="model-c")
    board = collect_entries([tmp_path])
    found = {each.model: each.reason for each in board.problems if each.code == "other_questions"}
    assert set(found) == {"model-a", "model-b", "model-c"} and not board.of(ranked=True)
    assert "1 that it has are missing, 0 are of this one only" in found["model-c"]
    assert "lmms-medtasks leaderboard pin" in found["model-a"]


def test_rates_under_the_thresholds(tmp_path, runs):
    path = runs.write(tmp_path, {TASK: runs.choice_rows({"q1": "A-------__", "q2": "A!" * 5})})
    board = collect_entries([path])
    found = {problem.code: problem.reason for problem in board.problems}
    # 15 replies, 7 unreadable, 2 empty; 20 requests, 5 failed.
    assert found["low_parse_rate"].startswith(
        "40.0% of the replies could be read (required: 90%); the others (7 unreadable, 2 empty) count"
    )
    assert {(each.counts.parsed, each.counts.empty, each.counts.failed) for each in board.entries} == {(6, 2, 5)}
    assert found["failed_requests"].startswith("5 of 20 requests failed")


def test_of_two_runs_of_a_model_none_is_preferred_and_a_limited_one_is_in_nobodys_way(tmp_path, runs):
    rows = runs.choice_rows(GOOD)
    runs.write(tmp_path / "old", {TASK: rows}, date="20260101_000000")
    runs.write(tmp_path / "less", {TASK: rows[:2]}, date="20260303_000000", original=4)
    assert [entry.source.date for entry in collect_entries([tmp_path]).of(ranked=True)] == ["20260101_000000"]
    runs.write(tmp_path / "new", {TASK: runs.choice_rows({**GOOD, "q1": "BBB"})}, date="20260202_000000")
    board = collect_entries([tmp_path])
    apart = {each.source.split("/")[-2] for each in board.problems if each.code == "several_entries"}
    assert apart == {"old", "new"} and not board.of(ranked=True) and not board.refused


def test_own_rules_stand_over_the_built_in_ones(tmp_path, runs):
    own = tmp_path / "rules.yml"
    own.write_text(
        "thresholds: {parse_rate: 0.2}\nlevels: {failed_requests: flag}\nboard: {'medq_deg*': {version: 9}}\n"
    )
    path = runs.write(tmp_path / "a", {TASK: runs.choice_rows({"q1": "A---------", "q2": "A!" * 5})})
    found = {each.code: each.level for each in collect_entries([path], rules=own).problems}
    assert "low_parse_rate" not in found
    assert (found["failed_requests"], found["other_version"]) == ("flag", "unranked")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("thresholds: {parse_rat: 1}", "Unknown threshold 'parse_rat'"),
        ("thresholds: {parse_rate: 90}", "expected a number from 0 to 1"),
        ("levels: {mini_data: hidden}", "Unknown level 'hidden'"),
        ("levels: {broken_log: flag}", "nothing that an entry could be made of"),
        ("board: {'*': {colour: red}}", "Unknown demand 'colour'"),
        ("exit_status: [no_such]", "Unknown problem 'no_such'"),
        ("board: {'*': [judge]}", r"board has '\*': \['judge'\]; expected"),
        ("board: {1: {data: full}}", "board has 1: "),
        ("exit_status: [[no_such]]", "Unknown problem "),
        ("exit_status: {}", "exit_status is {}, expected a list"),
        ("levels:", "levels is None, expected a mapping"),
        ("limits: {}", "Unknown section 'limits'"),
        ("treshold:", "Unknown section 'treshold'"),
        ("[", "line 1, column 2: this is no YAML"),
    ],
)
def test_rules_that_mean_nothing(tmp_path, text, said):
    path = tmp_path / "rules.yml"
    path.write_text(text)
    with pytest.raises(UserError, match=said):
        board_rules.read_board_rules(path)


@pytest.mark.parametrize(
    ("chosen", "rules", "bad"),
    [
        ({"versions": {TASK: 2.0}}, "exit_status: [other_version]", ["other_version"]),
        ({"versions": {TASK: 2.0}}, "", []),
        ({"harness": "0.8.0"}, "exit_status: [other_version, other_harness]", ["other_harness"]),
        ({"harness": "0.8.0"}, "", []),
        ({"metadata": {"data": "mini"}}, "", []),
        ({"samples": False}, "exit_status: []", ["no_samples"]),
    ],
)
def test_what_the_exit_status_tells_of(tmp_path, runs, chosen, rules, bad):
    for name in "ab":
        runs.write(tmp_path / name, {TASK: runs.choice_rows(GOOD)}, model=name)
    runs.write(tmp_path / "c", {TASK: runs.choice_rows(GOOD)}, model="c", **chosen)
    own = tmp_path / "rules.yml"
    own.write_text(rules)
    assert [problem.code for problem in collect_entries([tmp_path], rules=own).bad] == bad


def test_without_a_judge_the_measures_that_rules_settle_are_ranked_and_no_other(tmp_path, runs):
    """Four questions of each of four measures; a rule settles the closed ones, one open answer waits for a judge."""

    def rows(status, *, judge="none"):
        found = []
        for number in range(16):
            side, kind = ("iid", "ood")[number % 2], ("closed", "open")[number // 2 % 2]
            waits = kind == "open" and status == "missing"
            verdict = {"status": status if kind == "open" else "exact", "labels": {}, "reason": "", "reply": ""}
            verdict["labels"] = {} if waits else {sure_measures.DIMENSIONS[kind]: "1"}
            record = QuestionRecord(
                id=f"s{number}",
                cluster=f"image {number}",
                trials=("ok",),
                expected=None,
                measures=dict.fromkeys(sure_measures.TEXT, ScoreValue(0.5)),
                tags={"data": "full", "set": side, "answer_type": kind, "modality": "CT"},
                judgement=QuestionJudgement(
                    {"name": judge, "protocol": f"sure_{kind}"}, ({"answer": "a"},), ((verdict,),)
                ),
            )
            values = metric_values(sure_measures.SUITE, "pair", sure_measures.record_with_judged_score(record))
            found.append({**values, "filtered_resps": ["a"], "target": "r", "input": "p"})
        return found

    task, none = "sure_slake_modality", {"metadata": {"judge": {"name": "none"}}}
    runs.write(tmp_path / "none", {task: rows("missing")}, model="none", **none)
    [whole] = collect_entries([tmp_path]).entries
    closed = ("closed_iid", "closed_ood", "closed_rr")
    assert not whole.ranked and set(whole.main_metrics) == {*closed, "open_iid", "open_ood"}
    [entry] = collect_entries([tmp_path], by_measure=True).entries
    assert entry.ranked and entry.metrics == closed
    assert [each.reason for each in entry.problems if each.code == "no_judge"] == [
        "No judge was configured: only what a rule settles has a score. Not ranked by open_iid, open_ood."
    ]
    # A run of the same model that was judged stands alone.
    runs.write(tmp_path / "judged", {task: rows("judged", judge="openai:judge")}, model="none",
               metadata={"judge": {**runs.JUDGE, "name": "openai:judge"}})  # fmt: skip
    board = collect_entries([tmp_path], by_measure=True)
    assert [entry.ranked for entry in board.entries] == [True] and not board.bad
    assert [each.code for each in board.problems if "judged copy stands" in each.reason] == ["duplicate"]
