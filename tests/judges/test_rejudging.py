"""A finished run judged again from its files: what is missing in place, by another judge beside it."""

import errno
import json
import os
import signal
import time

import pytest
from typer.testing import CliRunner

from lmms_medtasks.cli import judge as judge_command
from lmms_medtasks.errors import UserError
from lmms_medtasks.judges import database, withheld
from lmms_medtasks.samples import result_files as results

REPLIES = ["effusion", "", "an effusion", "cat", "left effusion", "dog", "cow", "effusions"]


@pytest.fixture
def again(harness):
    """Call as again(arguments...): runs ``lmms-medtasks judge``; raises its UserError."""

    def call(*arguments, status=0):
        done = CliRunner().invoke(judge_command.app, [*map(str, arguments), "--include-path", str(harness.folder)])
        if isinstance(done.exception, UserError):
            raise done.exception
        assert done.exit_code == status, (done.output, done.exception)
        return done.output

    return call


def files(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def only(folder):
    (path,) = results.list_result_files(folder)
    return results.read_result_file(path)


@pytest.fixture
def failing(harness, judge_server, stub_judge):
    """A run of the group in which four of the judge's calls failed."""
    judge_server.rule = lambda request: (
        stub_judge.KINDS["500"] if "cat" in str(request) or "cow" in str(request) else None
    )
    run, _ = harness(REPLIES, ["judge_group"], RETRIES=0, CONCURRENCY=4)
    judge_server.rule = None
    judge_server.reset()
    assert run.tasks["judge_open"]["missing_judgements,trials"] == 2
    return run


def test_what_is_missing_is_judged_in_place(failing, again, harness, judge_server, monkeypatch):
    folder = failing.path.parent
    monkeypatch.setenv("MEDTASKS_JUDGE", "openai:another")  # the run's own judge is asked all the same
    printed = again(folder)
    assert len(judge_server.requests) == 2  # the same two in both tasks
    assert {request["model"] for request in judge_server.requests} == {"stub-judge"}
    assert "2 tasks: 12 verdicts kept" in printed and "0 still to judge" in printed
    assert f"lmms-medtasks report {folder}" in printed and "correctness: " not in printed and "2 to ask" not in printed
    repaired = only(folder)
    monkeypatch.setenv("MEDTASKS_HOME", str(folder / "fresh"))
    whole, _ = harness(REPLIES, ["judge_group"], RETRIES=5)
    assert repaired.tasks == whole.tasks
    assert repaired.content["groups"] == whole.content["groups"]
    for task in ("judge_open", "judge_more"):
        assert harness.rows(repaired, task) == harness.rows(whole, task)
    (made,) = repaired.content["judged_again"]
    assert (made["judge"], made["tasks"]) == ("openai:stub-judge", ["judge_more", "judge_open"])
    same = {key: value for key, value in repaired.content.items() if key not in ("results", "groups", "judged_again")}
    assert same == {key: value for key, value in failing.content.items() if key not in ("results", "groups")}


def test_the_runs_own_judge_goes_on_and_says_so(failing, again, monkeypatch):
    monkeypatch.setenv("MEDTASKS_JUDGE", "local:other")
    printed = again(failing.path)
    assert "MEDTASKS_JUDGE names local:other, but openai:stub-judge judged this run and goes on." in printed
    assert only(failing.path.parent).tasks["judge_open"]["coverage,trials"] == 1.0


def test_doing_it_twice_changes_no_number(failing, again, judge_server):
    again(failing.path)
    once = only(failing.path.parent)
    judge_server.reset()
    assert "judged now" not in again(failing.path)
    assert judge_server.requests == []
    assert only(failing.path.parent).tasks == once.tasks


def test_nothing_to_do_changes_no_file(failing, again, judge_server, tmp_path):
    """In place and beside: not a byte, and nothing is said to be written."""
    again(failing.path)
    before, times = files(failing.path.parent), [path.stat().st_mtime_ns for path in failing.path.parent.iterdir()]
    printed = again(failing.path.parent)
    assert "Nothing has changed" in printed and "Written" not in printed
    assert files(failing.path.parent) == before
    assert [path.stat().st_mtime_ns for path in failing.path.parent.iterdir()] == times
    again(failing.path, "--judge", "lexical", "-o", tmp_path / "new")
    before = files(tmp_path / "new")
    assert "Nothing has changed" in again(failing.path, "--judge", "lexical", "-o", tmp_path / "new")
    assert files(tmp_path / "new") == before


def test_a_check_made_later_changes_no_file_of_a_run_that_is_judged(failing, again, monkeypatch):
    """It stands with the judge of what is judged after it."""
    monkeypatch.setattr("lmms_medtasks.judges.judging.JudgeSession.check_of", lambda self, protocol: "passed: first")
    again(failing.path)
    judges = [task["metadata"]["judge"] for task in only(failing.path.parent).content["configs"].values()]
    assert {each["check"] for judge in judges for each in judge["protocols"]} == {"passed: first"}
    before = files(failing.path.parent)
    monkeypatch.setattr("lmms_medtasks.judges.judging.JudgeSession.check_of", lambda self, protocol: "failed: later")
    assert "Nothing has changed" in again(failing.path)
    assert files(failing.path.parent) == before


def test_what_could_not_be_judged_again_changes_no_file(failing, again, judge_server, stub_judge):
    """The same failures as before."""
    judge_server.rule = lambda request: stub_judge.KINDS["500"]
    before = files(failing.path.parent)
    again(failing.path, status=1)
    assert files(failing.path.parent) == before and judge_server.requests


def test_ctrl_c_keeps_what_was_judged(harness, again, judge_server):
    """What was judged stands in the run's files, the exit status is that of an interrupt, and the next goes on."""
    run, _ = harness(REPLIES, ["judge_open"], judge="", CONCURRENCY=1)

    def rule(request):
        if len(judge_server.requests) == 3:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1.5)  # it is noticed within a second

    judge_server.rule = rule
    printed = again(run.path, "--judge", "openai:stub-judge", status=130)
    assert "3 judged now, 3 still to judge" in printed and "stopped: the run was interrupted" in printed
    assert only(run.path.parent).tasks["judge_open"]["missing_judgements,trials"] == 3
    judge_server.reset()
    judge_server.rule = None
    assert "5 verdicts kept" in again(run.path)
    assert len(judge_server.requests) == 3


