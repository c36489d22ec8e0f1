"""Files that hang, fill the memory or lead elsewhere are refused with the reason; the rest of the board is built."""

import gzip
import json
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from lmms_medtasks.board import checks, columns
from lmms_medtasks.board.collect import collect_entries
from lmms_medtasks.board.packs import questions_from_json
from lmms_medtasks.board.site.write_site import SiteOptions, build_site
from lmms_medtasks.board.trust import limits, safe_files
from lmms_medtasks.errors import UserError
from tests.board.trust.submissions import HONEST, PERFECT, TASK, ranked

HEAD = b'{"format": "lmms-medtasks pack", "version": 5, "signed_off_by": "a@b.org", '
READ = """
import resource, sys, time
from pathlib import Path
from lmms_medtasks.board.collect import collect_entries
before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
(problem,) = collect_entries([Path(sys.argv[1])]).problems
used = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
print(used, round(time.monotonic() - start, 1), problem.reason)
"""


def refused(board):
    """Code and reason of the one thing that is refused, where the honest entry is ranked."""
    assert ranked(board) == ["honest/model"]
    (problem,) = board.refused
    return problem.code, problem.reason


def test_a_bomb_of_150_mb_takes_little_memory(tmp_path):
    """It took 3.8 GB and 45 s. What is unpacked is read in blocks up to the limit, and no list is built."""
    with gzip.open(tmp_path / "bomb.json.gz", "wb", 1) as file:
        file.write(HEAD + b'"questions": [')
        for _ in range(50):
            file.write(b"[]," * 10**6)
        file.write(b"[]]}")
    done = subprocess.run(
        [sys.executable, "-c", READ, str(tmp_path)], capture_output=True, text=True, check=True, timeout=60
    )
    used, seconds, reason = done.stdout.split(" ", 2)
    assert "unpacked" in reason and int(used) < 250 and float(seconds) < 20, done.stdout


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (gzip.compress(b"", mtime=0) * 100_000, "more behind its gzip member"),  # a pack of such took 43 s to read
        (gzip.compress(b"{}", mtime=0) * 2, "more behind its gzip member"),
        (gzip.compress(b"{}", mtime=0) + b"\0", "more behind its gzip member"),
        (gzip.compress(b"{}", mtime=0)[:-9], "within a gzip member"),
        (gzip.compress(b"{}", mtime=0)[:-8] + bytes(8), "damaged"),
        (b"{}", "damaged"),
        (b"", "within a gzip member"),
    ],
)
def test_a_packed_file_is_one_gzip_member(tmp_path, content, said):
    path = tmp_path / "e.json.gz"
    path.write_bytes(content)
    with pytest.raises(UserError, match=said):
        safe_files.content_of(path)
    for size in (2, 2**20 + 7):
        path.write_bytes(gzip.compress(b"7" * size))
        assert safe_files.content_of(path) == b"7" * size


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (b'"x": ' + b"[" * 990 + b"]" * 990 + b"}", "lists inside each other"),
        (b'"x": ' + b"[" * 100_000, "lists inside each other"),
        (b'"x": [' + b"[]," * 1_000_001 + b"[]]}", "lists and mappings"),
        (b'"x": [' + b"0," * 8_000_001 + b"0]}", "values; at most 8,000,000"),
        (b'"x": ' + b"9" * 5_000 + b"}", "a number of more than 25 digits"),
        (b'"x": 1e999}', "beyond what a number can be"),
        (b'"x": NaN}', "NaN is no number"),
        (b'"x": -Infinity}', "-Infinity is no number"),
        (b'"x": 1, "x": 2}', "the key 'x' stands twice"),
        (b'"x": "\xff\xfe"}', "cut off or damaged ('utf-8' codec"),
        (b'"sha256": "' + b"\\\\" * 100 + b'[[[[[[[[[[[[[[[[[[[["}', "has no entries"),
    ],
    ids=["deep", "open", "lists", "values", "digits", "huge", "nan", "infinity", "twice", "utf-8", "text"],
)  # fmt: skip
def test_json_beyond_the_limits(submissions, more, said):
    submissions.pack("h.json")
    (submissions.folder / "e.json").write_bytes(HEAD + more)
    code, reason = refused(submissions.board())
    assert code == "bad_pack" and said in reason and len(reason) < 600


