"""A user's mistakes under the harness's own command line: one message, no traceback, a status that says so."""

import json
import os
import subprocess

import pytest

from tests.foreign_tasks import COMMON, EXACT

ASKED = ("--model", "medtasks_random", "--tasks", "medq_deg_l2", "--limit", "2")
ELSEWHERE = "model=m,base_url=http://127.0.0.1.example/v1,api_key=none"


@pytest.mark.parametrize(
    ("arguments", "env", "message"),
    [
        (ASKED, {"MEDTASKS_DATA": None}, "Three ways out:"),
        ((*ASKED, "--model_args", "sed=3"), {}, "Unknown model argument 'sed'. Allowed: seed."),
        ((*ASKED, "--repeats", "5"), {}, "T = 3 trials, --repeats asks for 5"),
        ((*ASKED, "--limit", "-3"), {}, "--limit -3 is below 0."),
        (("--model", "opnai", *ASKED[2:]), {}, "Unknown runner 'opnai' in --model. Did you mean 'openai'?"),
        (
            ("--model", "internvl_hf", "--model_args", "pretrained=./no/such_checkpoint", *ASKED[2:]),
            {},
            "--model_args pretrained=./no/such_checkpoint: there is no such file or folder.",
        ),
        (ASKED, {"HF_HOME": f"{__file__}/hf"}, f"HF_HOME={__file__}/hf: "),
        (
            ("--model", "openai", "--model_args", f"model={'m' * 256},base_url=http://127.0.0.1:9/v1", *ASKED[2:]),
            {},
            "is 256 bytes long; its results lie in a folder of that name, which may have 255",
        ),
        (
            ("--model", "openai", "--model_args", ELSEWHERE, *ASKED[2:], "--apply_chat_template"),
            {},
            "the model openai has no method apply_chat_template",
        ),
        (
            ("--model", "openai", "--model_args", ELSEWHERE, "--tasks", "sure_mimic_age", "--limit", "2"),
            {},
            "This model may not be asked 'sure_mimic_age': its host '127.0.0.1.example' resolves to no address.",
        ),
    ],
    ids=[
        "no data and no network",
        "model argument",
        "repeats",
        "limit",
        "runner",
        "checkpoint",
        "folder of data sets",
        "name of 256 bytes",
        "chat template",
        "a third party's model",
    ],
)
def test_one_message(harness, arguments, env, message):
    done = harness(*arguments, **env, status=2)
    assert message in done.printed
    assert done.printed.count("lmms-medtasks: ") == 1
    assert not list(done.folder.rglob("*.json"))


@pytest.mark.parametrize(
    ("column", "more", "message"),
    [
        ("image", "doc_to_messages: !function utils.doc_to_messages\n", "has a doc_to_messages of its own beside"),
        ("picture", "", "own_degraded has no column image or images"),
    ],
    ids=["messages of its own", "no image column"],
)
def test_a_task_that_would_show_clean_pictures_or_none_under_a_degraded_name(harness, tmp_path, column, more, message):
    """Our hook beside a task's own messages, which a chat model gets, or beside documents whose image it can't see."""
    row = {"id": "q1", "question": "Where?", "answer": "a", column: "picture.png"}
    (tmp_path / "rows.json").write_text(json.dumps(row) + "\n")
    (tmp_path / "utils.py").write_text("def doc_to_messages(doc):\n    return []\n")
    (tmp_path / "own_degraded.yaml").write_text(
        f"task: own_degraded{COMMON}{EXACT}{more}"
        "doc_to_visual: !function lmms_medtasks.harness.hooks.doc_to_visual\n"
        "lmms_eval_specific_kwargs: {default: {degradation: gaussian_noise, severity: 2}}\n"
    )
    done = harness("--model", "dummy", "--tasks", "own_degraded", "--include_path", str(tmp_path), status=2)
    assert message in done.printed
    assert done.printed.count("lmms-medtasks: ") == 1
    assert not list(done.folder.rglob("*.json"))


def test_a_comma_in_the_output_path(commands, tmp_path):
    command = [commands / "python", "-m", "lmms_eval", *ASKED, "--output_path", f"{tmp_path}/a,b"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "lmms-eval takes a comma for the end of the path" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr and not list(tmp_path.iterdir())


@pytest.mark.parametrize("both", [False, True], ids=["| head", "2>&1 | head"])
@pytest.mark.parametrize("command", [("lmms_eval",), ("lmms_medtasks", "run")], ids=["lmms-eval", "run"])
def test_a_run_that_nobody_reads_any_more_goes_on(commands, tmp_path, command, both):
    home = {"MEDTASKS_HOME": str(tmp_path / "home"), "MEDTASKS_DATA": "mini", "HF_HOME": str(tmp_path / "hf")}
    program = [commands / "python", "-m", *command, *ASKED, "--log_samples", "--output_path", tmp_path / "out"]
    streams = {"stdout": -1, "stderr": subprocess.STDOUT if both else -1}
    with subprocess.Popen(program, **streams, text=True, env={**os.environ, **home}) as run:
        assert run.stdout.readline()
        run.stdout.close()
        said = "" if both else run.stderr.read()
    assert run.returncode == 0, said
    told = said.count("nobody reads what is printed any more")
    assert both or told == 1 or (told == 0 and "run" in command)  # nothing to tell of a run that has ended
    assert "Traceback" not in said
    assert list((tmp_path / "out").rglob("*_results.json"))
