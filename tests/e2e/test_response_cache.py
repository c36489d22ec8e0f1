"""The harness's response cache serves a task's replies again, and none of them after a change that could move them."""

import pytest

TASK = "medq_deg_l1"
GREEDY = ("--gen_kwargs", "temperature=0,do_sample=False")


@pytest.fixture
def asked(harness, stub, tmp_path):
    """Run the task with the cache on; gives the number of requests that reached the model."""

    def call(model="openai", **env):
        settings = f"model=tiny,base_url={stub.url},api_key=none,max_retries=1,retry_backoff_s=0"
        before = len(stub.requests)
        done = harness(
            "--model", model, "--model_args", settings, "--tasks", TASK, "--limit", "2", *GREEDY,
            "--use_cache", str(tmp_path / "cache"), **env,
        )  # fmt: skip
        assert done.run.tasks[TASK]["accuracy,trials"] is not None
        told = done.run.content["configs"][TASK]["metadata"]["changed_by_options"]
        assert told == {"generation": {"do_sample": [True, False], "temperature": [1.0, 0]}}
        return len(stub.requests) - before

    return call


def test_served_again_only_while_nothing_changed(asked, tmp_path):
    first = asked()
    assert first > 0
    assert asked() == 0
    # A sitecustomize stands for an edit of our code under the same YAML.
    (tmp_path / "sitecustomize.py").write_text(
        "import pathlib\noriginal = pathlib.Path.read_bytes\n"
        "def edited(path):\n"
        "    return original(path) + (b'EDITED = 1' if path.parts[-2:] == ('harness', 'hooks.py') else b'')\n"
        "pathlib.Path.read_bytes = edited\n"
        "from lmms_medtasks import digests\n"
        "digests.package_digest.cache_clear()\n"  # what a process of harness_commands.py has read before
    )
    assert asked(PYTHONPATH=str(tmp_path)) == first


def test_a_runner_that_changes_the_settings_of_its_requests_is_served_again(asked):
    """The harness looks its replies up by what a request asks for, after the run."""
    assert asked("async_openai") > 0
    assert asked("async_openai") == 0
