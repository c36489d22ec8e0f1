"""``TASK@degradation.level`` from the commands: ``lmms-eval``, ``lmms-medtasks run --degrade``, two processes."""

import pytest

from lmms_medtasks import degradations
from lmms_medtasks.harness import degraded_pictures
from lmms_medtasks.samples import result_files as results
from tests import foreign_tasks
from tests.e2e.shown_runner import digest

DEGRADED = [f"forms_pil@{each}" for each in ("gaussian_noise.1", "gaussian_noise.1.5", "motion_blur.1")]
UNCHANGED = [each.replace("pil", "black") for each in DEGRADED]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return foreign_tasks.write(tmp_path_factory.mktemp("foreign"))


def replies(run, task):
    return {row["doc_id"]: row["filtered_resps"] for _, row in run.rows(task)}


def test_run_degrade_asks_clean_and_degraded_tasks(harness, folder, shown_runner):
    """Of a task with a black picture none is changed: status 1, and every other result is written."""
    asked = ("--model", "shown_chat", "--include_path", str(folder), "--tasks", "forms_pil,forms_black")
    degrade = ("--degrade", "gaussian_noise:1,1.5,motion_blur:1")
    done = harness(*asked, *degrade, launcher="run", PYTHONPATH=shown_runner, status=1)
    assert "Traceback" not in done.printed and f"no result of {', '.join(UNCHANGED)}" in done.printed
    run = done.run
    assert set(run.tasks) == {"forms_pil", "forms_black", *DEGRADED, *UNCHANGED}
    assert all((f"|{name}" in done.printed) == (name not in UNCHANGED) for name in run.tasks)
    assert len(results.list_missing_results([run], run.tasks)) == len(UNCHANGED)
    assert [len(list(run.rows(name))) for name in UNCHANGED] == [1, 1, 1]
    found = [replies(run, name) for name in ("forms_pil", *DEGRADED)]
    assert all(len({each[number] for each in found}) == 4 for number in range(foreign_tasks.QUESTIONS))
    for name in DEGRADED:
        assert run.content["configs"][name]["metadata"]["degradation"]["changed"] == foreign_tasks.PICTURES
        assert all(len(row["degraded_pictures"]) == 1 for _, row in run.rows(name))


def test_two_processes_show_each_question_its_picture(harness, folder, shown_runner):
    names = ["forms_pil@gaussian_noise.1", "forms_pil@gaussian_noise.2", "forms_paths@gaussian_noise.2"]
    asked = ("--model", "shown_simple", "--include_path", str(folder), "--tasks", ",".join(names))
    done = harness(*asked, launcher="torchrun", PYTHONPATH=shown_runner)
    for name in names:
        rows = done.samples(name)
        assert [row["doc_id"] for row in rows] == list(range(foreign_tasks.QUESTIONS))
        for row in rows:
            clean = foreign_tasks.picture(row["doc_id"] % foreign_tasks.PICTURES)
            known_as = degraded_pictures.pixel_digest(clean)
            level = int(name[-1])
            wanted = degradations.apply(clean, "gaussian_noise", severity=level, seed=f"{known_as}/0")
            assert row["filtered_resps"] == digest(wanted)
            assert [each["picture"] for each in row["degraded_pictures"]] == [known_as]
        told = done.run.content["configs"][name]["metadata"]["degradation"]
        assert told["pictures"] == told["changed"] == foreign_tasks.PICTURES


@pytest.mark.parametrize("task", ["forms_video", "forms_rounds", "forms_nowhere"])
def test_refused_with_a_message_before_a_model_is_loaded(harness, folder, task, tmp_path):
    nothing = tmp_path / "not_a_model"
    nothing.mkdir()
    done = harness("--model", "gemma3", "--model_args", f"pretrained={nothing}", "--include_path", str(folder),
                   "--tasks", f"forms_pil,{task}@gaussian_noise.2", status=2)  # fmt: skip
    assert f"lmms-medtasks: {task}@gaussian_noise.2" in done.printed.replace("'", "")
    assert "not_a_model" not in done.printed
