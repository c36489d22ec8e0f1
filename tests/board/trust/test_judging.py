"""Attacks on the rankings of judged tasks of a board in public, by what a pack says of its judge and judgements."""

import json
from dataclasses import replace

import pytest

from lmms_medtasks.board import installed, packing, rules
from lmms_medtasks.board.collect import collect_entries
from lmms_medtasks.board.trust import pins
from tests.board.trust.submissions import SIGNED, codes, ranked, signed_again

OPEN = "med_cmr_open"
COUNT = 12
AT = "http://h:1/v1"
JUDGE = f"openai:judge at {AT}, asked (temperature 0.0), answered by m-1"
TOTALS = {f"o{number:02}": 60.0 for number in range(COUNT)}
MEASURES = ("total", "consistency", "coherence", "visual_accuracy", "ground_truth_correctness")


def column(values):
    """A column of a pack."""
    distinct = sorted({json.dumps(each) for each in values if each is not None})
    codes = [0 if each is None else 1 + distinct.index(json.dumps(each)) for each in values]
    return {"values": [json.loads(each) for each in distinct], "codes": codes}


@pytest.fixture
def held(submissions, runs):
    """An honest entry of an open task, and a function: another's pack after an edit -> the board of both."""
    judge = {**runs.JUDGE, "endpoint": AT}
    for folder, name in (
        (submissions.folder / "Ada", "honest/model"),
        (submissions.folder.parent / "x", "other/model"),
    ):
        rows = runs.judged_rows(TOTALS)
        for row in rows:
            row["questions"]["judgement"]["judge"] |= {"endpoint": AT, "settings": {"temperature": 0.0}}
            row["questions"]["judgement"]["verdicts"][0][0]["model"] = "m-1"
        runs.write(folder, {OPEN: rows}, model=name, metadata={"judge": judge})
    own = submissions.folder.parent / "rules.yml"
    own.write_text(json.dumps({"board": {OPEN: {"judge": f"openai:judge at {AT}"}}}))
    pinned = submissions.folder.parent / "pins.yml"
    pins.write_pins(collect_entries([submissions.folder]).entries, pinned)
    content = packing.make_submission(collect_entries([submissions.folder.parent / "x"]).entries, SIGNED)

    def board(edit):
        changed = json.loads(json.dumps(content))
        edit(changed["entries"][0])
        packing.write_submission(signed_again(changed), submissions.folder / "Ben" / "o.json")
        trust = replace(submissions.owned(), pins=pins.read_pins(pinned))
        return collect_entries([submissions.folder], rules=rules.read_board_rules(own), trust=trust, by_measure=True)

    return board


def every(entry, name, value):
    entry["answers"][name] = column([value] * COUNT)


def test_an_honest_pack_is_ranked(held):
    assert ranked(held(lambda entry: None)) == ["honest/model", "other/model"]


@pytest.mark.parametrize("judge", [None, {"name": "none", "prompts": {}, "settings": "", "is_paper_judge": False}])
def test_who_has_no_judge_is_not_ranked_though_all_judgements_are_called_a_rules(held, judge):
    """A reply without words is settled by a rule, and at worst: that is no rank either."""

    def edit(entry):
        entry["judge"] = judge
        every(entry, "judgement", "exact")
        every(entry, "trials", ["empty"])
        for name in MEASURES:
            for field in ("score", "low", "high"):
                every(entry, f"{name}.{field}", 0.0)

    board = held(edit)
    assert ranked(board) == ["honest/model"] and codes(board, "other/model") == {"no_judge"}


def all_by_rule(entry):
    every(entry, "judgement", "exact")


def best_of_nothing(entry):
    all_by_rule(entry)
    every(entry, "trials", ["empty"])


def with_status(status):
    return lambda entry: every(entry, "judgement", status)


def without_judgements(entry):
    for name in ("judgement", *(f"{each}.{end}" for each in MEASURES for end in ("judged", "requested"))):
        entry["answers"].pop(name)


def other_total(entry):
    every(entry, "total.score", 100.0)


def one_for_another(entry):
    """11 of 12 questions lack a judgement, and one has all that these lack: the sums are those of a whole run."""
    every(entry, "judgement", "judged")
    for name in MEASURES:
        entry["answers"][f"{name}.judged"] = column([12] + [0] * (COUNT - 1))


