"""``lmms-medtasks reread``: replies of runs of the real harness, read again from logs that an older release could have
written."""

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lmms_medtasks.cli.app import build_app
from lmms_medtasks.record import EARLIER
from lmms_medtasks.samples import result_files
from tests.stub_server import Answer, Server, Stub, letters

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
CHOICE, TRIALS, OPEN, NOISY = "med_cmr_mcq", "medq_deg_l1", "med_cmr_open", "med_cmr_mcq@gaussian_noise.2"
GROUP = f"""
group: letters
task: [{CHOICE}]
aggregate_metric_list:
  - metric: accuracy
    aggregation: !function lmms_medtasks.harness.scoring.group_mean
    filter_list: trials
metadata: {{version: 1.0}}
"""


@pytest.fixture(scope="module")
def made(harness_in, tmp_path_factory, stub_judge):
    """A run of a group, a task with trials, one with a judge, and a degraded one beside its clean one."""
    home = tmp_path_factory.mktemp("made")
    (home / "own").mkdir()
    (home / "own" / "letters.yaml").write_text(GROUP, "utf-8")
    model, judge = Server(Stub(rule=_reply)), stub_judge.Stub()
    judging = stub_judge.start(judge)
    given = f"model=tiny,base_url={model.stub.url},retries=0"
    done = harness_in(home)(
        *("--model", "medtasks_server", "--model_args", given, "--limit", "6"),
        *("--tasks", f"{TRIALS},{OPEN},letters,letters@gaussian_noise.2", "--include_path", str(home / "own")),
        MEDTASKS_JUDGE="openai:stub", OPENAI_API_URL=judge.url, OPENAI_API_KEY="sk-test",
    )  # fmt: skip
    model.end()
    done.home, done.own, done.judge = home / "home", home / "own", judge
    yield done
    judging.shutdown()
    judging.server_close()


def _reply(request):
    """Thoughts and a letter, or where no options are asked a sentence."""
    letter = letters(request, 1)[0].replace("D", "A")  # some questions have three options
    asks_letter = "Options" in str(request["messages"]) or "single letter" in str(request["messages"])
    return Answer(text=f"<think>Not D.</think> The answer is {letter}." if asks_letter else f"Finding {letter}.")


@pytest.fixture
def old(made, tmp_path, monkeypatch):
    """The folder of a copy of that run, with what else belongs to it set."""
    for name, value in {"MEDTASKS_HOME": made.home, "MEDTASKS_DATA": "mini"}.items():
        monkeypatch.setenv(name, str(value))
    shutil.copytree(made.run.path.parent, tmp_path / "old")
    return tmp_path / "old"


@pytest.fixture
def reread(tmp_path, made):
    """Call as reread(arguments..., status=0): what the command prints or says, and the new folder."""

    def call(*arguments, status=0, output="new", include_path=made.own):
        folder = tmp_path / output
        given = ["reread", *arguments, "--output", folder, "--include-path", include_path]
        done = CliRunner().invoke(build_app(), [*map(str, given)])
        said = str(done.exception) if status == 2 else done.output
        assert (2 if done.exception is not None else done.exit_code) == status, (done.output, done.exception)
        return said, folder

    return call


def run_of(folder):
    (path,) = result_files.list_result_files(folder)
    return result_files.read_result_file(path)


def rows_of(folder, task):
    return [row for _, row in run_of(folder).rows(task)]


def changed(folder, task, change):
    """Change the rows of a log in place."""
    path = run_of(folder).samples_file(task)
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    rows = change(rows) or rows
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def results_changed(folder, change):
    run = run_of(folder)
    change(run.content)
    run.path.write_text(json.dumps(run.content), "utf-8")


