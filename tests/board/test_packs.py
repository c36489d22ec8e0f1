"""Packs: nothing but scores in them, and what was tampered with is refused with what differs."""

import copy
import gzip
import json
import shutil

import pytest
import typer
from typer.testing import CliRunner

from lmms_medtasks.board import packing, packs
from lmms_medtasks.board.collect import collect_entries
from lmms_medtasks.board.packs import VERSION, entry_to_json
from lmms_medtasks.cli import pack as command
from lmms_medtasks.cli.app import build_app as app
from lmms_medtasks.errors import UserError
from lmms_medtasks.suites import registry
from tests.board.trust.submissions import SIGNED, TASK, signed_again

ANSWERS = {"q1": "AAA", "q2": "AAB", "q3": "B-!", "q4": "AAA"}


@pytest.fixture
def packed(tmp_path, runs):
    """A pack's content, and what writes one after a change of it."""
    tasks = {TASK: runs.choice_rows(ANSWERS), "med_cmr_open": runs.judged_rows({"o1": 60.0, "o2": None})}
    runs.write(tmp_path / "run", tasks, metadata={"judge": runs.JUDGE}, harness="0.7.3")
    board = collect_entries([tmp_path / "run"])
    return packing.make_submission(board.entries, SIGNED)


def written(content, tmp_path, name="entry.json"):
    path = tmp_path / "packs" / name
    packing.write_submission(content, path)
    return path


@pytest.mark.parametrize("name", ["entry.json", "entry.json.gz"])
def test_a_pack_gives_the_same_entries_as_its_run(packed, tmp_path, name):
    path = written(packed, tmp_path, name)
    board = collect_entries([tmp_path / "packs"])
    assert not board.refused
    for one, other in zip(collect_entries([tmp_path / "run"]).entries, board.entries, strict=True):
        assert entry_to_json(one) == entry_to_json(other)
        assert (one.metrics, one.counts) == (other.metrics, other.counts) and one.metrics
        assert [problem.code for problem in one.problems] == [problem.code for problem in other.problems]
        assert (other.source.kind, other.source.results, other.source.signed_off_by) == ("pack", path, SIGNED)


def test_no_text_and_no_path_is_in_a_pack(packed, tmp_path):
    text = json.dumps(packed)
    for part in ("prompt of", "reply ", "answer to", "reference text", "long text", "secret", str(tmp_path)):
        assert part not in text
    assert "image 1" in text and "q1" in text
    assert set(packed["entries"][0]["sources"]) == {
        "20260101_000000_results.json", "20260101_000000_samples_med_cmr_open.jsonl",
    }  # fmt: skip
    assert packing.make_submission(collect_entries([tmp_path / "run"]).entries, SIGNED) == packed


def change(content, task, *keys, to):
    (entry,) = [each for each in content["entries"] if each["task"] == task]
    for key in keys[:-1]:
        entry = entry[key]
    entry[keys[-1]] = to(entry[keys[-1]]) if callable(to) else to


@pytest.mark.parametrize(
    ("keys", "to", "said"),
    [
        (("asked", "parsed"), 400, "it has parsed; expected nothing but original, effective"),
        (("model", "rank"), 1, "it has rank; expected nothing but"),
        (("answers", "accuracy.score", "mean"), 0.9, "expected values and codes of a column"),
        (("answers", "accuracy.score", "values"), [1.0, 1.0, 1.0], "its trials give 0.666666666666667"),
        (("answers", "accuracy.score", "codes"), [1, 1, 1, 1], "its trials give 0.666666666666667"),
        (("answers", "accuracy.score", "codes"), [9, 1, 1, 1], "codes from 0 to 3 expected"),
        (("answers", "accuracy.score", "codes"), lambda old: old[:-1], "3 codes"),
        (
            ("answers", "acuracy.score"),
            {"values": [], "codes": [0] * 4},
            "declares nothing that has the columns acuracy.score",
        ),
        (("answers", "trials"), {"values": [], "codes": [0] * 4}, "expected what was read from each reply"),
        (("model", "name"), "a better one", "its content was changed after it was packed"),
        (("harness",), "0.9", "its content was changed after it was packed"),
        (("model",), {"name": "x"}, "not in the form of a pack"),
        (("asked",), None, "not in the form of a pack"),
        (("settings",), "x", "expected a mapping of such texts"),
        (("questions",), "0" * 64, "its questions are not in the pack"),
    ],
)
def test_a_tampered_pack_is_refused_with_what_differs(packed, tmp_path, keys, to, said):
    content = copy.deepcopy(packed)
    change(content, TASK, *keys, to=to)
    path = written(content, tmp_path)
    with pytest.raises(UserError) as error:
        packs.read_submission(path)
    assert said in str(error.value)
    board = collect_entries([path])
    assert not board.entries
    assert [problem.code for problem in board.refused] == ["bad_pack"]


