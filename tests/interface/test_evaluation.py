"""An evaluation as a call gives what the command line gives, and leaves nothing behind."""

import asyncio
import base64
import io
import json
import os
import random  # noqa: TID251 (its state is read)
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import lmms_medtasks as mt
from lmms_medtasks.samples import result_files

DOCS = Path(__file__).resolve().parents[2] / "docs"
LEFT_OUT = {"doc_hash", "prompt_hash", "target_hash"}


COUNTED = (
    "medq_deg_l1", "medq_deg_release", "medq_deg_circular", "med_cmr_open", "medobvious_t1", "sure_slake_modality",
    "sure_slake_corrupted_low", "bones_joints_t4_diagnosis_report", "bones_joints_t8_inconsistency",
)  # fmt: skip
"""Tasks whose documents are made in different ways."""


def test_the_list_of_tasks_counts_what_a_run_asks(in_process):
    from lmms_medtasks.harness.in_process import count_task_sizes

    sizes = count_task_sizes(COUNTED)
    with pytest.raises(mt.UserError, match="tasks must be a list"):
        mt.list_tasks(3)
    listed = mt.list_tasks(COUNTED).set_index("name")
    assert set(listed.index) == set(sizes) and set(listed.data) == {"mini"}
    for name, (_, questions, trials) in sizes.items():
        assert (listed.questions[name], listed.trials[name]) == (questions, trials), name


def logs(file):
    run = result_files.read_result_file(file)
    return {task: [{key: value for key, value in row.items() if key not in LEFT_OUT} for _, row in run.rows(task)]
            for task in run.tasks}  # fmt: skip


def without_addresses(content):
    return re.sub("0x[0-9a-f]+", "", json.dumps(content, sort_keys=True))