def aged(folder):
    """Make the run one of a release before, which could not read the first two questions."""

    def change(rows):
        for place, row in enumerate(rows):
            record = row["questions"]
            record["version"] = EARLIER
            record.pop("replies", None)
            if place < 2 and "judgement" not in record:
                record["trials"] = ["unreadable"] * len(record["trials"])
                for measure in record["measures"].values():
                    measure["score"] = 0.0

    for task in (CHOICE, TRIALS, OPEN, NOISY):
        changed(folder, task, change)

    def lower(content):
        for task in (CHOICE, TRIALS, NOISY, *content["groups"]):
            content["results"][task]["accuracy,trials"] = 0.0
            content["results"][task].pop("parse_rate,trials", None)
        for task in (CHOICE, TRIALS, NOISY):
            content["versions"][task] = content["configs"][task]["metadata"]["version"] = 0.5
            content["configs"][task]["metadata"]["digests"]["package"] = "old"

    results_changed(folder, lower)


def logs(folder):
    return {path.name: path.read_bytes() for path in folder.glob("*.jsonl")}


def same(one, other):
    """Whether two result files say the same, but for when they were read again."""
    return (
        len({json.dumps({**each.content, "reread": None}, sort_keys=True) for each in map(run_of, (one, other))}) == 1
    )


def test_where_today_s_readers_read_alike_nothing_moves(old, reread):
    printed, new = reread(old)
    assert printed.count("no reply moved, no numbers moved") == 4
    assert logs(new) == logs(old) and same(new, old)
    assert (new / "moved.csv").read_text("utf-8") == "task,id,trial,before,after,rule,reply\n"
    told = run_of(new).content["reread"][0]
    assert told["of"]["file"] == run_of(old).path.name and set(told["of"]["logs"]) == {CHOICE, TRIALS, OPEN, NOISY}
    _, again = reread(old, output="again")
    assert logs(again) == logs(new) and same(again, new)
    _, third = reread(new, output="third")
    assert len(run_of(third).content["reread"]) == 2


def test_an_old_log_is_read_with_what_moved(old, reread, made):
    aged(old)
    printed, new = reread(old)
    for task in (CHOICE, TRIALS, OPEN, NOISY):
        fresh, wanted = rows_of(new, task), made.samples(task)
        for row in (*fresh, *wanted):
            row["questions"].pop("replies", None)
        assert fresh == wanted  # trials, scores, verdicts, how pictures were degraded, the pairs of clean and degraded
    results = run_of(new)
    assert set(results.content["groups"]) == {"letters", "letters@gaussian_noise.2"}
    assert results.content["results"] == made.run.content["results"]
    assert results.content["groups"] == made.run.content["groups"]
    metadata = results.content["configs"][CHOICE]["metadata"]
    assert metadata["version"] == results.content["versions"][CHOICE] != 0.5
    assert metadata["digests"] == made.run.content["configs"][CHOICE]["metadata"]["digests"]
    assert results.content["configs"][NOISY] == made.run.content["configs"][NOISY]
    with (new / "moved.csv").open(encoding="utf-8", newline="") as file:
        moved = list(csv.DictReader(file))
    assert Counter(each["task"] for each in moved) == {CHOICE: 2, TRIALS: 6, NOISY: 2}
    assert [each["trial"] for each in moved if each["task"] == TRIALS] == ["1", "2", "3"] * 2
    assert {each["before"] for each in moved} == {"unreadable"}
    now = {(task, row["questions"]["id"]): row["questions"]["trials"] for task in (CHOICE, TRIALS, NOISY)
           for row in made.samples(task)}  # fmt: skip
    assert all(each["after"] == now[each["task"], each["id"]][int(each["trial"]) - 1] in set("ABCDE") for each in moved)
    assert all(each["reply"].startswith("<think>Not D.</think> The answer is ") for each in moved)
    assert printed.count("a metric since: parse_rate\n") == 3 and "no longer a metric" not in printed
    lines = [line.split() for line in printed.splitlines()]
    accuracy = made.run.tasks[TRIALS]["accuracy,trials"]
    assert ["accuracy", "0", f"{accuracy:.6g}", f"{accuracy:+.6g}"] in lines or accuracy == 0
    assert ["replies", "answered", "4", "6", "+2"] in lines and ["replies", "unreadable", "6", "0", "-6"] in lines


