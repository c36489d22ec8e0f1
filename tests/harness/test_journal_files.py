"""The journal's files: what is kept in them and what is not, full disks, other processes, and when they are removed."""

import errno
import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from lmms_eval.api.instance import GenerationResult

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import journal, journal_files, reply_keys, stamps
from tests.harness.journal_runs import FAILED, Model, Task, run, small_slices

pytestmark = pytest.mark.usefixtures("journal_home")


def test_a_key_or_password_moves_nothing_and_is_written_nowhere(monkeypatch, files):
    small_slices(monkeypatch)
    task = Task()
    assert run(task, Model(task, dies_after=6), model_args="api_key=sk-secret,max_tokens=5") is None
    assert b"sk-secret" not in b"".join(file.read_bytes() for file in files()[0].parent.iterdir())
    lm = Model(task)
    run(task, lm, model_args="api_key=another,max_tokens=5")
    assert len(lm.asked) == 6
    assert "max_tokens" in reply_keys._public_arguments(SimpleNamespace(model_args="api_key=a,max_tokens=5,token=b"))


def test_neither_prompt_nor_question_stands_in_the_file(monkeypatch, files):
    small_slices(monkeypatch)
    task = Task()
    run(task, Model(task, dies_after=6), task.requests("A prompt on private data"))
    written = files()[0].read_text("ascii")
    lines = [json.loads(line) for line in written.splitlines()]
    assert {tuple(sorted(line)) for line in lines} == {("key", "reply", "task")}
    # A key is a digest, which may hold any two characters.
    assert "private" not in written and not any("q0" in f"{line['task']} {line['reply']}".lower() for line in lines)


@pytest.mark.parametrize("cut", [1, 10, 40])
def test_a_line_that_was_cut_is_asked_again_and_the_others_are_not(monkeypatch, files, cut):
    small_slices(monkeypatch)
    task = Task()
    whole = run(task, Model(task))
    run(task, Model(task, dies_after=6))
    content = files()[0].read_bytes()
    files()[0].write_bytes(content[:-cut] + b"")
    lm = Model(task)
    assert run(task, lm) == whole
    assert lm.asked == ([1] if cut > 1 else []) + [2, 2, 2, 3, 3, 3]


def test_a_full_disk_is_said_once_and_the_run_goes_on(monkeypatch, files, capsys):
    small_slices(monkeypatch)
    task = Task()
    written = []

    def write(handle, text, original=os.write):
        written.append(len(text))
        if len(written) == 3:
            original(handle, text[:20])
            raise OSError(errno.ENOSPC, "No space left on device")
        return original(handle, text)

    monkeypatch.setattr(journal_files.os, "write", write)
    lm = Model(task)
    assert len(run(task, lm)) == 12 and len(lm.asked) == 12
    said = capsys.readouterr().err
    assert said.count("No space left on device") == 1 and len(written) == 3


def test_after_a_full_disk_a_kill_loses_only_what_was_not_kept(monkeypatch, files):
    small_slices(monkeypatch)
    task = Task()
    whole = run(task, Model(task))
    original, number = journal_files.JournalFolder.append_lines, iter(range(99))

    def append_lines(folder, lines, *sync):
        if next(number) >= 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        original(folder, lines, *sync)

    with monkeypatch.context() as full:
        full.setattr(journal_files.JournalFolder, "append_lines", append_lines)
        assert run(task, Model(task, dies_after=11)) is None
    lm = Model(task)
    assert run(task, lm) == whole and lm.asked == [2, 2, 2, 3, 3, 3]


def test_a_folder_that_cannot_be_made_does_not_end_the_run(monkeypatch, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MEDTASKS_HOME", str(tmp_path / "file"))
    task = Task()
    assert len(run(task, Model(task))) == 12
    assert "replies are not kept" in capsys.readouterr().err


@pytest.mark.parametrize("failure", [FAILED, GenerationResult(FAILED), None])
def test_what_stands_for_a_failed_request_is_not_kept(monkeypatch, files, failure):
    small_slices(monkeypatch)
    task = Task(documents=2, trials=1)
    run(task, Model(task, reply=lambda number, seed: failure if number else "B"))
    assert files()
    lm = Model(task)
    run(task, lm)
    assert lm.asked == [1]


def test_what_is_not_ours_or_asked_by_a_library_or_switched_off_goes_by(monkeypatch, tmp_path):
    task = Task()
    for arguments, variable in (({"cli_args": None}, ""), ({}, "off")):
        monkeypatch.setenv("MEDTASKS_JOURNAL", variable)
        lm = Model(task)
        assert len(run(task, lm, **arguments)) == 12 and lm.calls == [12]
    monkeypatch.delenv("MEDTASKS_JOURNAL")
    lm, other = Model(task), Task("another")
    with journal.keep_replies_in_journal(lm, [other], {"cli_args": SimpleNamespace(model="m")}):
        assert len(lm.generate_until(task.requests())) == 12
    assert not (tmp_path / "home").exists()


def test_a_cache_of_the_harness_in_several_processes_keeps_nothing_and_says_so(monkeypatch, files, capsys):
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "0")
    task = Task()
    run(task, Model(task, dies_after=6), response_cache=object())
    assert not files()
    assert capsys.readouterr().err.count("--use_cache") > 0


