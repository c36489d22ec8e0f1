"""Kept verdicts: found again only for the same question to the same judge, by many at once, and after a kill."""

import dataclasses
import os
import signal
import sqlite3
import subprocess
import sys
import threading

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.judges import cache, settings
from lmms_medtasks.judges.cache import VerdictCache
from lmms_medtasks.judges.protocol import JudgedItem, JudgeVerdict


@pytest.fixture
def judge():
    return settings.read_judge_settings(
        {"OPENAI_API_KEY": "sk-abc12", "OPENAI_API_URL": "http://me:hidden12@h/v1"}, "openai:m"
    )


@pytest.fixture
def item():
    return JudgedItem("q", {"question": "q", "reference": "r", "answer": "a"})


@pytest.fixture
def kept(tmp_path):
    cache = VerdictCache(tmp_path / "sub" / "verdicts.sqlite")
    yield cache
    cache.close()


def good(number=4, model="m-1"):
    return JudgeVerdict("judged", {"correctness": str(number)}, reply=f'{{"correctness": {number}}}', model=model)


def test_everything_counts_that_could_change_a_verdict(judge, protocol, item, tmp_path):
    def key(settings=judge, protocol=protocol, item=item, trial=0):
        return cache.verdict_cache_key(settings, protocol, item, trial)

    prompt = tmp_path / "p.txt"
    prompt.write_text("{{question}} {{reference}} {{answer}}")
    other = settings.read_judge_settings(
        {"OPENAI_API_KEY": "sk-abc12", "OPENAI_API_URL": "http://other/v1"}, "openai:m"
    )
    keys = [
        key(),
        key(dataclasses.replace(judge, model="n")),
        key(dataclasses.replace(judge, provider="local")),
        key(dataclasses.replace(judge, temperature=0.5)),
        key(dataclasses.replace(judge, max_tokens=10)),
        key(other),
        key(protocol=dataclasses.replace(protocol, version=2)),
        key(protocol=dataclasses.replace(protocol, name="x")),
        key(protocol=dataclasses.replace(protocol, prompt=str(prompt))),
        key(trial=1),
        *(key(item=JudgedItem("q", {**item.fields, name: "other"})) for name in item.fields),
    ]
    assert len(set(keys)) == len(keys) == 13


def test_nothing_counts_that_cannot(judge, protocol, item):
    def key(settings=judge, item=item):
        return cache.verdict_cache_key(settings, protocol, item, 0)

    same = settings.read_judge_settings(
        {"OPENAI_API_KEY": "sk-xyz", "OPENAI_API_URL": "http://you:other@h/v1/"}, "openai:m"
    )
    assert key(same) == key()
    assert key(dataclasses.replace(judge, concurrency=3, retries=0, timeout=1.0, max_requests=5)) == key()
    assert key(item=JudgedItem("another id", dict(reversed(item.fields.items())))) == key()


def test_found_again(kept, judge, protocol):
    kept.keep("k1", judge, protocol, good(4))
    kept.keep("k2", judge, protocol, good(2))
    assert kept.find_verdicts(["k1", "k2", "k3"]) == {"k1": {"m-1": good(4)}, "k2": {"m-1": good(2)}}
    assert kept.find_verdicts([]) == {}
    assert len(kept.find_verdicts([f"k{number}" for number in range(2000)])) == 2


def test_verdicts_of_several_answering_models_are_kept_apart(kept, judge, protocol):
    """Another model under the same name replaces nothing; a server that names none is one of its own."""
    for number, model in enumerate(("m-1", "m-2", ""), start=1):
        kept.keep("k", judge, protocol, good(number, model))
    assert kept.find_verdicts(["k"]) == {"k": {"m-1": good(1, "m-1"), "m-2": good(2, "m-2"), "": good(3, "")}}


def test_each_part_of_the_endpoint_counts(protocol, item):
    urls = ["http://h/v1", "https://h/v1", "http://h:81/v1", "http://i/v1", "http://h/team/v1", "http://h/Team/v1"]
    judges = [settings.read_judge_settings({"LLM_JUDGE_URL": url}, "local:m") for url in urls]
    assert len({cache.verdict_cache_key(each, protocol, item, 0) for each in judges}) == len(urls)


