"""The page that says how to submit a model: its commands, requests and judges are those of pins and rules."""

from __future__ import annotations

import re
from dataclasses import replace
from types import ModuleType

import pytest

from lmms_medtasks.board.boards import Leaderboard
from lmms_medtasks.board.collect import collect_entries
from lmms_medtasks.board.rules import with_own
from lmms_medtasks.board.site import submit_page
from lmms_medtasks.board.site.submit_page import PinnedTask, SubmissionGuide
from lmms_medtasks.board.site.write_site import SiteOptions, build_site
from lmms_medtasks.board.trust.pins import QuestionPins, pin_key, pin_of
from lmms_medtasks.errors import UserError

ADDRESS = "https://github.com/ada/board"


@pytest.fixture(scope="module")
def pins(tmp_path_factory: pytest.TempPathFactory, runs: ModuleType) -> QuestionPins:
    """Two tasks on mini data, one of them on full data too, and one with a judge that no pin names."""
    root = tmp_path_factory.mktemp("runs")
    rows = {f"q{number:02}": "AAA" for number in range(12)}
    for task, data in (("medq_deg_l0", "mini"), ("medq_deg_l1", "mini"), ("medq_deg_l1", "full")):
        runs.write(root / task / data, {task: runs.choice_rows(rows, data=data)}, metadata={"data": data})
    runs.write_judged(root / "open", dict.fromkeys(rows, 50.0))
    return QuestionPins({pin_key(each): replace(pin_of(each), judge="") for each in collect_entries([root]).entries})


NOTHING = Leaderboard((), {}, ())


def test_a_task_is_of_the_pinned_data_that_are_ranked_and_of_the_judge_of_the_rules(pins):
    found = submit_page.make_guide(f"{ADDRESS}.git", NOTHING, pins, with_own({}, ""))
    assert found.repository == ADDRESS
    assert [(each.task, each.data, each.questions, each.trials, each.judge) for each in found.tasks] == [
        ("med_cmr_open", "full", 12, 1, None), ("medq_deg_l0", "mini", 12, 3, ""), ("medq_deg_l1", "full", 12, 3, ""),
    ]  # fmt: skip
    assert found.requests == 12 + 36 + 36
    own = with_own({"board": {"med_cmr_open": {"judge": "openai:m at http://h/v1"}, "medq*": {"data": "mini"}}}, "")
    judged, *others = submit_page.make_guide(ADDRESS, NOTHING, pins, own).tasks
    assert judged.judge == "openai:m at http://h/v1" and {each.data for each in others} == {"mini"}


def test_there_is_a_command_for_each_kind_of_data_and_judge():
    tasks = [
        PinnedTask("a", "1", "full", 1, 1, ""), PinnedTask("b", "1", "full", 1, 1, None),
        PinnedTask("c", "1", "mini", 1, 1, "openai:m, answered by m-1"), PinnedTask("d", "1", "mini", 1, 1, "lexical"),
    ]  # fmt: skip
    commands = list(SubmissionGuide(ADDRESS, tasks).commands())
    assert [re.search(r"--tasks (\S+)", command)[1] for command in commands] == ["a,b", "d", "c"]
    starts = [command.partition("lmms-medtasks")[0] for command in commands]
    assert starts == ["", "MEDTASKS_DATA=mini MEDTASKS_JUDGE=lexical ", "MEDTASKS_DATA=mini MEDTASKS_JUDGE=openai:m "]


def test_the_page_is_there_and_linked_only_where_a_repository_is_given(tmp_path, pins):
    guide = submit_page.make_guide(ADDRESS, NOTHING, pins, with_own({}, ""))
    for name, options in (("with", SiteOptions(guide=guide)), ("without", SiteOptions())):
        build_site(NOTHING, tmp_path / name, options)
    page = (tmp_path / "with" / "submit.html").read_text("utf-8")
    assert f"pip install -r {ADDRESS}/raw/HEAD/package.txt" in page and "lmms-medtasks data list" in page
    assert "84 requests for all tasks: 1 min 24 s at one second" in page and "not named yet" in page
    assert 'href="submit.html"' in (tmp_path / "with" / "index.html").read_text("utf-8")
    assert "submit.html" not in (tmp_path / "without" / "index.html").read_text("utf-8")
    assert not (tmp_path / "without" / "submit.html").exists()


@pytest.mark.parametrize("address", ["ada/board", "http://h/x", "https://h/x y", 'https://h/"><script>'])
def test_a_repository_is_an_address(address, pins):
    with pytest.raises(UserError, match="expected an address such as https://github.com/OWNER/BOARD"):
        submit_page.make_guide(address, NOTHING, pins, with_own({}, ""))