def test_new_checksums_do_not_hide_scores_that_the_trials_do_not_give(packed, tmp_path):
    content = copy.deepcopy(packed)
    change(content, TASK, "answers", "accuracy.score", to={"values": [1.0], "codes": [1, 1, 1, 1]})
    with pytest.raises(UserError, match="accuracy of question 'q2' is 1, its trials give 0.666666666666667"):
        packs.read_submission(written(signed_again(content), tmp_path))


def test_scores_outside_their_scale_are_refused(packed, tmp_path):
    content = copy.deepcopy(packed)
    task = "med_cmr_open"
    change(content, task, "answers", "total.score", "values", to=[160.0])
    with pytest.raises(UserError, match="total of question 'o1' is 160, outside its scale from 0 to 100"):
        packs.read_submission(written(signed_again(content), tmp_path))


def test_questions_that_were_changed_are_refused(packed, tmp_path):
    content = copy.deepcopy(packed)
    next(iter(content["questions"].values()))["ids"][0] = "a0"
    with pytest.raises(UserError, match="ids, images or tags were changed"):
        packs.read_submission(written(signed_again(content), tmp_path))


@pytest.mark.parametrize("kept", [0.5, 0.99])
@pytest.mark.parametrize("name", ["entry.json", "entry.json.gz"])
def test_a_pack_that_is_cut_off(packed, tmp_path, name, kept):
    path = written(packed, tmp_path, name)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * kept)])
    with pytest.raises(UserError, match="cut off or damaged"):
        packs.read_submission(path)
    assert [problem.code for problem in collect_entries([tmp_path / "packs"]).refused] == ["bad_pack"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"version": 4}, rf"version 4; expected .*, version {VERSION}\. .*lmms-medtasks pack RUN .* repack RUNS"),
        ({"metrics": {"accuracy": 1.0}}, "it has metrics; expected nothing but format, version"),
        ({"version": VERSION + 1}, f"version {VERSION + 1}; expected"),
        ({"signed_off_by": ""}, "nobody signed"),
        ({"signed_off_by": "Eve <eve@example.org>"}, "changed after it was packed"),
        ({"entries": []}, "has no entries"),
    ],
)
def test_the_head_of_a_pack(packed, tmp_path, change, said):
    with pytest.raises(UserError, match=said):
        packs.read_submission(written({**packed, **change}, tmp_path))


def test_other_json_files_are_no_packs(tmp_path, packed):
    written(packed, tmp_path)
    (tmp_path / "packs" / "package.json").write_text("{}")
    (tmp_path / "packs" / "other.json.gz").write_bytes(b"no gzip")
    assert [path.name for path in (tmp_path / "packs").iterdir() if packs.is_pack(path)] == ["entry.json"]


@pytest.mark.parametrize("signed", ["", "Ada", "ada@example.org", "Ada <ada>", "Ada <a@b.org> and more"])
def test_somebody_must_sign(tmp_path, runs, signed):
    board = collect_entries([runs.write(tmp_path, {TASK: runs.choice_rows(ANSWERS)})])
    with pytest.raises(UserError, match="--signed-off-by"):
        packing.make_submission(board.entries, signed)


def invoke(*arguments):
    app = typer.Typer()
    app.command()(command.pack)
    return CliRunner().invoke(app, [str(each) for each in arguments])


