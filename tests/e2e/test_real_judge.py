"""A real language model as judge: SmolLM2 behind llama.cpp's server, in the environment of ``tools/real_servers``.

It is asked where ``MEDTASKS_REAL_SERVERS`` names that folder. Whether it judges well is not tested (it does not), but
that what came of each judgement is counted, stays within its bounds, names who answered, and is not asked twice.
"""

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from lmms_medtasks.judges import registry
from tools.real_servers import install, serve

FOLDER = Path(os.environ.get(install.VARIABLE, "none"))
pytestmark = pytest.mark.skipif(
    not install.is_installed(FOLDER),
    reason=f"{install.VARIABLE} names no folder that tools/real_servers/install.py has made by these files",
)

RUNS = (("sure_slake_modality", None), ("med_cmr_open", "3"), ("bones_joints_t4_diagnosis", "3"))
"""Tasks of three suites, and how many questions of each: of SURE-VQA's few need a judge."""


@pytest.fixture(scope="module")
def url():
    with serve.started("llamacpp", FOLDER) as url:
        yield url


@pytest.fixture
def variables(url):
    return {
        "MEDTASKS_JUDGE": "openai:smollm2", "OPENAI_API_URL": url, "OPENAI_API_KEY": "none",
        "MEDTASKS_JUDGE_MAX_TOKENS": "120", "MEDTASKS_JUDGE_CONCURRENCY": "4", "MEDTASKS_JUDGE_TIMEOUT": "250",
        "MEDTASKS_JUDGE_KEEP_GOING": "1",
    }  # fmt: skip


def kept(home):
    with sqlite3.connect(home / "judge" / "verdicts.sqlite") as base:
        return set(base.execute("SELECT key, model, labels FROM kept_verdicts"))


@pytest.mark.parametrize(("task", "limit"), RUNS)
def test_a_judged_run_is_counted_bounded_named_and_not_asked_twice(harness, variables, url, tmp_path, task, limit):
    options = ("--limit", limit) if limit else ()
    done = harness("--model", "medtasks_observer", "--tasks", task, *options, **variables)
    records = [json.loads(row["questions"]) if isinstance(row["questions"], str) else row["questions"]
               for row in done.samples(task)]  # fmt: skip
    verdicts = [each for record in records for of_reply in record["judgement"]["verdicts"] for each in of_reply]
    judged = [each for each in verdicts if each["status"] == "judged"]
    assert {each["status"] for each in verdicts} <= {"exact", "judged", "missing"} and len(verdicts) == len(records)
    # Who answered: the model as asked, at its address, and as the server named it.
    judges = {(each["judgement"]["judge"]["name"], each["judgement"]["judge"]["endpoint"]) for each in records}
    assert judges == {("openai:smollm2", url)}
    assert {each["model"] for each in judged} <= {"smollm2"}
    # Within the scale, and within the bounds of what is missing.
    for record in records:
        protocol = registry.get(record["judgement"]["judge"]["protocol"])
        for each in (each for of_reply in record["judgement"]["verdicts"] for each in of_reply):
            if each["status"] == "judged":
                assert all(each["labels"][one.name] in one.labels for one in protocol.dimensions)
        for measure in record["measures"].values():
            if measure.get("score") is not None and "low" in measure:  # a share of unclear verdicts has no bounds
                assert measure["low"] <= measure["score"] <= measure["high"]
    # Again, without the model: what is judged is known, and only what is missing may be asked.
    before = kept(tmp_path / "home")
    command = [sys.executable, "-m", "lmms_medtasks", "judge", str(next(done.folder.rglob("*_results.json")).parent)]
    again = subprocess.run(
        command, env={**os.environ, **variables, "MEDTASKS_HOME": str(tmp_path / "home"), "MEDTASKS_DATA": "mini"},
        capture_output=True, text=True, timeout=250, check=False,
    )  # fmt: skip
    missing = sum(each["status"] == "missing" for each in verdicts)
    assert again.returncode in ((0, 1) if missing else (0,)), again.stderr[-2000:]
    assert before <= kept(tmp_path / "home")
    assert missing or len(before) == len(kept(tmp_path / "home"))
