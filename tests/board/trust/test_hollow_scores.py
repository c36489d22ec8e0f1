"""Scores that nothing stands behind, and levels of trust that nobody earned: refused, whatever else a pack says."""

from dataclasses import replace

import pytest
from typer.testing import CliRunner

from lmms_medtasks.board import packing
from lmms_medtasks.board.trust import levels
from lmms_medtasks.board.trust.rules_of_trust import TrustRules
from lmms_medtasks.cli.app import build_app as app
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import logged_questions, rescoring
from tests.board.trust.submissions import HONEST, PERFECT, TASK, ranked

OTHER = "medq_deg_l2"


def without_digests(entry):
    entry.update(digests={})


def of_unknown_status(entry):
    """What is neither a rule's nor a judge's stood as settled by rule."""
    entry["answers"]["judgement"] = {"values": ["ok"], "codes": [1] * 12}


def without_replies(entry):
    entry["answers"]["trials"] = {"values": [["failed"]], "codes": [1] * 12}
    all_right(entry)


def called_judged(entry):
    entry["answers"] |= {
        "trials": {"values": [["ok"]], "codes": [1] * 12}, "judgement": {"values": ["exact"], "codes": [1] * 12},
    }  # fmt: skip
    all_right(entry)


def all_right(entry):
    entry["answers"]["accuracy.score"] = {"values": [1.0], "codes": [1] * 12}


def left_out(entry):
    """The questions that it got wrong have no score."""
    answers = entry["answers"]["accuracy.score"]
    values = answers["values"]
    answers["codes"] = [code if values[code - 1] == 1.0 else 0 for code in answers["codes"]]


def said_of_itself(name, value):
    return lambda entry: entry.update({name: value})


def beyond(field, value):
    def edit(entry):
        column = entry["answers"].setdefault(f"accuracy.{field}", {"values": [], "codes": [0] * len(HONEST)})
        column["values"].append(value)
        column["codes"][0] = len(column["values"])

    return edit


def belonging(value):
    """Whether the first question belongs to the measure: an easy one's score in another measure raises the mean."""

    def edit(entry):
        asked = entry["answers"]["accuracy.asked"]
        asked["values"] = [True] if value is None else [1, value]
        asked["codes"][0] = 0 if value is None else 2

    return edit


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (of_unknown_status, "It has judgements that are 'ok'; known are exact, judged"),
        (without_digests, "digests of prompt and code are missing"), (without_replies, "its trials give none"),
        (called_judged, "judged by nobody"), (left_out, "has a reply and no score of accuracy"),
        (said_of_itself("metrics", {"accuracy": {"mean": 1.0, "n": 12}}), "it has metrics; expected nothing but"),
        (said_of_itself("counts", {"failed": 0}), "it has counts; expected nothing but"),
        (said_of_itself("reported", {"circular_accuracy": 1.0}), "it has reported; expected nothing but"),
        (lambda entry: entry["answers"].pop("trials"), "expected what was read from each reply"),
        *((lambda entry, name=name: entry["asked"].update({name: 10**24}), f"{10**24:,} questions; at most 1,000,000")
          for name in ("original", "effective")),
        # By however little.
        (beyond("score", 1 + 5e-10), "accuracy of question 'q00' is 1.0000000005, outside its scale from 0 to 1"),
        (beyond("score", 1 - 5e-10), "accuracy of question 'q00' is 0.9999999995, its trials give 1"),
        *((beyond(*each), "Question 'q00' has bounds of accuracy that its score and judgements do not give")
          for each in (("low", 1.0), ("high", 0.5))),
        (beyond("mine", 0.5), "declares nothing that has the columns accuracy.mine"),
        (belonging(None), "Question 'q00' has a number of accuracy and does not belong"),
        (belonging(0), "accuracy.asked is true"),
    ],
)  # fmt: skip
def test_scores_that_nothing_stands_behind_are_refused(submissions, edit, said):
    submissions.pack("h.json")
    submissions.pack("e.json", name="evil/m", edit=edit)
    board = submissions.board()
    assert ranked(board) == ["honest/model"]
    assert said in board.refused[0].reason


def test_a_recorded_level_is_of_these_bytes_alone(submissions, tmp_path):
    first = submissions.board().entries
    path = submissions.pack("h.json")
    assert not first
    (entry,) = submissions.board().entries
    assert entry.level == levels.SCORES_ONLY
    levels.write_trust_level(tmp_path / "verified.yml", [entry.source.digest], levels.OWN_RUN)
    trust = TrustRules(levels=levels.read_trust_levels(tmp_path / "verified.yml"))
    assert submissions.board(trust).entries[0].level == levels.OWN_RUN
    submissions.pack(path.name, PERFECT)
    assert submissions.board(trust).entries[0].level == levels.SCORES_ONLY


