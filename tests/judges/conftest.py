"""The tests' own protocol, and settings for the stub of a judge."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lmms_medtasks.judges import registry
from lmms_medtasks.judges import settings as _settings
from lmms_medtasks.judges.judging import JudgeSession
from lmms_medtasks.judges.records import TABLE
from lmms_medtasks.samples import result_files as results
from lmms_medtasks.suites import registry as suites

KEY = "sk-test-0123456789abcdef"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A data folder of the test's own, and no judge from outside."""
    for name in ("MEDTASKS_JUDGE", "OPENAI_API_KEY", "OPENAI_API_URL", "OPENAI_BASE_URL", "OPENAI_API_BASE",
                 "LLM_JUDGE_URL", "RANK", "WORLD_SIZE",
                 "MEDTASKS_PRIVATE_HOSTS"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    for name in [name for name in os.environ if name.startswith("MEDTASKS_JUDGE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("MEDTASKS_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture(autouse=True)
def ctrl_c():
    """Ctrl-C interrupts, also where the tests run in the background of a shell, which has them ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Waits of thousandths of a second."""
    quick = {**_settings.default_settings(), "first_wait": 0.002, "longest_backoff": 0.02}
    for module in "asking budget judging prompts question_pool settings transport".split():
        monkeypatch.setattr(f"lmms_medtasks.judges.{module}.default_settings", lambda: quick)


@pytest.fixture
def sample(monkeypatch):
    """The module ``judge_sample.py``, importable by its name; its benchmark is known to the harness's aggregation."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    registry.forget_custom_protocols()
    module = importlib.import_module("judge_sample")
    get = suites.get
    monkeypatch.setattr(suites, "get", lambda name: module.SUITE if name == module.SUITE.name else get(name))
    yield module
    registry.forget_custom_protocols()
    TABLE.clear()


@pytest.fixture
def protocol(sample):
    return sample.PROTOCOL


@pytest.fixture
def settings_for():
    """Call as settings_for(stub, concurrency=4, ...): settings of an openai judge at the stub."""

    def make(stub, judge="openai:stub-judge", **values):
        environment = {"OPENAI_API_KEY": KEY, "OPENAI_API_URL": stub.url, "LLM_JUDGE_URL": stub.url}
        environment |= {f"MEDTASKS_JUDGE_{name.upper()}": str(value) for name, value in values.items()}
        return _settings.read_judge_settings(environment, judge)

    return make


@pytest.fixture
def items(sample):
    """Twenty items: a quarter exact, a quarter empty, the others to be judged."""
    answers = ["Effusion", "", "an effusion, left", "nothing"]
    return [(sample.item(each, answers[n % 4]), 0) for n, each in enumerate(sample.documents(20))]


@pytest.fixture
def asked(sample):
    """Ten items for a judge."""
    return sample.asked(10)


@pytest.fixture
def command(judge_server, key):
    """Call as command(text): it runs in a process of its own, after some imports, with ``asked`` of judge_sample."""
    chosen = {"MEDTASKS_JUDGE": "openai:m", "MEDTASKS_JUDGE_CONCURRENCY": "4"}
    environment = {**os.environ, **chosen, "OPENAI_API_KEY": key, "OPENAI_API_URL": judge_server.url}

    def call(text, **given):
        arguments = [sys.executable, "-c", IMPORTS + text, str(Path(__file__).parent)]
        return subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE, text=True, **given)

    call.environment = environment
    return call


IMPORTS = """
import sys
sys.path.insert(0, sys.argv[1])
from judge_sample import PROTOCOL, asked
from lmms_medtasks.judges import cache, settings
from lmms_medtasks.judges.judging import JudgeSession
"""


@pytest.fixture
def judge_all(judge_server, settings_for, protocol):
    """Call as judge_all(items, **settings): the verdicts, the counts, what was said."""

    def call(items, judge="openai:stub-judge", **values):
        said = []
        with JudgeSession(settings_for(judge_server, judge, **values), [protocol]) as judge:
            return *judge.judge(protocol, items, say=said.append), said

    return call


@pytest.fixture
def key():
    return KEY


@pytest.fixture
def harness(sample, tmp_path, monkeypatch, judge_server, key):
    """Call as harness(replies, names, **environment): runs the tests' tasks; the Run and the rows of the sample logs.

    ``harness.folder`` holds the tasks' YAMLs.
    """
    spec = importlib.util.spec_from_file_location("harness_run", Path(__file__).with_name("harness_run.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    documents = [
        {"id": f"q{n}", "image_id": f"i{n // 2}", "data": "mini", "question": f"What is in {n}?", "answer": "effusion",
         "modality": "CT"} for n in range(8)
    ]  # fmt: skip
    folder = module.write_tasks(tmp_path / "tasks", documents)
    monkeypatch.setenv("OPENAI_API_KEY", key)
    for name in ("OPENAI_API_URL", "LLM_JUDGE_URL"):
        monkeypatch.setenv(name, judge_server.url)

    def call(replies, names, judge="openai:stub-judge", cli_args=None, **environment):
        monkeypatch.setenv("MEDTASKS_JUDGE", judge)
        for name, value in environment.items():
            monkeypatch.setenv(f"MEDTASKS_JUDGE_{name}", str(value))
        number = len(list(tmp_path.glob("out*")))
        given = {document["question"]: reply for document, reply in zip(documents, replies, strict=False)}
        output = module.run(folder, given, names, tmp_path / f"out{number}", cli_args)
        (path,) = results.list_result_files(output)
        run = results.read_result_file(path)
        return run, {name: rows(run, name) for name in run.content["configs"]}

    def rows(run, name):
        return [json.loads(line) for line in run.samples_file(name).read_text("utf-8").splitlines()]

    call.folder, call.rows = folder, rows
    return call
