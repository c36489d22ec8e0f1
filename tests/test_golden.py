"""What each task makes of fixed documents and replies is as recorded, or its version is higher than the record's."""

import json

import pytest

from lmms_medtasks.suites import registry
from tools import renew_golden


@pytest.mark.parametrize("suite", registry.names())
def test_golden(suite):
    path = renew_golden.FOLDER / f"{suite}.json"
    recorded, made_with = renew_golden.read(path.read_text("utf-8"), str(path))
    now = json.loads(json.dumps(renew_golden.made(suite)))
    assert renew_golden.problems(recorded, now, made_with == renew_golden.libraries()) == []