def test_the_result_is_that_of_the_command_line(evaluated, commands, tmp_path):
    environment = {**os.environ, "HF_HOME": str(tmp_path / "hf")}
    asked = ["--model", "medtasks_random", "--tasks", ",".join(evaluated.results), "--limit", "12"]
    command = [str(commands / "lmms-eval"), *asked, "--output_path", str(tmp_path / "out"), "--log_samples"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    [file] = result_files.list_result_files(tmp_path / "out")
    one, other = (result_files.read_result_file(each) for each in (evaluated.result_file, file))
    assert one.tasks == other.tasks and logs(evaluated.result_file) == logs(file)
    for name in ("configs", "versions", "n-samples", "higher_is_better"):
        assert without_addresses(one.content[name]) == without_addresses(other.content[name])
    assert one.content["config"]["model"] == other.content["config"]["model"] == "medtasks_random"
    assert evaluated.result_file.name.startswith(one.content["date"])


def test_the_result_is_an_object_that_others_take(evaluated):
    assert set(evaluated.results) == {"medq_deg_l0", "medq_deg_l0@gaussian_noise.2"}
    assert evaluated.results["medq_deg_l0"]["questions"] == 12
    table = evaluated.table
    assert set(table.columns) == {"task", "metric", "value"} and str(evaluated.result_file) in repr(evaluated)
    main = {"accuracy": evaluated.results["medq_deg_l0"]["accuracy"]}
    assert evaluated.main["medq_deg_l0"] == main and len(evaluated.main) == 2
    for shown in (repr(evaluated), evaluated._repr_html_()):
        assert f"medq_deg_l0: accuracy {main['accuracy']:.4g}" in shown and "parse_rate" not in shown
    frame = mt.read_runs(evaluated)
    assert len(frame) == 2 * 12 * 3 and frame.equals(evaluated.samples)
    degraded = frame[frame.task == "medq_deg_l0@gaussian_noise.2"]
    assert set(degraded.outcome) == {"ok"} and degraded.score.notna().all()
    assert mt.difference(frame[frame.task == "medq_deg_l0"], degraded).n == 12


class Owned:
    """Makes a model object of the harness that has weights."""

    def __new__(cls):
        from lmms_medtasks.harness.own_models import OwnModel

        class Constant(OwnModel):
            is_simple = True

            def __init__(self):
                super().__init__()
                self.weights = torch.nn.Linear(2, 2)

            def generate_until(self, requests):
                return ["A" for _ in requests]

        return Constant()


def test_nothing_is_left_behind_nor_printed(in_process, tmp_path, capsys):
    """Of the process: handlers, arguments, folder, variables, generators. Of a model object: its weights stay."""
    model, argv = Owned(), list(sys.argv)
    handlers = {number: signal.getsignal(number) for number in signal.valid_signals()}
    variables, folder = dict(os.environ), os.getcwd()
    drawn = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state()  # noqa: NPY002
    for _ in range(2):
        found = mt.evaluate(model, "medq_deg_l0", limit=2, output=tmp_path)
        assert found.results["medq_deg_l0"]["questions"] == 2 and isinstance(model.weights, torch.nn.Linear)
    assert capsys.readouterr() == ("", "")
    assert mt.read_runs(found).model.unique().tolist() == ["Constant"]
    assert len(mt.read_runs(tmp_path)) == 2 * 2 * 3  # of one second, and not in one log
    assert {number: signal.getsignal(number) for number in signal.valid_signals()} == handlers
    assert (sys.argv, dict(os.environ), os.getcwd()) == (argv, variables, folder)
    after = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state()  # noqa: NPY002
    assert after[:2] == drawn[:2] and torch.equal(after[2], drawn[2])


def test_a_function_is_a_model(in_process, evaluated, tmp_path, capsys):
    shown = []

    def looks(prompt, pictures):
        shown.append((prompt, [picture.mode for picture in pictures]))
        return "B"

    found = mt.evaluate(looks, ["medq_deg_l0"], limit=12, output=tmp_path)
    assert capsys.readouterr() == ("", "")
    assert len(shown) == 36 and {tuple(modes) for _, modes in shown} == {("RGB",)}
    frame = found.samples
    assert set(frame.reply) == set(frame.reading) == {"B"} and set(frame.model) == {"looks"}
    compared = mt.compare(evaluated, found)
    [row] = compared.tables["differences"].to_dict("records")
    clean = evaluated.samples[evaluated.samples.task == "medq_deg_l0"]
    expected = mt.difference(clean, frame)
    assert mt.accuracy(found) == mt.accuracy(frame) and mt.difference(found, frame).value == 0
    assert row["difference (points)"] == 100 * expected.value and row["p"] == expected.p
    assert (row["difference (points) low"], row["difference (points) high"]) == (
        100 * expected.low,
        100 * expected.high,
    )
    assert compared.to_dict() and "looks" in repr(compared) and "<iframe" in compared._repr_html_()


VERBOSE = """
import sys
import lmms_medtasks as mt
from loguru import logger

logger.remove()
logger.add(sys.stderr, format="{message}", level="INFO")

def answer(prompt, pictures):
    print("CALLED", file=sys.stderr, flush=True)
    return "B"

found = mt.evaluate(answer, "medq_deg_l0", limit=1, output=sys.argv[1], name="B", verbose=True)
logger.info(found.samples.model.unique().tolist())
"""


def test_a_function_is_named_and_its_progress_goes_where_the_caller_logs(in_process, tmp_path):
    """In a process that has not imported the harness. No bar is full before the first question is asked."""
    command = [sys.executable, "-c", VERBOSE, str(tmp_path)]
    done = subprocess.run(command, env=dict(os.environ), capture_output=True, text=True, check=True)
    before, *_, after = done.stderr.split("CALLED")
    assert "Asking 3 requests" in before and "100%" not in before
    assert "Asked 3 requests" in after and after.endswith("['B']\n") and not done.stdout


def test_a_model_that_asks_a_server_answers_in_a_notebook(in_process, tmp_path):
    """A cell runs within a loop, where asyncio.run is refused; medtasks_server and async_openai call it."""

    async def answered():
        await asyncio.sleep(0)
        return "C"

    async def cell():
        found = mt.evaluate(lambda prompt, pictures: asyncio.run(answered()), "medq_deg_l0", limit=1, output=tmp_path)
        await asyncio.sleep(0)  # the notebook's own loop goes on
        assert asyncio.get_event_loop() is asyncio.get_running_loop()
        return set(found.samples.reply) | set(found.samples.model)

    assert asyncio.run(cell()) == {"C", "function"}


@pytest.mark.parametrize(("arguments", "said"), [
    ({"model": "medtasks_rando"}, "Did you mean 'medtasks_random'"),
    ({"tasks": ["medq_deg_l00"]}, "Did you mean 'medq_deg_l0'"),
    ({"tasks": ["nothing_like_*"]}, "nothing_like_"),
    ({"tasks": []}, "names of tasks"),
    ({"tasks": "medq_deg_l0@noise.2"}, "Unknown degradation 'noise'"),
    ({"tasks": 3}, "tasks must be a list"),
    ({"limit": 0}, "above 0"),
    ({"limit": 1.5}, "whole number"),
    ({"limit": float("inf")}, "whole number"),
    ({"gen_kwargs": "foo"}, "gen_kwargs must be NAME=VALUE"),
    ({"gen_kwargs": 3}, "gen_kwargs must be .* got int"),
    ({"model_args": "seed=1,foo"}, "model_args must be NAME=VALUE"),
    ({"model_args": {"sed": 1}}, "Unknown model argument 'sed'"),
    ({"model_args": {"a": "1,2"}}, "a='1,2'"),
    ({"model": 3}, "got int"),
    ({"model": lambda prompt: "A"}, "a prompt and a list of images"),
    ({"model": lambda prompt, pictures: 1, "limit": 1}, "must give a text, got int"),
    ({"model": print, "model_args": "a=1"}, "model_args"),
    ({"output": __file__}, "is a file"),
    ({"output": 3}, r"output must be a path, got 3 \(int\)"),
    ({"use_cache": []}, "use_cache must be a path"),
    ({"num_fewshot": ""}, "num_fewshot must be a whole number"),
    ({"name": "mine"}, "'medtasks_random' has one"),
])  # fmt: skip
def test_a_mistake_is_a_user_error_and_writes_no_result(arguments, said, in_process, tmp_path):
    asked = {"model": "medtasks_random", "tasks": "medq_deg_l0", "limit": 2, "output": tmp_path, **arguments}
    with pytest.raises(mt.UserError, match=said):
        mt.evaluate(**asked)
    assert not result_files.list_result_files(tmp_path)


def test_the_notebook_that_is_kept_shows_what_its_cells_give(in_process, monkeypatch):
    """White space apart, which versions of pandas put into tables differently."""
    monkeypatch.syspath_prepend(str(DOCS / "site"))
    import notebook

    made, kept = (json.loads(text)["cells"] for text in (notebook.ipynb(), notebook.KEPT.read_text("utf-8")))
    assert [each["source"] for each in made] == [each["source"] for each in kept], "python docs/site/build.py --write"
    shown = [[output["data"] for cell in cells for output in cell.get("outputs", ())] for cells in (made, kept)]
    for one, other in zip(*shown, strict=True):
        assert set(one) == set(other)
        assert "".join(one["text/plain"]).split() == "".join(other["text/plain"]).split()
        assert one.get("image/svg+xml") == other.get("image/svg+xml"), "python docs/site/build.py --write"
        if "image/png" in one:
            pixels = [Image.open(io.BytesIO(base64.b64decode(each["image/png"]))).tobytes() for each in (one, other)]
            assert pixels[0] == pixels[1]
    page = notebook.page()
    assert sorted(page) == ["notebook-1.png", "notebook-2.svg", "notebook.md"]
    assert re.findall(r"!\[.+\]\((.+)\)", page["notebook.md"].decode()) == ["notebook-1.png", "notebook-2.svg"]
