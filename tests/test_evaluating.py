"""What is checked before the harness evaluates our tasks."""

from types import SimpleNamespace

import pytest

from lmms_medtasks import evaluating
from lmms_medtasks.errors import UserError


def test_another_number_of_trials_than_the_task_has_is_refused():
    filters = [{"name": "trials", "filter": [{"function": "take_first_k", "k": 3}]}]
    config = SimpleNamespace(task="t", repeats=5, filter_list=filters, metadata={"data_digest": "x"})
    tasks = {"group": {"t": SimpleNamespace(config=config)}}
    with pytest.raises(UserError, match="T = 3 trials, --repeats asks for 5"):
        evaluating._check_repeats(tasks)
    config.repeats = 3
    evaluating._check_repeats(tasks)
    config.repeats, config.metadata = 5, {}  # not ours
    evaluating._check_repeats(tasks)