def test_the_command_packs_and_checks(tmp_path, runs):
    runs.write(tmp_path / "run", {TASK: runs.choice_rows(ANSWERS)})
    runs.write(tmp_path / "other", {TASK: runs.choice_rows({**ANSWERS, "q1": "BBB"})})
    target = tmp_path / "packs" / "entry.json.gz"
    result = invoke(tmp_path / "run", "-o", target, "--signed-off-by", SIGNED)
    assert result.exit_code == 0, result.output
    assert invoke(target, "--check").exit_code == 0
    assert invoke(tmp_path / "packs", "--check", "--against", tmp_path / "run").exit_code == 0
    result = invoke(target, "--check", "--against", tmp_path / "other")
    assert result.exit_code == 1
    assert "not those of" in result.stdout and "answers" in result.stdout
    content = json.loads(gzip.decompress(target.read_bytes()))
    content["entries"][0]["metrics"] = {"accuracy": {"mean": 0.99, "n": 4}}
    packing.write_submission(content, target)
    result = invoke(tmp_path / "packs", "--check")
    assert (result.exit_code, "refused: " in result.stdout) == (1, True)


def test_what_could_not_be_packed_is_told_by_the_status(tmp_path, runs):
    rows = runs.choice_rows(ANSWERS)
    runs.write(tmp_path / "run", {TASK: rows, "nobodys_task": rows})
    result = invoke(tmp_path / "run", "-o", tmp_path / "e.json", "--signed-off-by", SIGNED)
    assert result.exit_code == 1
    assert "nobodys_task is none of the tasks" in result.output
    assert packs.read_submission(tmp_path / "e.json")[0].task == TASK


def test_all_runs_below_a_folder_are_packed_anew_one_file_each(tmp_path, runs):
    rows = runs.choice_rows(ANSWERS)
    runs.write(tmp_path / "runs" / "a", {TASK: rows})
    runs.write(tmp_path / "runs" / "a", {TASK: rows}, date="20260102_000000")
    runs.write(tmp_path / "runs" / "b" / "c", {TASK: rows, "nobodys_task": rows}, model="model-b")
    broken = runs.write(tmp_path / "runs" / "d", {TASK: rows})
    old = tmp_path / "new" / "a" / "20260101_000000.json.gz"
    old.parent.mkdir(parents=True)
    old.write_bytes(b"of version 4")

    def repacked(folder, output="new", signed=SIGNED):
        asked = ["leaderboard", "repack", folder, "-o", tmp_path / output, "--signed-off-by", signed]
        return CliRunner().invoke(app(), list(map(str, asked)))

    assert repacked(tmp_path / "runs" / "d").exit_code == 0
    broken.write_text("{}", "utf-8")
    result = repacked(tmp_path / "runs")
    assert result.exit_code == 1 and not result.stdout
    assert "4 of 4: " in result.stderr and f"refused: No task of {broken} can be packed." in result.stderr
    assert "nobodys_task is none of the tasks" in result.stderr
    names = [f"{each}_000000.json.gz" for each in ("20260101", "a/20260101", "a/20260102", "b/c/20260101")]
    assert sorted(path.relative_to(tmp_path / "new").as_posix() for path in (tmp_path / "new").rglob("*.gz")) == names
    assert [packs.read_submission(tmp_path / "new" / name)[0].model.name for name in names[1:]] == [
        "model-a",
        "model-a",
        "model-b",
    ]
    for asked, said in (
        (("new",), "No *_results.json"), (("runs", "new", "Ada"), "--signed-off-by"),
        (("runs", "runs/d/20260101_000000_results.json"), "can't be written"),
    ):  # fmt: skip
        error = repacked(tmp_path / asked[0], *asked[1:]).exception
        assert isinstance(error, UserError) and said in str(error)


@pytest.mark.parametrize("name", ["x.txt", "x_results.json"])
def test_names_that_would_not_be_found_again(tmp_path, runs, name):
    runs.write(tmp_path / "run", {TASK: runs.choice_rows(ANSWERS)})
    result = invoke(tmp_path / "run", "-o", tmp_path / name, "--signed-off-by", SIGNED)
    assert isinstance(result.exception, UserError)