def often(entry):
    """One question's many judgements are had, and they hide that another's is missing."""
    for name in MEASURES:
        for field in ("judged", "requested"):
            entry["answers"][f"{name}.{field}"] = column([1000] + [1] * (COUNT - 1))


def missing_at_best(entry):
    """The bounds of a missing judgement are those of a good one."""
    entry["answers"]["judgement"] = column(["missing"] + ["judged"] * (COUNT - 1))
    for name in MEASURES:
        entry["answers"][f"{name}.judged"] = column([0] + [1] * (COUNT - 1))
        entry["answers"][f"{name}.score"]["codes"][0] = 0


def other_bounds(entry):
    every(entry, "total.high", 100.0)


def unanswered(entry):
    every(entry, "trials", ["failed"])


def negative(entry):
    for name in MEASURES:
        entry["answers"][f"{name}.judged"] = column([-1] + [1] * (COUNT - 1))
        entry["answers"][f"{name}.requested"] = column([0] + [1] * (COUNT - 1))


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (all_by_rule, "has a reply with words, which no rule of its judge settles (12 questions)"),
        (best_of_nothing, "has no reply with words, and by a rule not the worst total (12 questions)"),
        (with_status("missing"), "judgements of total that contradict their status (12 questions)"),
        (with_status("failed"), "contradict their status (12 questions)"),
        (with_status("partial"), "contradict their status (12 questions)"),
        (with_status(None), "contradict their status (12 questions)"),
        (without_judgements, "has a score of total that no judgement gave (12 questions)"),
        (other_total, "has a total that its scores do not give (12 questions)"),
        (one_for_another, "contradict their status (12 questions)"),
        (negative, "contradict their status (1 questions)"),
        (often, "Question 'o00' has more judgements of total for its replies than others have (1 questions)"),
        (unanswered, "more judgements of total for its replies than others have (12 questions)"),
        (missing_at_best, "Question 'o00' has bounds of total that its score and judgements do not give (1 questions)"),
        (other_bounds, "has bounds of total that its score and judgements do not give (12 questions)"),
    ],
    ids=["by rule", "empty", "missing", "failed", "partial", "null", "none", "total", "one for another", "negative",
         "often", "unanswered", "best", "bounds"],
)  # fmt: skip
def test_judgements_that_contradict_themselves_are_refused(held, edit, said):
    board = held(edit)
    assert ranked(board) == ["honest/model"]
    assert said in " ".join(each.reason for each in board.refused)


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({"prompts": {}}, "other_judge_prompt"),
        ({"prompts": {"mine": "version 1, d16e57"}}, "other_judge_prompt"),
        ({"name": f"openai:judge at {AT}"}, "other_judge"),
        ({"name": f"openai:judge at {AT}, asked to say Correct, answered by m-1"}, "other_judge"),
        ({"name": f"openai:judge at {AT}, asked (temperature 0.0) and bribed, answered by m-1"}, "other_judge"),
        ({"name": f"openai:judge at {AT}/mine, answered by m-1"}, "other_judge"),
    ],
)
def test_an_entry_says_all_of_its_judge(held, said, code):
    board = held(lambda entry: entry["judge"].update(said))
    assert ranked(board) == ["honest/model"] and codes(board, "other/model") == {code}


@pytest.mark.parametrize("end", ["", ", answered by m-1", f" at {AT}"])
def test_a_judge_named_in_short_says_where_it_was_asked_and_what_answered(held, submissions, end):
    (submissions.folder.parent / "rules.yml").write_text(f"board: {{{OPEN}: {{judge: 'openai:judge'}}}}")
    board = held(lambda entry: entry["judge"].update(name=f"openai:judge{end}"))
    assert ranked(board) == ["honest/model"] and codes(board, "other/model") == {"other_judge"}
    assert ranked(held(lambda entry: None)) == ["honest/model", "other/model"]


def test_rules_settle_replies_with_words_on_some_tasks():
    """Without a judge these alone have a ranking in public: of the others it would be of replies that say nothing."""
    settled = [name for name in installed.installed_tasks() if installed.find_installed_task(name).settles_words]
    judged = [name for name in installed.installed_tasks() if installed.find_installed_task(name).is_judged]
    assert {name.partition("_")[0] for name in settled} == {"sure"} and {OPEN, "bones_joints_t4_diagnosis"} < {*judged}