def test_an_old_reply_outlives_a_judge_that_is_not_asked(harness, again, judge_server, stub_judge):
    """A reply that held no verdict was paid for: it stays in the log until there is another one."""
    judge_server.rule = lambda request: stub_judge.KINDS["prose"]
    run, _ = harness(REPLIES, ["judge_open"])
    judge_server.rule = lambda request: stub_judge.KINDS["401"]
    again(run.path, status=1)
    given = [each["questions"]["judgement"]["verdicts"][0][0] for each in harness.rows(run, "judge_open")]
    assert [each["reply"] for each in given if each["status"] == "missing"] == [stub_judge.KINDS["prose"].text] * 6


@pytest.mark.parametrize("arguments", [(), ("--keep-going",)])
def test_keep_going(harness, again, judge_server, stub_judge, monkeypatch, arguments):
    from lmms_medtasks.judges import asking
    from lmms_medtasks.judges.settings import default_settings

    judge_server.rule = lambda request: stub_judge.KINDS["prose"]
    run, _ = harness(REPLIES, ["judge_open"], judge="")
    monkeypatch.setenv("MEDTASKS_JUDGE_CONCURRENCY", "1")
    monkeypatch.setattr(asking, "default_settings", lambda: {**default_settings(), "hopeless_after": 3})
    printed = again(run.path, "--judge", "openai:stub-judge", *arguments, status=1)
    assert ("3 judgements in a row" in printed) == (not arguments)
    assert len(judge_server.requests) == (12 if arguments else 6)