@pytest.mark.parametrize("level", ["sworn", "[recomputed]"])
def test_a_level_that_is_none(tmp_path, level):
    path = tmp_path / "verified.yml"
    path.write_text(f"abc: {level}")
    with pytest.raises(UserError, match="Unknown level"):
        levels.read_trust_levels(path)


def test_the_boards_own_run_vouches_for_no_copy_of_its_log(submissions, runs, tmp_path):
    """The log says neither which model it is of nor how it was run: that stands in the result file."""
    own, copied = submissions.folder / "Ada", submissions.folder / "ben"
    for folder, name in ((own, "honest/model"), (copied, "other/model")):
        runs.write(folder, {TASK: runs.choice_rows(HONEST)}, model=name)
    logs = [next(folder.glob("*_samples_*.jsonl")) for folder in (own, copied)]
    assert logs[0].read_bytes() == logs[1].read_bytes()
    verified = tmp_path / "verified.yml"
    said = ["--level", levels.OWN_RUN, "-o", str(verified)]
    result = CliRunner().invoke(app(), ["leaderboard", "verify", str(own), "--against", str(own), *said])
    assert result.exit_code == 0, result.output
    board = submissions.board(replace(submissions.owned(), levels=levels.read_trust_levels(verified)))
    assert {each.model.name: each.level for each in board.entries} == {
        "honest/model": levels.OWN_RUN,
        "other/model": levels.SCORES_ONLY,
    }
    result = CliRunner().invoke(app(), ["leaderboard", "verify", str(copied), "--against", str(own), *said])
    assert result.exit_code == 1 and "has no result of other/model" in result.output


@pytest.fixture
def recomputed(submissions, runs, tmp_path, monkeypatch):
    """``leaderboard verify --level recomputed`` of a run of two tasks, or of a pack of it; by task why it can't be."""
    run = submissions.folder / "Ada"
    runs.write(run, {TASK: runs.choice_rows(HONEST), OTHER: runs.choice_rows(PERFECT)}, model="honest/model")

    def verify(lacking, submission=run, differing=()):
        def differences(_, task, __):
            yield from differing
            if task in lacking:
                raise UserError(f"no replies of {task}")

        monkeypatch.setattr(logged_questions, "iter_recomputed_differences", differences)
        monkeypatch.setattr(rescoring, "TaskDefinitions", object)
        said = ["--level", levels.RECOMPUTED, "--against", str(run), "-o", str(tmp_path / "verified.yml")]
        return CliRunner().invoke(app(), ["leaderboard", "verify", str(submission), *said])

    return verify


def test_tasks_that_can_not_be_read_again_are_named_and_the_others_verified(recomputed, submissions, tmp_path):
    result = recomputed([OTHER])
    assert result.exit_code == 2 and "1 of 2 tasks" in result.output
    assert f"left out: {OTHER}: no replies of {OTHER}" in result.output and f"left out: {TASK}" not in result.output
    trust = TrustRules(levels=levels.read_trust_levels(tmp_path / "verified.yml"))
    found = {entry.task: entry.level for entry in submissions.board(trust).entries}
    assert found == {TASK: levels.RECOMPUTED, OTHER: levels.SCORES_ONLY}
    assert recomputed([]).exit_code == 0
    assert len(levels.read_trust_levels(tmp_path / "verified.yml")) == 2


def test_nothing_is_written_where_no_task_can_be_read_again_or_one_differs(recomputed, tmp_path):
    nothing = recomputed([TASK, OTHER])
    assert isinstance(nothing.exception, UserError) and nothing.output.count("left out: ") == 2
    # Also what differs before a log can't be read any further.
    assert recomputed([OTHER], differing=["another score"]).exit_code == 1
    assert not (tmp_path / "verified.yml").exists()


def test_a_pack_with_a_task_that_can_not_be_read_again_has_no_level(recomputed, submissions, tmp_path):
    """Its digest stands for all its tasks."""
    entries = submissions.board().entries
    pack = tmp_path / "p.json.gz"
    packing.write_submission(packing.make_submission(entries, "Ada <ada@example.org>"), pack)
    result = recomputed([OTHER], pack)
    assert isinstance(result.exception, UserError) and "one level for all" in str(result.exception)
    assert not (tmp_path / "verified.yml").exists()


def test_a_folder_of_nothing_can_not_be_verified(submissions, tmp_path):
    said = ["--against", str(submissions.folder), "--level", levels.OWN_RUN, "-o", str(tmp_path / "v.yml")]
    result = CliRunner().invoke(app(), ["leaderboard", "verify", str(submissions.folder), *said])
    assert isinstance(result.exception, UserError) and "has no pack and no run" in str(result.exception)


def test_noise_of_sums_is_no_reason(submissions):
    """Three times a third may be 1.0000000000000002."""
    submissions.pack("h.json", name="honest/model", edit=beyond("score", 1 + 2e-16))
    assert ranked(submissions.board()) == ["honest/model"]