@pytest.mark.parametrize(
    "make", [lambda path: os.symlink("/dev/zero", path), os.mkfifo, lambda path: os.symlink(path, path)]
)
@pytest.mark.parametrize("name", ["e.json", "e.json.gz", "e_results.json"])
def test_what_is_no_regular_file_is_not_opened(submissions, make, name):
    submissions.pack("h.json")
    make(submissions.folder / name)
    code, reason = refused(submissions.board())
    assert code == "unreadable" and name in reason


def test_links_out_of_the_folder_are_not_followed(submissions, tmp_path):
    submissions.pack("h.json")
    submissions.pack("../outside/secret.json", PERFECT, "outside/model")
    os.symlink(tmp_path / "outside" / "secret.json", submissions.folder / "e.json")
    os.symlink(tmp_path / "outside", submissions.folder / "folder")
    code, reason = refused(submissions.board())
    assert code == "unreadable" and "leads out of the folder" in reason


def test_a_run_whose_log_lies_elsewhere_or_is_one_endless_line_is_refused(submissions, runs, monkeypatch):
    submissions.pack("h.json")
    path = runs.write(submissions.folder / "run", {TASK: runs.choice_rows(PERFECT)}, model="evil/m")
    log = path.with_name(f"20260101_000000_samples_{TASK}.jsonl")
    log.rename(submissions.folder.parent / "log")
    os.symlink(submissions.folder.parent / "log", log)
    assert "leads out" in refused(submissions.board())[1]
    log.unlink()
    log.write_bytes(b"x" * (limits.load_limits()["line_bytes"] + 1))
    assert "line 1: more than 16,777,216 bytes" in refused(submissions.board())[1]


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda entry: entry["settings"].update(x="y" * 5_000), "5,000 characters in one text"),
        (
            lambda entry: entry.update(settings={str(number): "x" for number in range(1_001)}),
            "1,001 values in settings",
        ),
        (
            lambda entry: entry["answers"]["trials"].update(values=[["A"] * 1_001], codes=[1] * 12),
            "replies to a question",
        ),
        (lambda entry: entry.update(harness="9" * 4_001), "4,001 characters"),
        (lambda entry: entry.update(version=" "), "the version is empty"),
    ],
)
def test_names_and_texts_have_lengths(submissions, edit, said):
    submissions.pack("h.json")
    submissions.pack("e.json", PERFECT, "evil/m", edit=edit)
    code, reason = refused(submissions.board())
    assert code == "bad_pack" and said in reason


def test_a_file_name_that_a_terminal_would_run_is_made_visible(submissions, tmp_path):
    from typer.testing import CliRunner

    from lmms_medtasks.cli.app import build_app

    (submissions.folder / "e\x1b[2J\u202egpj.json").write_bytes(HEAD)
    site = str(tmp_path / "site")
    result = CliRunner().invoke(
        build_app(), ["leaderboard", "build", str(submissions.folder), "-o", site, "--no-reports", "--no-cache"]
    )
    assert result.exit_code == 1 and "e\ufffd[2J\ufffdgpj.json" in result.output
    assert not {"\x1b", "\u202e"} & set(result.output)
    for page in ("index.html", "data/overview/problems.csv"):
        text = (tmp_path / "site" / page).read_text("utf-8").replace("<wbr>", "")
        assert "e\ufffd[2J\ufffdgpj.json" in text and not {"\x1b", "\u202e"} & set(text), page


def test_a_folder_of_too_many_files_is_told(tmp_path, monkeypatch):
    for number in range(3):
        (tmp_path / f"{number}.txt").touch()
    few = {**limits.load_limits(), "files": 2}
    monkeypatch.setattr("lmms_medtasks.board.trust.safe_files.load_limits", lambda: few)
    with pytest.raises(UserError, match="more than 2 files"):
        collect_entries([tmp_path])


@pytest.mark.parametrize("name", ["a/b", "../../etc/passwd", "x" * 300, "a\0b", "\ud800"])
def test_a_task_that_no_log_can_be_called_by_is_refused(submissions, runs, name):
    """A slash or 300 characters in the name of a contributed task ended the build."""
    submissions.pack("h.json")
    path = runs.write(
        submissions.folder / "run", {"its_task": runs.choice_rows(PERFECT)}, model="evil/m",
        metadata={"template": "multiple_choice", "benchmark": "mine"},
    )  # fmt: skip
    path.write_text(path.read_text("utf-8").replace("its_task", json.dumps(name)[1:-1]), "utf-8")
    code, reason = refused(submissions.board())
    assert code in ("unreadable", "no_samples") and len(reason) < 600


