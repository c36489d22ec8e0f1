"""A folder's tasks through the real harness."""

import pytest

from lmms_medtasks.contribute.smoke_run import run_smoke_test
from lmms_medtasks.errors import UserError


def test_runs_all_tasks_of_a_folder_on_a_few_questions(chest_side):
    rows = run_smoke_test(chest_side, limit=2, models=("medtasks_random",))
    values = {(row.task, row.metric): row.value for row in rows}
    assert values["chest_side", "chance"] == values["chest_side_noimage", "chance"] == 0.5
    assert values["chest_side", "parse_rate"] == 1.0
    assert values["chest_side", "accuracy"] in (0.0, 0.5, 1.0)


def test_a_model_that_is_not_there_is_refused(chest_side):
    with pytest.raises(UserError, match="'medtasks_rnd': no such model. Did you mean 'medtasks_random'"):
        run_smoke_test(chest_side, models=("medtasks_rnd",))


def test_a_broken_folder_is_told_before_it_runs(chest_side):
    (chest_side / "chest_side.yaml").write_text("task: [", "utf-8")
    with pytest.raises(UserError, match="Run `lmms-medtasks validate` first"):
        run_smoke_test(chest_side)
