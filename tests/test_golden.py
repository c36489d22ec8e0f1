"""What each task makes of fixed documents and replies is as recorded, or its version is higher than the record's.

So are the pixels of each degradation.
"""

import json

import pytest

from lmms_medtasks.suites import registry
from tools import renew_golden

NEW_RULE = (
    "Is it a reader's rule? Add a reply that it reads otherwise to tests/golden/documents/reader_cases.json, then "
    "raise the version and renew: so each task that reads with the rule shows it."
)


@pytest.mark.parametrize("suite", [*registry.names(), renew_golden.DEGRADATIONS])
def test_golden(suite):
    path = renew_golden.FOLDER / f"{suite}.json"
    recorded, made_with = renew_golden.read(path.read_text("utf-8"), str(path))
    now = json.loads(json.dumps(renew_golden.made(suite)))
    found = renew_golden.problems(recorded, now, made_with == renew_golden.libraries())
    assert not found, "\n".join([*found, NEW_RULE])