def test_still_missing(failing, again, judge_server, stub_judge):
    judge_server.rule = lambda request: stub_judge.KINDS["500"]
    printed = again(failing.path, "--task", "judge_open", status=1)
    assert "2 still to judge" in printed and "missing 2: request failed: status 500" in printed


def test_at_most_so_many_requests(failing, again, judge_server):
    printed = again(failing.path, "--task", "judge_open", "--max-requests", 1, "--verbose", status=1)
    assert len(judge_server.requests) == 1
    assert "at most 1 requests" in printed and "missing 1: ceiling on requests" in printed


def test_another_judge_goes_beside(failing, again, harness, judge_server, stub_judge):
    folder = failing.path.parent
    before = files(folder)
    judge_server.verdict = stub_judge.hashed
    printed = again(folder, "--judge", "openai:org/other")
    assert files(folder) == before
    other = folder.with_name(f"{folder.name}-judge-org_other")
    assert set(files(other)) == set(before)
    assert "0 verdicts kept, 4 scored by rule" in printed
    assert len(judge_server.requests) == 6
    run = only(other)
    assert run.content["configs"]["judge_open"]["metadata"]["judge"]["name"] == "openai:org/other"
    row = harness.rows(run, "judge_open")[2]
    assert row["questions"]["judgement"]["judge"]["name"] == "openai:org/other"
    assert row["correctness"]["score"] == run_score(row["questions"]["judgement"])
    assert row["questions"]["measures"]["correctness"]["score"] == row["correctness"]["score"]
    scores = [row["correctness"]["score"] for row in harness.rows(run, "judge_open")]
    assert run.tasks["judge_open"]["correctness,trials"] == pytest.approx(sum(scores) / 8)


def run_score(judgement):
    return float(judgement["verdicts"][0][0]["labels"]["correctness"])


def test_one_task_by_another_judge_stands_alone(failing, again, tmp_path):
    again(failing.path, "--judge", "lexical", "--task", "judge_open", "-o", tmp_path / "new")
    run = only(tmp_path / "new")
    assert set(run.tasks) == set(run.content["configs"]) == {"judge_open"}
    assert run.content["group_subtasks"] == {}
    assert [path.name for path in (tmp_path / "new").iterdir() if "samples" in path.name] == [
        failing.samples_file("judge_open").name
    ]
    assert "not a language model" in json.dumps(run.content["configs"]["judge_open"]["metadata"])


def test_a_judge_that_never_answered_is_in_nobodys_way(harness, again, judge_server, stub_judge, monkeypatch):
    """A wrong address or model, put right afterwards: in place, since no verdict is there to mix with."""
    judge_server.rule = lambda request: stub_judge.KINDS["404"]
    run, _ = harness(REPLIES, ["judge_open"], judge="openai:misspelt", TEMPERATURE=0.5)
    judge_server.rule = None
    monkeypatch.delenv("MEDTASKS_JUDGE_TEMPERATURE")
    again(run.path)  # the same name, asked in another way
    assert only(run.path.parent).tasks["judge_open"]["coverage,trials"] == 1.0
    judge_server.rule = lambda request: stub_judge.KINDS["404"]
    run, _ = harness(["a", "b"], ["judge_open"], judge="openai:misspelt")
    judge_server.rule = None
    again(run.path, "--judge", "openai:right")
    fresh = only(run.path.parent)
    assert fresh.content["configs"]["judge_open"]["metadata"]["judge"]["name"] == "openai:right"
    assert fresh.tasks["judge_open"]["coverage,trials"] == 1.0


def test_tasks_of_one_file_have_one_judge(harness, again, tmp_path):
    """Each task by another judge, one after the other: the second goes beside, the group is of one judge alone."""
    run, _ = harness(REPLIES, ["judge_group"], judge="")
    again(run.path, "--task", "judge_open", "--judge", "openai:stub-judge")
    before = files(run.path.parent)
    again(run.path, "--task", "judge_more", "--judge", "lexical")
    assert files(run.path.parent) == before
    beside = only(run.path.parent.with_name(f"{run.path.parent.name}-judge-lexical"))
    assert set(beside.tasks) == {"judge_more"}
    again(run.path, "--task", "judge_more")  # by the run's own judge, though this task had none
    judges = {each["metadata"]["judge"]["name"] for each in only(run.path.parent).content["configs"].values()}
    assert judges == {"openai:stub-judge"}


