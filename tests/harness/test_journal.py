"""Replies are kept as soon as they are there, given back where all is as it was, and never in another one's place."""

import errno
import json
import os
import subprocess
import sys
from types import SimpleNamespace

import datasets
import pytest
from lmms_eval.api.instance import GenerationResult, Instance, TokenCounts

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import calls, hooks, journal, journal_files, reply_keys
from lmms_medtasks.harness.trials import TrialSeeder

FAILED = "[LMMS_EVAL_REQUEST_FAILED after 5 retries] boom"


class Task:
    """A task of the harness as far as the journal looks at it."""

    def __init__(self, name="t", documents=4, trials=3, **metadata):
        self.config = SimpleNamespace(task=name, metadata={"data_digest": "d", **metadata}, doc_to_visual=None)
        self.lmms_eval_specific_kwargs = {"seed_trials": True}
        self.rows = datasets.Dataset.from_list([{"id": f"q{n}", "question": f"Q{n}"} for n in range(documents)])
        self.trials = trials

    def requests(self, prompt="prompt", **settings):
        name = self.config.task
        found = []
        for number in range(len(self.rows)):
            arguments = (f"{prompt} {number}", dict(settings), None, number, name, "test")
            metadata = {"task": name, "doc_id": number, "repeats": self.trials}
            found += [Instance("generate_until", arguments, 0, metadata)] * self.trials
        return found