def test_verdicts_stay_where_the_judge_would_be_shown_the_same(old, reread, made, monkeypatch):
    def another(rows):
        rows[0]["questions"]["judgement"]["items"][0]["answer"] = "what an older reader took for the answer"

    aged(old)
    changed(old, OPEN, another)
    printed, new = reread(old)
    first, *others = [row["questions"]["judgement"] for row in rows_of(new, OPEN)]
    assert [each["status"] for each in first["verdicts"][0]] == ["missing"]
    assert others == [row["questions"]["judgement"] for row in made.samples(OPEN)[1:]]
    assert f"1 judgements were of another text and are missing now: lmms-medtasks judge {new}" in printed
    assert run_of(new).tasks[OPEN]["coverage,trials"] == pytest.approx(5 / 6)
    with (new / "moved.csv").open(encoding="utf-8", newline="") as file:
        (moved,) = [each for each in csv.DictReader(file) if each["task"] == OPEN]
    assert (moved["before"], moved["after"]) == ("judged", "not judged")

    monkeypatch.setenv("OPENAI_API_URL", made.judge.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    filled = CliRunner().invoke(build_app(), ["judge", str(new)])
    assert filled.exit_code == 0, filled.output
    assert run_of(new).tasks[OPEN] == made.run.tasks[OPEN]


def test_reports_and_boards_read_it_and_refuse_the_old_one_with_the_way_out(old, reread):
    aged(old)
    refused = CliRunner().invoke(build_app(), ["pack", str(old), "--output", str(old.parent / "packed.zip")])
    assert refused.exit_code and "lmms-medtasks reread RUN --output FOLDER" in f"{refused.output} {refused.exception}"
    _, new = reread(old)
    for command in (("report", new), ("compare", new, new), ("gate", new, new)):
        done = CliRunner().invoke(build_app(), [*map(str, command)])
        assert done.exit_code in (0, 3), (command, done.output, done.exception)
        assert "version 3" not in done.output
    done = CliRunner().invoke(build_app(), ["report", str(new), "--all"])
    assert "Replies of an earlier run, read again by lmms-medtasks" in " ".join(done.output.split())


def test_marks_of_thoughts_can_be_given_afterwards(old, reread):
    def thinking(rows):
        for row in rows:
            row.pop("resps", None)
            row["filtered_resps"] = ["PONDERING The answer is A. PONDERED B"]

    changed(old, CHOICE, thinking)
    tags = '[["PONDERING", "PONDERED"]]'
    _, new = reread(old, "--reasoning_tags", tags, "--task", CHOICE)
    run = run_of(new)
    assert set(run.content["configs"]) == {CHOICE} and set(run.tasks) == {CHOICE, "letters"}
    assert run.content["configs"][CHOICE]["metadata"]["changed_by_options"]["reasoning_tags"] == json.loads(tags)
    assert run.content["reread"][0]["reasoning_tags"] == json.loads(tags)
    assert {trial for row in rows_of(new, CHOICE) for trial in row["questions"]["trials"]} == {"B"}


def test_dry_run_writes_nothing(old, reread):
    aged(old)
    printed, new = reread(old, "--dry-run")
    assert f"{CHOICE}: 2 of 6 replies moved" in printed and not new.exists()


def _without_rows(folder):
    changed(folder, CHOICE, lambda rows: rows[1:])


def _unknown_question(folder):
    changed(folder, CHOICE, lambda rows: rows[0]["questions"].update(id="another"))


def _reply_more(folder):
    changed(folder, CHOICE, lambda rows: rows[0]["filtered_resps"].append("B"))


def _other_data(folder):
    results_changed(folder, lambda content: content["configs"][CHOICE]["metadata"].update(data_digest="other"))


def _no_log(folder):
    for path in folder.glob("*.jsonl"):
        path.unlink()


def _cut_off(folder):
    path = run_of(folder).samples_file(CHOICE)
    path.write_bytes(path.read_bytes()[:-20])


def _renamed(folder):
    path = run_of(folder).path
    path.write_text(path.read_text("utf-8").replace(CHOICE, "their_task"), "utf-8")
    for log in folder.glob(f"*_{CHOICE}*.jsonl"):
        log.rename(log.with_name(log.name.replace(CHOICE, "their_task")))


@pytest.mark.parametrize(
    ("change", "more", "said"),
    [
        (_without_rows, (), "5 rows, 6 questions were asked. Was the log edited?"),
        (_unknown_question, (), "1 of 6 questions are not in the data that are here, the first is 'another'"),
        (_reply_more, (), "the row has 2 replies, its record says what was read of 1"),
        (_other_data, (), "the run read data of digest other"),
        (_no_log, (), "without --log_samples"),
        (_cut_off, (), "line 6: broken or cut off"),
        (_renamed, (), "There is no task 'their_task'"),
        (None, ("--task", "medq_deg_l2"), "has no task 'medq_deg_l2' to be read again. It has: "),
        (None, ("--reasoning_tags", "<ponder>"), "is no JSON"),
        (None, ("--reasoning_tags", '["<ponder>"]'), "is no pair of marks"),
    ],
)
def test_what_can_t_be_read_again_is_one_message(old, reread, change, more, said):
    if change:
        change(old)
    message, new = reread(old, *more, status=2)
    assert said in message and not new.exists()


def test_the_others_of_a_run_with_a_task_that_can_t_be_read_are_named(old, reread):
    _other_data(old)
    message, _ = reread(old, status=2)
    assert message.endswith(f"The others can be read: --task {NOISY} --task {OPEN} --task {TRIALS}.")


def test_many_runs_at_once_and_where_they_go(old, reread, tmp_path):
    shutil.copytree(old, tmp_path / "runs" / "good" / "model")
    shutil.copytree(old, tmp_path / "runs" / "bad")
    _other_data(tmp_path / "runs" / "bad")
    message, new = reread(tmp_path / "runs", status=2)
    assert message.startswith("1 of 2 runs can't be read again.") and "data of digest other" in message
    assert [path.parent.relative_to(new) for path in result_files.list_result_files(new)] == [Path("good/model")]
    assert "is not empty" in reread(old, status=2)[0]
    assert "lies in" in reread(old, status=2, output="old/new")[0]
    _, two = reread(old, tmp_path / "runs" / "good", output="two")
    assert {path.parent.relative_to(two) for path in result_files.list_result_files(two)} == {
        Path("old"),
        Path("good/model"),
    }
    shutil.copytree(old, tmp_path / "other" / "old")
    assert "have one name" in reread(old, tmp_path / "other" / "old", status=2, output="three")[0]


def test_replies_that_terms_keep_out_of_the_log_and_a_subset(harness, reread, tmp_path, monkeypatch):
    done = harness(
        *("--model", "medtasks_random", "--tasks", "sure_mimic_age,medq_deg_l0"), MEDTASKS_SUBSET="4/1",
        MEDTASKS_JUDGE="none",
    )  # fmt: skip
    monkeypatch.setenv("MEDTASKS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MEDTASKS_DATA", "mini")
    folder, before = done.folder, done.samples("sure_mimic_age")

    def unread(rows):
        rows[0]["questions"]["trials"] = ["empty"]

    changed(folder, "sure_mimic_age", unread)
    printed, new = reread(folder)
    assert "sure_mimic_age: 1 of" in printed and "medq_deg_l0: no reply moved, no numbers moved" in printed
    assert rows_of(new, "sure_mimic_age")[0]["questions"]["trials"] == before[0]["questions"]["trials"]
    (row,) = csv.DictReader((next(new.rglob("moved.csv"))).open(encoding="utf-8", newline=""))
    assert row["reply"] == ""
    (tmp_path / "home" / "judge" / "withheld.sqlite").unlink()
    message, _ = reread(folder, status=2, output="elsewhere")
    assert "sure_mimic_age: " in message and "are not on this machine" in message and "--task medq_deg_l0" in message


def test_a_contributed_task(harness, reread, tmp_path, monkeypatch):
    done = harness("--model", "medtasks_random", "--include_path", str(EXAMPLES), "--tasks", "lesion_words")
    monkeypatch.setenv("MEDTASKS_HOME", str(tmp_path / "home"))
    printed, new = reread(done.folder, include_path=EXAMPLES)
    assert "lesion_words: no reply moved, no numbers moved" in printed
    assert same(new, done.folder)
    message, _ = reread(done.folder, status=2, output="elsewhere")
    assert "There is no task 'lesion_words'" in message and "--include-path FOLDER" in message
