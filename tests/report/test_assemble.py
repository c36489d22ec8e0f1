"""One document from runs of any suites."""

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.report import Options, build, suites


def test_run_of_other_tasks(tmp_path):
    (tmp_path / "x_results.json").write_text('{"results": {"mmlu": {}}, "configs": {"mmlu": {}}}')
    with pytest.raises(UserError, match="No task of .*MedQ-Deg.* in .*'mmlu'"):
        build([tmp_path])


def test_every_suite_offers_what_the_registry_says():
    for suite in suites.suites().values():
        assert suite.TITLE
        assert suite.USES <= {"pairs", "parameters"}
        assert callable(suite.is_ours)
        assert callable(suite.parts)


def test_option_that_no_suite_here_uses_is_refused(write_run):
    with pytest.raises(UserError, match="--pair is of no use here: the report of MedQ-Deg"):
        build([write_run()], Options(pairs=(("a", "b"),), resamples=0))