class Model:
    """Replies with the document's number and the seed of the trial; ``dies_after`` so many requests it is killed."""

    def __init__(self, task, dies_after=None, fails=(), reply=None):
        self.task_dict = {task.config.task: {"test": task.rows}}
        self.asked, self.calls, self.dies_after, self.fails, self.reply = [], [], dies_after, fails, reply
        self.batch_size = 1

    def generate_until(self, requests):
        self.calls.append(len(requests))
        self.trials = getattr(self, "trials", [])
        found = []
        for request in requests:
            if self.dies_after is not None and len(self.asked) >= self.dies_after:
                raise KeyboardInterrupt
            self.trials.append((request.metadata or {}).get(calls.TRIAL))
            seed = hooks.TRIALS.next_seed(f"q{request.doc_id}")
            self.asked.append(request.doc_id)
            text = FAILED if (request.doc_id, self.asked.count(request.doc_id)) in self.fails else None
            found.append(text or (self.reply or (lambda number, seed: f"{number} {seed}"))(request.doc_id, seed))
        return found


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch):
    monkeypatch.setenv("MEDTASKS_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("MEDTASKS_JOURNAL", raising=False)
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    # What waits for the end of a process ends with the call here.
    monkeypatch.setattr(journal.atexit, "register", lambda function: function())


@pytest.fixture
def files(tmp_path):
    return lambda: sorted((tmp_path / "home" / "journal").glob("*/*.jsonl"))


def run(task, lm, requests=None, model="m", model_args="", **arguments):
    """A run of the one task; None where it was killed."""
    for each in (hooks.TRIALS, hooks.RENDERED):
        each.reset([f"q{number}" for number in range(len(task.rows))])
    options = SimpleNamespace(model=model, model_args=model_args, output_path=None, batch_size=1)
    given = {"cli_args": options, "limit": None, "offset": 0, **arguments}
    try:
        with journal.kept(lm, [task], given):
            return lm.generate_until(task.requests() if requests is None else requests)
    except KeyboardInterrupt:
        return None


def small_slices(monkeypatch):
    monkeypatch.setattr(journal, "_BATCHES", 1)
    monkeypatch.setattr(journal, "_SECONDS", 0.0)


def test_a_run_that_was_killed_asks_what_is_missing_and_gives_what_it_would_have_given(monkeypatch, files, capsys):
    small_slices(monkeypatch)
    task = Task()
    whole = run(task, Model(task))
    assert len(set(whole)) == 12 and not files()
    assert run(task, killed := Model(task, dies_after=7)) is None
    assert killed.asked == [0, 0, 0, 1, 1, 1, 2] and len(files()) == 1
    assert files()[0].stat().st_mode & 0o777 == 0o600 and files()[0].parent.stat().st_mode & 0o777 == 0o700
    assert run(task, later := Model(task)) == whole
    assert later.asked == [2, 2, 2, 3, 3, 3] and not files()
    assert "t: 6 of 12 replies are known" in capsys.readouterr().err


def test_a_single_trial_that_is_missing_draws_what_it_would_have_drawn(monkeypatch, files):
    small_slices(monkeypatch)
    task = Task(documents=3)
    whole = run(task, Model(task))
    first = run(task, Model(task, fails={(1, 1), (1, 3), (2, 2)}))
    assert [reply == FAILED for reply in first] == [False] * 3 + [True, False, True] + [False, True, False]
    assert files()
    later = Model(task)
    assert run(task, later) == whole
    assert later.asked == [1, 1, 2] and later.trials == [0, 2, 1] and not files()


@pytest.mark.parametrize(
    "changed",
    ["prompt", "settings", "document", "task's code", "model", "argument", "class", "encoding", "number of questions"],
)
def test_another_reply_is_asked_where_something_that_decides_it_changed(monkeypatch, changed):
    small_slices(monkeypatch)
    task = Task()
    assert run(task, Model(task, dies_after=6), model_args="pretrained=a") is None
    requests, named, lm = None, {"model_args": "pretrained=a"}, Model(task)
    if changed == "prompt":
        requests = task.requests("another prompt")
    elif changed == "settings":
        requests = task.requests(max_new_tokens=7)
    elif changed == "document":
        task.rows = task.rows.map(lambda row: {**row, "question": row["question"] + "?"})
        lm = Model(task)
    elif changed == "task's code":
        task.config.metadata = {**task.config.metadata, "fingerprint": {"code": "other"}}
    elif changed == "model":
        named["model"] = "n"
    elif changed == "argument":
        named["model_args"] = "pretrained=b"
    elif changed == "class":
        lm = type("Another", (Model,), {})(task)
    elif changed == "encoding":
        monkeypatch.setenv("LMMS_IMAGE_ENCODE_FORMAT", "JPEG")
    else:
        named["limit"] = 4
    assert len(run(task, lm, requests, **named)) == 12
    assert len(lm.asked) == 12


def test_another_checkpoint_at_the_same_path_is_noticed(monkeypatch, tmp_path):
    small_slices(monkeypatch)
    (tmp_path / "model").mkdir()
    weights = tmp_path / "model" / "model.safetensors"
    weights.write_bytes(b"weights")
    task, named = Task(), {"model_args": f"pretrained={tmp_path / 'model'}"}
    before = weights.stat()
    assert run(task, Model(task, dies_after=6), **named) is None
    weights.write_bytes(b"WEIGHTS")
    os.utime(weights, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    lm = Model(task)
    run(task, lm, **named)
    assert len(lm.asked) == 12


def test_a_key_or_password_moves_nothing_and_is_written_nowhere(monkeypatch, files):
    small_slices(monkeypatch)
    task = Task()
    assert run(task, Model(task, dies_after=6), model_args="api_key=sk-secret,max_tokens=5") is None
    assert b"sk-secret" not in b"".join(file.read_bytes() for file in files()[0].parent.iterdir())
    lm = Model(task)
    run(task, lm, model_args="api_key=another,max_tokens=5")
    assert len(lm.asked) == 6
    assert "max_tokens" in reply_keys._arguments(SimpleNamespace(model_args="api_key=a,max_tokens=5,token=b"))


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
    original, number = journal_files.JournalFolder.append, iter(range(99))

    def append(folder, lines, *sync):
        if next(number) >= 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        original(folder, lines, *sync)

    with monkeypatch.context() as full:
        full.setattr(journal_files.JournalFolder, "append", append)
        assert run(task, Model(task, dies_after=11)) is None
    lm = Model(task)
    assert run(task, lm) == whole and lm.asked == [2, 2, 2, 3, 3, 3]


def test_a_folder_that_cannot_be_made_does_not_end_the_run(monkeypatch, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MEDTASKS_HOME", str(tmp_path / "file"))
    task = Task()
    assert len(run(task, Model(task))) == 12
    assert "replies are not kept" in capsys.readouterr().err


def test_replies_come_back_as_what_they_were(monkeypatch):
    small_slices(monkeypatch)
    kinds = ["", "text \ud800 \n", GenerationResult("g", TokenCounts(1, 2, None)), GenerationResult("h"),
             ("pair", {"output_tokens": 3}), GenerationResult("é")]  # fmt: skip
    task = Task(documents=len(kinds) + 1, trials=1)
    assert run(task, Model(task, len(kinds), reply=lambda number, seed: kinds[number])) is None
    lm = Model(task)
    assert run(task, lm)[: len(kinds)] == kinds and lm.asked == [len(kinds)]


@pytest.mark.parametrize("failure", [FAILED, "None", GenerationResult(FAILED), None])
def test_what_stands_for_a_failed_request_is_not_kept(monkeypatch, files, failure):
    small_slices(monkeypatch)
    task = Task(documents=2, trials=1)
    run(task, Model(task, reply=lambda number, seed: failure if number else "B"))
    assert files()
    lm = Model(task)
    run(task, lm)
    assert lm.asked == [1]


def test_padding_gets_the_reply_of_what_it_copies_and_is_asked_where_there_is_nothing_else(monkeypatch):
    small_slices(monkeypatch)
    task = Task(documents=2, trials=1)
    own = task.requests()
    copy = Instance(own[-1].request_type, own[-1].arguments, 0, {**own[-1].metadata, "__padding_only__": True})
    lm = Model(task)
    found = run(task, lm, [*own, copy, copy])
    assert lm.asked == [0, 1] and found[1:] == [found[1]] * 3
    lm = Model(task)
    assert len(run(task, lm, [copy, copy])) == 2 and lm.asked == [1, 1]


def test_the_trials_of_a_question_count_on_over_calls(monkeypatch):
    """A runner may get its requests one by one."""
    task = Task(documents=1)
    lm = Model(task)
    options = SimpleNamespace(model="m", model_args="", output_path=None)
    with pytest.raises(KeyboardInterrupt), journal.kept(lm, [task], {"cli_args": options}):
        replies = [lm.generate_until([request]) for request in task.requests()]
        raise KeyboardInterrupt
    assert len({reply for [reply] in replies}) == 3
    lm = Model(task)
    with journal.kept(lm, [task], {"cli_args": options}):
        assert [lm.generate_until([request]) for request in task.requests()] == replies
    assert not lm.asked


def test_slices_are_whole_batches_and_questions_and_grow_to_a_minute(monkeypatch):
    task = Task(documents=100)
    lm = Model(task)
    lm.batch_size = 4
    run(task, lm)
    assert sum(lm.calls) == 300 and lm.calls[0] == 72 and all(size % 12 == 0 for size in lm.calls)
    monkeypatch.setattr(journal, "_BATCHES", 1)
    clock = iter(range(0, 10**6, 120))
    monkeypatch.setattr(journal, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    lm = Model(task)
    lm.num_concurrent = 20
    run(task, lm)
    assert lm.calls[:2] == [21, 12]  # two minutes for the first one; 20 and 10.5 requests, in whole questions


def test_a_runner_that_wants_one_call_gets_one(monkeypatch):
    small_slices(monkeypatch)
    task = Task()
    monkeypatch.setattr(calls, "in_one_call", lambda lm: True)
    lm = Model(task)
    run(task, lm)
    assert lm.calls == [12]


def test_what_is_not_ours_or_asked_by_a_library_or_switched_off_goes_by(monkeypatch, tmp_path):
    task = Task()
    for arguments, variable in (({"cli_args": None}, ""), ({}, "off")):
        monkeypatch.setenv("MEDTASKS_JOURNAL", variable)
        lm = Model(task)
        assert len(run(task, lm, **arguments)) == 12 and lm.calls == [12]
    monkeypatch.delenv("MEDTASKS_JOURNAL")
    lm, other = Model(task), Task("another")
    with journal.kept(lm, [other], {"cli_args": SimpleNamespace(model="m")}):
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


def test_the_same_command_at_the_same_time_keeps_nothing_and_takes_nothing(monkeypatch, files, capsys):
    small_slices(monkeypatch)
    task = Task()
    run(task, Model(task, dies_after=6))
    folder = files()[0].parent
    held = (
        "import sys, time; from pathlib import Path; from lmms_medtasks.harness.journal_files import JournalFolder;"
        "JournalFolder(Path(sys.argv[1])).begin(False); print(1, flush=True); time.sleep(60)"
    )
    other = subprocess.Popen([sys.executable, "-c", held, str(folder)], stdout=subprocess.PIPE)
    assert other.stdout.readline() == b"1\n"
    try:
        lm = Model(task)
        assert len(run(task, lm)) == 12 and len(lm.asked) == 12
        assert "the same command is running" in capsys.readouterr().err and len(files()) == 1
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
        (tmp_path / "out" / "1_results.json").write_text('{"results": {}}')

    lm = Model(task)
    run(task, lm, cli_args=options)
    assert not lm.asked and not files()


@pytest.mark.parametrize(
    ("results", "lines", "kept"),
    [
        ('{"results": {}, "n-samples": {"t": {"original": 4, "effective": 4}}}', 4, False),
        ('{"results": {}, "n-samples": {"t": {"original": 4, "effective": 4}}}', 3, True),
        ('{"results": {}, "n-samples": {"t": {"original": 4, "effective": 4}}}', None, True),
        ('{"n-samples": {"t": {"orig', 4, True),
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
        if lines is not None:
            (out / "1_samples_t.jsonl").write_text("{}\n" * lines)

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


def test_pictures_count_as_they_are_stored(tmp_path):
    features = datasets.Features({"id": datasets.Value("string"), "image": datasets.Image()})

    def digest(stored):
        rows = datasets.Dataset.from_dict({"id": ["a"], "image": [stored]}, features=features)
        return reply_keys.of_document(reply_keys.raw_rows(rows), 0)

    file = tmp_path / "1.png"
    file.write_bytes(b"no picture: nothing is decoded")
    first = digest({"bytes": None, "path": str(file)})
    assert first[1] == "a" and digest({"bytes": None, "path": str(file)}) == first
    file.write_bytes(b"No picture: nothing is decoded")
    assert digest({"bytes": None, "path": str(file)}) != first
    assert digest({"bytes": b"1", "path": "x"}) != digest({"bytes": b"2", "path": "x"})
    plain = [{"question": "Q"}]
    assert reply_keys.of_document(reply_keys.raw_rows(plain), 0)[1] == "0"


def test_what_a_server_serves_counts(model_list, tmp_path):
    kind = type("Client", (), {"__module__": "lmms_eval.models.chat.openai"})

    def served(name="stub"):
        lm = kind()
        lm.client, lm.model_version = SimpleNamespace(base_url=model_list.url, api_key="k"), name
        return reply_keys._served(lm)

    first = served()
    model_list.models[0]["created"] = 5
    assert served() == first
    model_list.models.append({"id": "another", "root": "/c"})
    assert served() == first
    model_list.models[0]["root"] = str(tmp_path)
    assert (second := served()) != first
    # Other weights at the same path of this machine, under the same name.
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    assert served() != second
    model_list.models[0]["meta"] = {"n_params": 7}  # llama.cpp's
    third = served()
    model_list.models[0]["meta"] = {"n_params": 8}
    assert served() != third


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


@pytest.fixture
def model_list():
    import threading
    from http.server import BaseHTTPRequestHandler, HTTPServer

    models = [{"id": "stub", "root": "/a", "created": 1}]

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):  # noqa: N802 (the base class's name)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"data": models}).encode())

        def log_message(self, *args):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield SimpleNamespace(url=f"http://127.0.0.1:{server.server_address[1]}/v1/", models=models)
    server.shutdown()
    thread.join()


def test_trials_have_the_numbers_that_they_are_told():
    one, other = TrialSeeder(), TrialSeeder()
    seeds = [one.next_seed("q") for _ in range(5)]
    other.expect("q", [1, 3])
    assert [other.next_seed("q") for _ in range(3)] == [seeds[1], seeds[3], seeds[4]]
    other.reset(["q"])
    assert other.next_seed("q") == seeds[0]
