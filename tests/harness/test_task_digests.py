"""The digests of a task: of its prompt, its degradations, and of code that is not ours."""

from functools import partial

from lmms_medtasks.harness import task_digests


def config(hooks=(), **settings):
    return {"lmms_eval_specific_kwargs": {"default": settings}, "hooks": hooks}


def test_prompt_and_degradations_count_where_the_task_has_them(tmp_path):
    first, second = tmp_path / "1.txt", tmp_path / "2.txt"
    first.write_text("a {question}")
    second.write_text("b {question}")
    one, other = (task_digests.of_task(config(prompt=str(path))) for path in (first, second))
    assert one["prompt"] != other["prompt"] and set(one) == {"degradations", "package", "prompt"}
    assert (
        set(task_digests.of_task(config(severity=0))) == {"package"} == {*task_digests.of_task(config(rendered=True))}
    )


def test_code_of_someones_own_counts(tmp_path):
    def hook(): ...

    hook.digested = "a column"
    by_hooks = task_digests.of_task(config([{"name": partial(hook)}]))["own_code"]
    (tmp_path / "hooks.py").write_text("A = 1")
    (tmp_path / "report.py").write_text("A = 1")
    by_folder = task_digests.of_task(config(), tmp_path)["own_code"]
    (tmp_path / "report.py").write_text("A = 2")
    assert task_digests.of_task(config(), tmp_path)["own_code"] == by_folder != by_hooks
    (tmp_path / "hooks.py").write_text("A = 2")
    assert task_digests.of_task(config(), tmp_path)["own_code"] != by_folder


def test_versions_of_libraries_are_recorded_beside_them():
    found = task_digests.libraries()
    assert set(found) == {"numba", "numpy", "pillow", "scipy"} and all(found.values())