def test_half_of_a_surrogate_pair_in_a_log_is_refused(submissions, runs):
    submissions.pack("h.json")
    path = runs.write(submissions.folder / "run", {TASK: runs.choice_rows(PERFECT)}, model="evil/m")
    log = path.with_name(f"20260101_000000_samples_{TASK}.jsonl")
    log.write_text(log.read_text("utf-8").replace('"CT"', '"\\ud800"'), "utf-8")
    code, reason = refused(submissions.board())
    assert code == "broken_log" and log.name in reason


def many(submissions, count, edit):
    """A pack of so many questions, all right, in a few hundred kilobytes; ``edit`` gets the ids and the answers."""
    content = submissions.content(name="evil/m")
    (questions,), entry = content["questions"].values(), content["entries"][0]
    questions["ids"] = [f"q{number:07}" for number in range(count)]
    for column in (*questions["columns"].values(), *entry["answers"].values()):
        column["codes"] = [1] * count
    edit(questions["ids"], entry["answers"])
    entry["questions"] = questions_from_json(questions, "").digest
    content["questions"] = {entry["questions"]: questions}
    submissions.write("e.json.gz", content)
    return submissions.board()


def test_one_long_id_does_not_make_all_of_them_long_in_memory(submissions):
    """100,000 ids of which one has 4,000 characters were 228 kB of pack, and 6.3 GB of arrays."""

    def edit(ids, _):
        ids[-1] = "z" * 4_000

    submissions.pack("h.json")
    code, reason = refused(many(submissions, 20_000, edit))
    assert code == "bad_pack" and "80,000,000 characters in its ids" in reason


def test_a_reply_list_that_a_million_questions_share_is_counted_as_often(submissions):
    """1,000 replies to each of 100,000 questions were 228 kB of pack, 1.9 GB of memory and 49 s."""
    submissions.pack("h.json")
    board = many(submissions, 10_000, lambda _, answers: answers["trials"].update(values=[["A"] * 1_000]))
    code, reason = refused(board)
    assert code == "bad_pack" and "10,000,000 replies; at most 8,000,000" in reason


def test_a_coded_column_is_made_compact_without_writing_it_out():
    """2 GB and more of text in a column can't be written out at all."""
    values = pa.array(["unused", "b" * 4_000, "a", "a"])
    codes = pa.array(np.array([2, 3, *[1] * 599_998]), pa.int8())
    found = columns.dictionary_encode(pa.DictionaryArray.from_arrays(codes, values))
    assert found.dictionary.to_pylist() == ["a", "b" * 4_000]
    assert found.indices[:4].to_pylist() == [0, 0, 1, 1] and len(found) == 600_000


def test_a_reason_has_a_length_whatever_name_is_in_it(submissions):
    submissions.pack("h.json")
    submissions.pack(
        "e.json", edit=lambda entry: entry["answers"].update({"x" * 10**6: {"values": [], "codes": [0] * 12}})
    )
    assert len(refused(submissions.board())[1]) < 1_100


def test_entries_of_one_model_name_a_few_of_each_other(submissions):
    """What each of 500 entries says of 499 others took 15 MB of pages, of 5,000 a hundred times that."""
    for number in range(8):
        submissions.pack(f"{number}.json", {**HONEST, "q01": "A" * (number + 1)})
    reasons = [each.reason for each in submissions.board().problems if each.code == "several_entries"]
    assert len(reasons) == 8 and all(" and 4 more. Which counts" in each for each in reasons)