def test_one_task_after_the_other_loses_none(failing, again, tmp_path):
    new = tmp_path / "new"
    again(failing.path, "--judge", "lexical", "--task", "judge_open", "-o", new)
    with pytest.raises(UserError, match="holds judge_open too, which would be lost. Name these with --task as well"):
        again(failing.path, "--judge", "lexical", "--task", "judge_more", "-o", new)
    again(failing.path, "--judge", "lexical", "--task", "judge_more", "--task", "judge_open", "-o", new)
    assert set(only(new).tasks) == {"judge_open", "judge_more", "judge_group"}


def test_no_llm_is_said_in_the_table(failing, again, tmp_path):
    again(failing.path, "--judge", "lexical", "-o", tmp_path / "words")
    run = only(tmp_path / "words")
    assert run.tasks["judge_open"]["alias"].endswith("judge_open (lexical judge, no LLM)")
    again(run.path, "--judge", "openai:other", "-o", tmp_path / "llm")
    fresh = only(tmp_path / "llm")
    assert fresh.tasks["judge_open"]["alias"] == failing.tasks["judge_open"]["alias"]
    assert "lexical" not in json.dumps(fresh.content["configs"])


def test_a_run_without_a_judge_is_judged_in_place(harness, again, judge_server, monkeypatch):
    run, _ = harness(REPLIES, ["judge_open"], judge="")
    with pytest.raises(UserError, match="No judge: the run had none"):
        again(run.path)
    printed = again(run.path.parent, "--judge", "openai:stub-judge")
    assert len(judge_server.requests) == 6
    assert "2 scored by rule" in printed and "6 judged now" in printed
    fresh = only(run.path.parent)
    assert fresh.content["configs"]["judge_open"]["metadata"]["judge"]["name"] == "openai:stub-judge"
    assert fresh.tasks["judge_open"]["coverage,trials"] == 1.0


def test_another_way_of_asking_does_not_mix(failing, again, monkeypatch, tmp_path, judge_server):
    monkeypatch.setenv("MEDTASKS_JUDGE_TEMPERATURE", "0.5")
    before = files(failing.path.parent)
    with pytest.raises(UserError, match="judged by openai:stub-judge in another way than now .*settings: "):
        again(failing.path)
    assert files(failing.path.parent) == before and judge_server.requests == []
    assert "0 verdicts kept" in again(failing.path, "-o", tmp_path / "new")
    assert len(judge_server.requests) == 6