def test_what_is_missing_is_not_kept(kept, judge, protocol):
    with pytest.raises(ValueError, match="Only verdicts of a judge"):
        kept.keep("k", judge, protocol, JudgeVerdict("missing", reason="no verdict"))


def test_no_secret_and_no_text_under_terms(kept, judge, sample):
    kept.keep(
        "k", judge, sample.PROTOCOL, JudgeVerdict("judged", {"correctness": "4"}, reply="sk-abc12 hidden12 \ud800")
    )
    kept.keep("p", judge, sample.PRIVATE, JudgeVerdict("judged", {"correctness": "4"}, reply="the patient has"))
    kept.close()
    content = b"".join(path.read_bytes() for path in kept.path.parent.iterdir())
    for secret in (b"sk-abc12", b"hidden", b"patient", b"effusion"):
        assert secret not in content
    again = VerdictCache(kept.path)
    assert again.find_verdicts(["k"])["k"][""].reply == "*** *** ?"
    assert again.find_verdicts(["p"])["p"][""] == JudgeVerdict("judged", {"correctness": "4"}, model="")
    again.close()


def test_the_file_is_the_users_alone(kept):
    assert kept.path.stat().st_mode & 0o077 == 0


def test_many_threads(kept, judge, protocol):
    def work(number):
        for place in range(20):
            kept.keep(f"{number}/{place}", judge, protocol, good())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(kept.find_verdicts([f"{number}/{place}" for number in range(8) for place in range(20)])) == 160


WRITER = """
import sys, dataclasses
from pathlib import Path
sys.path.insert(0, sys.argv[3])
import judge_sample
from lmms_medtasks.judges import settings
from lmms_medtasks.judges.cache import VerdictCache
from lmms_medtasks.judges.protocol import JudgeVerdict
kept = VerdictCache(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for place in range(int(sys.argv[4])):
    verdict = JudgeVerdict("judged", {"correctness": "4"})
    kept.keep(f"{sys.argv[2]}/{place}", settings.read_judge_settings({}, "lexical"), judge_sample.PROTOCOL, verdict)
    print(place, flush=True)
"""


def start(kept, name, count):
    command = [sys.executable, "-c", WRITER, str(kept.path), name, os.path.dirname(__file__), str(count)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def test_many_processes_and_a_kill(kept):
    """Three write at once, one of them is killed: all that was said to be kept is there, and the file is whole."""
    processes = {name: start(kept, name, 100_000 if name == "c" else 60) for name in "abc"}
    for process in processes.values():
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [processes["c"].stdout.readline() for _ in range(40)]
    processes["c"].send_signal(signal.SIGKILL)
    said += processes["c"].stdout.read().splitlines(keepends=True)
    for process in processes.values():
        process.communicate(timeout=60)
    whole = [int(line) for line in said if line.endswith("\n")]
    assert len(whole) >= 40
    keys = [f"{name}/{place}" for name in "ab" for place in range(60)] + [f"c/{place}" for place in whole]
    assert len(kept.find_verdicts(keys)) == len(keys)
    assert sqlite3.connect(kept.path).execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_not_a_database(tmp_path):
    path = tmp_path / "verdicts.sqlite"
    path.write_text("no database " * 100)
    with pytest.raises(UserError, match=r"Can't use .*verdicts.sqlite: file is not a database"):
        VerdictCache(path)


def test_a_database_of_another_form(tmp_path):
    path = tmp_path / "verdicts.sqlite"
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE kept_verdicts (a, b)")
    with pytest.raises(UserError, match=r"no such column: .*may be deleted: what it held is then asked again"):
        VerdictCache(path)


def test_no_place_to_write(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="Set MEDTASKS_HOME to a folder on a local disk"):
        VerdictCache(tmp_path / "file" / "verdicts.sqlite")
