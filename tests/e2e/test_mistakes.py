"""A user's mistakes under the harness's own command line: one message, no traceback, a status that says so."""

import pytest

ASKED = ("--model", "medtasks_random", "--tasks", "medq_deg_l2", "--limit", "2")
ELSEWHERE = "model=m,base_url=http://127.0.0.1.example/v1,api_key=none"


@pytest.mark.parametrize(
    ("arguments", "env", "message"),
    [
        (ASKED, {"MEDTASKS_DATA": None}, "Three ways out:"),
        ((*ASKED, "--model_args", "sed=3"), {}, "Unknown model argument 'sed'. Allowed: seed."),
        ((*ASKED, "--repeats", "5"), {}, "T = 3 trials, --repeats asks for 5"),
        (
            ("--model", "openai", "--model_args", ELSEWHERE, "--tasks", "sure_mimic_age", "--limit", "2"),
            {},
            "This model may not be asked 'sure_mimic_age': its host '127.0.0.1.example' resolves to no address.",
        ),
    ],
    ids=["no data and no network", "model argument", "repeats", "a third party's model"],
)
def test_one_message(harness, arguments, env, message):
    done = harness(*arguments, **env)
    assert done.status == 1
    assert message in done.printed
    assert done.printed.count("lmms-medtasks: ") == 1
    assert "Traceback" not in done.printed
    assert not list(done.folder.rglob("*.json"))