@pytest.mark.parametrize("part", ["port", "path"])
def test_another_endpoint_does_not_fill_gaps(part, failing, again, monkeypatch, tmp_path, judge_server, other_server):
    """The same name at another port or path: refused in place; with -o all is judged anew, no verdict is kept."""
    url = other_server.url if part == "port" else judge_server.url.replace("/v1", "/team/v1")
    server = other_server if part == "port" else judge_server
    monkeypatch.setenv("OPENAI_API_URL", url)
    before = files(failing.path.parent)
    with pytest.raises(UserError, match=r"in another way than now \(endpoint: .*judge everything again: -o FOLDER"):
        again(failing.path)
    assert files(failing.path.parent) == before and server.requests == []
    assert "0 verdicts kept" in again(failing.path, "-o", tmp_path / "new")
    assert len(server.requests) == 6
    new = only(tmp_path / "new")
    assert new.content["configs"]["judge_open"]["metadata"]["judge"]["endpoint"] == url
    assert new.content["judged_again"][0]["endpoint"] == url
    monkeypatch.setenv("OPENAI_API_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(UserError, match="judged by openai:stub-judge at .*Name another folder with -o"):
        again(failing.path, "-o", tmp_path / "new")


@pytest.mark.parametrize("model", ["moved", None])
def test_another_model_does_not_fill_gaps(model, failing, again, judge_server, monkeypatch, tmp_path):
    """The server answers as another model than the log's verdicts: refused, the run stays; by its name all is anew."""
    monkeypatch.setenv("MEDTASKS_HOME", str(tmp_path / "fresh"))  # so that only the log knows what answered
    judge_server.answers_as = lambda request: model
    before = files(failing.path.parent)
    with pytest.raises(UserError, match=r"stays as it is.*answered by stub-judge.*lmms-medtasks judge RUN --judge "):
        again(failing.path)
    assert files(failing.path.parent) == before and len(judge_server.requests) <= 4
    judge_server.reset()
    if model:
        again(failing.path, "--judge", f"openai:{model}", "-o", tmp_path / "new")
        assert verdict_models(only(tmp_path / "new"), "judge_open") == {"moved"}


def test_a_task_alone_is_not_filled_by_another_model_than_the_files_others(harness, again, judge_server):
    """One task of the file judged, the other not yet: the group's mean would be of two models."""
    run, _ = harness(REPLIES, ["judge_group"], judge="")
    again(run.path, "--task", "judge_open", "--judge", "openai:stub-judge")
    before = files(run.path.parent)
    judge_server.answers_as = lambda request: "moved"
    for path in (harness.folder.parent / "home").rglob("verdicts.sqlite*"):
        path.unlink()
    printed = again(run.path, "--task", "judge_more", status=1)
    assert "another model" in printed and "still to judge" in printed
    run = only(run.path.parent)
    assert verdict_models(run, "judge_open") | verdict_models(run, "judge_more") == {"stub-judge"}
    assert files(run.path.parent).keys() == before.keys()


def test_a_file_with_two_models_is_not_gone_on_with(failing, again, judge_server):
    log = failing.samples_file("judge_open")
    log.write_text(log.read_text("utf-8").replace('"model": "stub-judge"', '"model": "older"'), "utf-8")
    judge_server.reset()
    with pytest.raises(UserError, match="answered by older and answered by stub-judge"):
        again(failing.path)
    assert judge_server.requests == []


def verdict_models(run, task):
    rows = [
        json.loads(line)["questions"]["judgement"] for line in run.samples_file(task).read_text("utf-8").splitlines()
    ]
    verdicts = [each for row in rows for trials in row["verdicts"] for each in trials]
    return {each["model"] for each in verdicts if each["status"] == "judged"}


def test_a_folder_of_another_judge_is_in_the_way(failing, again, tmp_path):
    again(failing.path, "--judge", "lexical", "-o", tmp_path / "new")
    with pytest.raises(UserError, match="judged by lexical. Name another folder"):
        again(failing.path, "--judge", "openai:other", "-o", tmp_path / "new")


def test_under_terms(harness, again, judge_server, stub_judge, monkeypatch):
    judge_server.rule = lambda request: stub_judge.KINDS["500"]
    run, _ = harness(["an effusion", "a secret mass"], ["judge_private"], judge="local:m", RETRIES=0)
    judge_server.rule = None
    judge_server.reset()
    again(run.path)
    assert len(judge_server.requests) == 2
    row = harness.rows(only(run.path.parent), "judge_private")[0]
    assert row["correctness"]["score"] == 5.0 and row["questions"]["judgement"]["items"] == "withheld"
    written = b"".join(files(run.path.parent).values())
    assert b"effusion" not in written and b"secret" not in written
    monkeypatch.setenv("OPENAI_API_URL", "http://93.184.216.34/v1")
    with pytest.raises(UserError, match="PhysioNet"):
        again(run.path, "--judge", "openai:m")


def test_replies_on_another_machine(harness, again, judge_server):
    run, _ = harness(["an effusion", "mass"], ["judge_private"], judge="")
    withheld.withheld_replies_path().unlink()
    printed = again(run.path, "--judge", "local:m", status=1)
    record = harness.rows(only(run.path.parent), "judge_private")[0]["questions"]["judgement"]
    assert record["verdicts"][0][0]["reason"] == "reply not on this machine"
    assert judge_server.requests == []
    assert "Still to judge: judge_private (2)" in printed and "missing 2: reply not on this machine" in printed


def test_what_a_rule_settled_stays_where_the_reply_is_on_another_machine(harness, again, judge_server):
    run, _ = harness(["Effusion", "mass"], ["judge_private"], judge="")
    withheld.withheld_replies_path().unlink()
    printed = again(run.path, "--judge", "local:m", status=1)
    rows = harness.rows(only(run.path.parent), "judge_private")
    given = [row["questions"]["judgement"]["verdicts"][0][0] for row in rows[:2]]
    assert [each["status"] for each in given] == ["exact", "missing"]
    assert rows[0]["correctness"]["score"] == 5.0
    assert judge_server.requests == []
    assert "missing 1: reply not on this machine" in printed


def test_a_stop_between_the_files_is_mended(failing, again, monkeypatch):
    """The logs are replaced first; a run stopped before the results are replaced is finished by the next."""
    from lmms_medtasks.harness import rescoring

    names = {path.name for path in failing.path.parent.iterdir()}
    original = rescoring.write_bytes_atomically

    def stopped(path, content):
        if path.name.endswith("_results.json"):
            raise KeyboardInterrupt
        original(path, content)

    monkeypatch.setattr(rescoring, "write_bytes_atomically", stopped)
    again(failing.path, status=130)
    assert only(failing.path.parent).tasks["judge_open"]["missing_judgements,trials"] == 2
    monkeypatch.setattr(rescoring, "write_bytes_atomically", original)
    again(failing.path)
    assert only(failing.path.parent).tasks["judge_open"]["missing_judgements,trials"] == 0
    assert {path.name for path in failing.path.parent.iterdir()} == names


def test_a_folder_that_cannot_be_written(failing, again, tmp_path, judge_server):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"can't be written \(.*file is a file\).*verdicts are kept"):
        again(failing.path, "-o", tmp_path / "file" / "new")
    judge_server.reset()
    again(failing.path, "-o", tmp_path / "new")
    assert judge_server.requests == []