@pytest.mark.parametrize(
    ("keys", "to"),
    [
        (("suite",), 5), (("task",), ["a"]), (("task",), "\x1b[31m"), (("version",), 1.0), (("data_digest",), None),
        (("digests",), ["x"]), (("digests",), {"package": {}}), (("settings",), [1]),
        (("asked", "original"), "x"), (("asked",), [1]), (("model", "name"), "\ud800"),
        (("judge",), {"name": 5}), (("questions",), ["x"]), (("answers",), [1]),
        (("answers", "accuracy.score"), 1),
        (("answers", "accuracy.score", "codes"), [10**30] * 4),
        (("answers", "accuracy.score", "values"), [10**400] * 3),
        (("answers", "trials", "values"), ["A"] * 4), (("answers", "trials", "values"), [[1]] * 4),
        (("answers", "severity"), {"values": [1], "codes": [1] * 4}),
    ],
)  # fmt: skip
def test_values_of_another_kind_are_refused_and_the_rest_is_built(packed, tmp_path, keys, to):
    change(packed, TASK, *keys, to=to)
    path = written(signed_again(packed), tmp_path)
    board = collect_entries([path, tmp_path / "run"])
    assert [problem.code for problem in board.refused] == ["bad_pack"] and board.entries


@pytest.mark.parametrize("number", ["NaN", "1e999"])
def test_numbers_that_are_none_are_refused(packed, tmp_path, number):
    path = written(packed, tmp_path)
    path.write_text(path.read_text().replace('"values":[', f'"values":[{number},', 1))
    assert [problem.code for problem in collect_entries([path]).refused] == ["bad_pack"]


@pytest.mark.parametrize(
    ("name", "to"),
    [("tags", ["severity"]), ("columns", [1]), ("columns", {}), ("ids", ["q2", "q1"]), ("ids", [1])],
)
def test_questions_of_another_form_are_refused(packed, tmp_path, name, to):
    for questions in packed["questions"].values():
        questions[name] = to
    assert [problem.code for problem in collect_entries([written(signed_again(packed), tmp_path)]).refused] == [
        "bad_pack"
    ]


def test_a_task_that_is_not_known_here_is_refused_with_the_way_out(packed, tmp_path):
    change(packed, TASK, "task", to="own_task")
    board = collect_entries([written(signed_again(packed), tmp_path)])
    (problem,) = [problem for problem in board.refused if problem.task == "own_task"]
    assert problem.code == "unknown_task" and "--include_path" in problem.reason


OWN = """
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.suites.suite import Measure, Metric, Suite

SUITE = Suite(
    name="packed_own", title="Own", cluster="image", measures=(Measure("stars", low=1, high=5, unit="stars"),),
    metrics=(Metric("stars", Mean(measure="stars"), main=True),), tasks={"task": ("stars",)},
)
"""


def test_a_benchmark_with_measures_of_its_own_is_packed_and_checked_once_its_folder_is_given(
    tmp_path, runs, monkeypatch
):
    monkeypatch.setattr(registry, "_GIVEN", {})
    folder = tmp_path / "packed_own"
    folder.mkdir()
    (folder / "measures.py").write_text(OWN, "utf-8")
    (folder / "packed_own_task.yaml").write_text("task: packed_own_task\n", "utf-8")
    rows = runs.choice_rows({"q1": "A", "q2": "A"})
    for row, stars in zip(rows, (2.0, 5.0), strict=True):
        row["questions"]["measures"] = {"stars": {"score": stars}}
        row["stars"] = {"score": stars}
        del row["accuracy"]
    runs.write(tmp_path / "run", {"packed_own_task": rows}, metadata={"benchmark": "packed_own"})
    target = tmp_path / "entry.json"
    arguments = (tmp_path / "run", "-o", target, "--signed-off-by", SIGNED)
    result = invoke(*arguments)
    assert isinstance(result.exception, UserError) and "--include_path" in result.output
    assert invoke(*arguments, "--include_path", folder).exit_code == 0
    (entry,) = packs.read_submission(target)
    assert (entry.interval("stars").estimate, entry.scale("stars").unit) == (3.5, "stars")
    assert invoke(target, "--check", "--include_path", folder).exit_code == 0
    base, entries = tmp_path / "base", tmp_path / "entries"
    base.mkdir()
    shutil.copytree(target.parent / "run", entries / "ada" / "run")
    verify = ("verify", entries, "--against", entries, "--level", "run by the board", "-o", tmp_path / "v.yml")
    for asked in (("check", entries, "--base", base, "--account", "ada"), verify):
        monkeypatch.setattr(registry, "_GIVEN", {})
        without = CliRunner().invoke(app(), ["leaderboard", *map(str, asked)])
        assert without.exit_code == 1 and "--include_path" in without.output
        found = CliRunner().invoke(app(), ["leaderboard", *map(str, asked), "--include_path", str(folder)])
        assert found.exit_code == 0, found.output
