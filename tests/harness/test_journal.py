"""Replies are given back where all that decides them is as it was, and never in another one's place."""

import json
import os
from types import SimpleNamespace

import datasets
import pytest
from lmms_eval.api.instance import GenerationResult, Instance, TokenCounts

from lmms_medtasks.harness import calls, journal, reply_keys
from lmms_medtasks.harness.hooks import TrialSeeder
from tests.harness.journal_runs import FAILED, Model, Task, run, small_slices

pytestmark = pytest.mark.usefixtures("journal_home")


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
    assert "t: 6 of 12 replies are known from a run that was cut off; 6 are asked." in capsys.readouterr().err


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
        task.config.metadata = {**task.config.metadata, "digests": {"package": "other"}}
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


def test_replies_come_back_as_what_they_were(monkeypatch):
    small_slices(monkeypatch)
    kinds = ["", "text \ud800 \n", GenerationResult("g", TokenCounts(1, 2, None)), GenerationResult("h"),
             ("pair", {"output_tokens": 3}), GenerationResult("é")]  # fmt: skip
    task = Task(documents=len(kinds) + 1, trials=1)
    assert run(task, Model(task, len(kinds), reply=lambda number, seed: kinds[number])) is None
    lm = Model(task)
    assert run(task, lm)[: len(kinds)] == kinds and lm.asked == [len(kinds)]


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
    with pytest.raises(KeyboardInterrupt), journal.keep_replies_in_journal(lm, [task], {"cli_args": options}):
        replies = [lm.generate_until([request]) for request in task.requests()]
        raise KeyboardInterrupt
    assert len({reply for [reply] in replies}) == 3
    lm = Model(task)
    with journal.keep_replies_in_journal(lm, [task], {"cli_args": options}):
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
    monkeypatch.setattr(calls, "needs_one_call", lambda lm: True)
    lm = Model(task)
    run(task, lm)
    assert lm.calls == [12]


def test_pictures_count_as_they_are_stored(tmp_path):
    features = datasets.Features({"id": datasets.Value("string"), "image": datasets.Image()})

    def digest(stored):
        rows = datasets.Dataset.from_dict({"id": ["a"], "image": [stored]}, features=features)
        return reply_keys.document_digest(reply_keys.raw_rows(rows), 0)

    file = tmp_path / "1.png"
    file.write_bytes(b"no picture: nothing is decoded")
    first = digest({"bytes": None, "path": str(file)})
    assert first[1] == "a" and digest({"bytes": None, "path": str(file)}) == first
    file.write_bytes(b"No picture: nothing is decoded")
    assert digest({"bytes": None, "path": str(file)}) != first
    assert digest({"bytes": b"1", "path": "x"}) != digest({"bytes": b"2", "path": "x"})
    plain = [{"question": "Q"}]
    assert reply_keys.document_digest(reply_keys.raw_rows(plain), 0)[1] == "0"


def test_what_a_server_serves_counts(stub, tmp_path):
    kind = type("Client", (), {"__module__": "lmms_eval.models.chat.openai"})
    models = [{"id": "tiny", "root": "/a", "created": 1}]
    stub.listed = lambda: (200, json.dumps({"data": models}).encode())

    def served():
        lm = kind()
        lm.client, lm.model_version = SimpleNamespace(base_url=f"{stub.url}/", api_key="k"), "tiny"
        return reply_keys._served_models(lm)

    first = served()
    models[0]["created"] = 5
    assert served() == first
    models.append({"id": "another", "root": "/c"})
    assert served() == first
    models[0]["root"] = str(tmp_path)
    assert (second := served()) != first
    # Other weights at the same path of this machine, under the same name.
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    assert served() != second
    models[0]["meta"] = {"n_params": 7}  # llama.cpp's
    third = served()
    models[0]["meta"] = {"n_params": 8}
    assert served() != third


def test_trials_have_the_numbers_that_they_are_told():
    one, other = TrialSeeder(), TrialSeeder()
    seeds = [one.next_seed("q") for _ in range(5)]
    other.expect("q", [1, 3])
    assert [other.next_seed("q") for _ in range(3)] == [seeds[1], seeds[3], seeds[4]]
    other.reset(["q"])
    assert other.next_seed("q") == seeds[0]