def test_fresh_throws_away_what_is_there_and_another_word_is_refused(monkeypatch, files):
    small_slices(monkeypatch)
    task = Task()
    run(task, Model(task, dies_after=6))
    monkeypatch.setenv("MEDTASKS_JOURNAL", "fresh")
    run(task, lm := Model(task, dies_after=9))
    assert len(lm.asked) == 9 and len(files()) == 1
    monkeypatch.setenv("MEDTASKS_JOURNAL", "frehs")
    with pytest.raises(UserError, match="Did you mean 'fresh'"):
        run(task, Model(task))


def test_the_same_command_at_the_same_time_is_refused_and_takes_nothing(monkeypatch, files):
    small_slices(monkeypatch)
    task = Task()
    run(task, Model(task, dies_after=6))
    folder = files()[0].parent
    held = (
        "import sys, time; from pathlib import Path; from lmms_medtasks.harness.journal_files import JournalFolder;"
        "JournalFolder(Path(sys.argv[1])).begin_session(False); print(1, flush=True); time.sleep(60)"
    )
    other = subprocess.Popen([sys.executable, "-c", held, str(folder)], stdout=subprocess.PIPE)
    assert other.stdout.readline() == b"1\n"
    try:
        lm = Model(task)
        with pytest.raises(UserError, match=rf"same command is running \(process {other.pid} on "):
            run(task, lm)
        assert not lm.asked and len(files()) == 1
    finally:
        other.kill()
        other.communicate()
    lm = Model(task)
    run(task, lm)
    assert len(lm.asked) == 6


def test_the_journal_stays_until_the_results_are_written(monkeypatch, files, tmp_path):
    small_slices(monkeypatch)
    task = Task()
    options = SimpleNamespace(model="m", model_args="", output_path=str(tmp_path / "out"))
    run(task, Model(task), cli_args=options)
    assert files()
    monkeypatch.setattr(journal.atexit, "register", lambda function: (write(), function()))

    def write():
        (tmp_path / "out").mkdir()
        own = tmp_path / "out" / "1_results.json"
        own.write_text('{"results": {}}')
        setattr(options, stamps._MARK, own)

    lm = Model(task)
    run(task, lm, cli_args=options)
    assert not lm.asked and not files()


WRITTEN = '{"results": {}, "n-samples": {"t": {"original": 4, "effective": 4}}}'


@pytest.mark.parametrize(
    ("results", "lines", "kept"),
    [
        (WRITTEN, "{}\n" * 4, False),
        (WRITTEN, "{}\n" * 3, True),
        (WRITTEN, None, True),
        ('{"n-samples": {"t": {"orig', "{}\n" * 4, True),
        (WRITTEN, "{}\n" * 3 + '{"doc_id": 3, "tar', True),
        (WRITTEN, "{}\n" * 3 + '{"doc_id": 3}', False),
    ],
)
def test_the_journal_stays_where_a_full_disk_cut_the_results_or_the_log_of_samples(
    monkeypatch, files, tmp_path, results, lines, kept
):
    task, out = Task(), tmp_path / "out"
    options = SimpleNamespace(model="m", model_args="", output_path=str(out), log_samples=True)

    def write():
        out.mkdir()
        (out / "1_results.json").write_text(results)
        setattr(options, stamps._MARK, out / "1_results.json")
        if lines is not None:
            (out / "1_samples_t.jsonl").write_text(lines)

    monkeypatch.setattr(journal.atexit, "register", lambda function: (write(), function()))
    run(task, Model(task), cli_args=options)
    assert bool(files()) == kept


def test_journals_that_nobody_takes_up_are_removed_after_a_month(monkeypatch, files):
    small_slices(monkeypatch)
    task = Task()
    for limit in (1, 2):
        run(task, Model(task, dies_after=6), limit=limit)
    old, young = sorted(files(), key=lambda file: file.stat().st_mtime_ns)
    for file in old.parent.iterdir():
        os.utime(file, (0, 0))
    run(task, Model(task, dies_after=6), limit=3)
    assert not old.parent.exists() and young.exists()


def test_a_model_that_tells_its_replies_as_they_come_loses_only_what_was_in_flight(monkeypatch, files):
    """Within a slice, each once; the whole slice is one line a reply in the end."""
    task = Task()

    class Telling(Model):
        on_replies = None

        def generate_until(self, requests):
            found = []
            for place, request in enumerate(requests):
                found += super().generate_until([request])
                self.on_replies({place: found[-1]})
            return found

    whole = run(task, Model(task))
    assert run(task, killed := Telling(task, dies_after=7)) is None
    assert killed.on_replies is None
    [file] = files()
    assert len(file.read_text("ascii").splitlines()) == 7
    monkeypatch.setattr(journal.atexit, "register", lambda function: None)
    assert run(task, later := Telling(task)) == whole
    assert later.asked == [2, 2, 3, 3, 3]
    assert sum(len(each.read_text("ascii").splitlines()) for each in files()) == 12
