"""A user's mistakes under the harness's own command line: one message, no traceback, a status that says so."""

import pytest

ASKED = ("--model", "medtasks_random", "--tasks", "medq_deg_l2", "--limit", "2")


@pytest.mark.parametrize(
    ("arguments", "env", "message"),
    [
        (ASKED, {"MEDTASKS_DATA": None}, "Three ways out:"),
        ((*ASKED, "--model_args", "sed=3"), {}, "Unknown model argument 'sed'. Allowed: seed."),
        ((*ASKED, "--repeats", "5"), {}, "T = 3 trials, --repeats asks for 5"),
    ],
    ids=["no data and no network", "model argument", "repeats"],
)
def test_one_message(harness, arguments, env, message):
    done = harness(*arguments, **env)
    assert done.status == 1
    assert message in done.printed
    assert done.printed.count("lmms-medtasks: ") == 1
    assert "Traceback" not in done.printed
    assert not list(done.folder.rglob("*.json"))