@pytest.mark.parametrize(("original", "effective"), [(60, None), (None, 60), (True, 60), (60, -1)])
def test_half_of_a_count_is_refused_and_takes_nobody_along(submissions, runs, original, effective):
    """A board of a hundred entries was not built: "Only None of 60 questions were asked"."""
    submissions.pack("h.json")
    counts = {"original": original, "effective": effective}
    submissions.pack("o.json", name="other/model", edit=lambda entry: entry["asked"].update(counts))
    results = runs.write(submissions.folder / "run", {TASK: runs.choice_rows(HONEST)}, model="run/model")
    content = json.loads(results.read_text("utf-8"))
    results.write_text(json.dumps({**content, "n-samples": {TASK: counts}}), "utf-8")
    board = submissions.board()
    assert ranked(board) == ["honest/model"]
    assert sorted(each.code for each in board.refused) == ["bad_pack", "unreadable"]


def test_an_entry_that_can_not_be_checked_takes_nobody_along(submissions, monkeypatch):
    submissions.pack("h.json")
    submissions.pack("o.json", name="other/model")
    for name in ("own_problems", "problems_beside"):
        found = getattr(checks, name)

        def fails(entry, *more, found=found):
            return found(entry, *more) if entry.model.name == "honest/model" else [][0]

        with monkeypatch.context() as patch:
            patch.setattr(checks, name, fails)
            board = submissions.board()
        assert ranked(board) == ["honest/model"]
        (refused,) = board.refused
        assert refused.code == "bad_pack" and "It can't be checked (IndexError" in refused.reason


def with_tag(name, values=("x", "y")):
    codes = [1 + row % len(values) for row in range(len(HONEST))]
    return lambda columns: columns.update({name: {"values": list(values), "codes": codes}})


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (with_tag("data\0\1expected"), "'data\\x00\\x01expected' has characters in its name"),
        (with_tag("visit evil.example"), "medq_deg has no tag visit evil.example"),
        (with_tag("accuracy.low", (1.0,)), "medq_deg has no tag accuracy.low"),
        (with_tag("pair", (1, 2)), "pair: a value is no text that can be shown"),
        (with_tag("expected", (1,)), "expected: a value is no text that can be shown"),
    ],
    ids=["unseen", "invented", "number", "pair", "expected"],
)
def test_tags_are_those_of_the_columns_and_of_the_benchmark(submissions, edit, said):
    """The digest, and so the pin, is of the columns; a pack lists no tags beside them."""
    submissions.pack("Ada/h.json")
    submissions.pack_asked("Ben/o.json", edit)
    board = submissions.board(submissions.owned())
    assert ranked(board) == ["honest/model"]
    (refused,) = board.refused
    assert refused.code == "bad_pack" and said in refused.reason


@pytest.mark.parametrize(("tag", "value"), [("modality", 1.5), ("option_count", "many")])
def test_tags_of_another_kind_end_no_build_where_nothing_is_pinned(submissions, runs, tmp_path, tag, value):
    submissions.pack("Ada/h.json")
    rows = runs.choice_rows(dict.fromkeys(HONEST, "ABB"), **{tag: value})
    runs.write(submissions.folder / "Ben", {"med_cmr_mcq": rows}, model="other/model")
    board = submissions.board(submissions.unpinned())
    assert ranked(board) == ["honest/model", "other/model"]
    build_site(board, tmp_path / "site", SiteOptions(resamples=0, reports=False))


def test_a_log_of_more_tags_than_a_table_can_have_is_refused_before_one_is_made(submissions, runs):
    """A column each: 40,000 in each of 12 lines, 7 MB, took 1.6 GB and a minute; and the entry was ranked."""
    submissions.pack("h.json")
    rows = runs.choice_rows(PERFECT)
    for number, row in enumerate(rows):
        row["questions"]["tags"] |= {f"t{number}_{tag}": 1 for tag in range(45)}
    runs.write(submissions.folder / "run", {TASK: rows}, model="evil/m")
    code, reason = refused(submissions.board())
    assert code == "broken_log" and "line 11: 507 names of tags up to here; at most 500 are read" in reason


def test_data_that_a_run_says_it_read_are_a_mapping(submissions, runs):
    submissions.pack("h.json")
    path = runs.write(submissions.folder / "run", {TASK: runs.choice_rows(PERFECT)}, model="evil/m")
    content = json.loads(path.read_text("utf-8"))
    content["configs"][TASK]["dataset_kwargs"] = "none"
    path.write_text(json.dumps(content), "utf-8")
    code, reason = refused(submissions.board())
    assert code == "unreadable" and "dataset_kwargs is 'none'; expected a mapping" in reason