def test_a_full_disk_is_not_said_to_have_kept_verdicts(failing, again, tmp_path, judge_server, monkeypatch):
    """Neither the cache nor the results can be written: the message counts what is lost, and it is asked again."""

    class Full:
        """A connection to the cache on a disk without room."""

        def __init__(self, base):
            self._base = base

        def execute(self, statement, values=()):
            if statement.startswith("INSERT OR REPLACE"):
                raise OSError(errno.ENOSPC, "No space left on device")
            return self._base.execute(statement, values)

        def close(self):
            self._base.close()

    connect = database.connect_database
    monkeypatch.setattr(database, "connect_database", lambda *arguments: Full(connect(*arguments)))
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"can't be written \(.*file is a file\)") as error:
        again(failing.path, "-o", tmp_path / "file" / "new")
    asked = len(judge_server.requests)
    assert asked and f" {asked} verdicts could not be kept" in str(error.value)
    assert "are kept" not in str(error.value)
    monkeypatch.setattr(database, "connect_database", connect)
    judge_server.reset()
    again(failing.path, "-o", tmp_path / "new")
    assert judge_server.requests  # asked again, as it said


def test_a_broken_log(failing, again):
    log = failing.samples_file("judge_open")
    log.write_bytes(log.read_bytes()[:-20])
    with pytest.raises(UserError, match="samples_judge_open.jsonl, line 8: broken or cut off"):
        again(failing.path)


def test_an_unknown_task(failing, again):
    with pytest.raises(UserError, match="'judge_opn' is not judged in this run. Judged: judge_more, judge_open"):
        again(failing.path, "--task", "judge_opn")
