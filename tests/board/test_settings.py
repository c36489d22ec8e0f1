"""Runs by the paper's settings, or with a prompt of the user's own, beside runs by ours: never mixed unsaid."""

import pytest

from lmms_medtasks.board import rules as rules_of_board
from lmms_medtasks.board.collect import collect_entries
from lmms_medtasks.board.comparison import compared_entries
from lmms_medtasks.board.comparison.gate import read_rules, run_gate
from lmms_medtasks.board.comparison.measure_comparison import compare
from lmms_medtasks.report.reported_suites import build_report

TASK = "medq_deg_l1"
PAPER = {"settings": {"name": "paper", "changes": {"max_new_tokens": 96}}}
THINKING = {"settings": {"name": "thinking", "changes": {"max_new_tokens": 4096}}}
LOWERED = {"settings": {"name": "thinking", "changes": {"max_new_tokens": 2952}}}
LONGER = {"changed_by_options": {"generation": {"max_new_tokens": [512, 4096]}}}
OWN = {"own_prompt": {"name": "mine.txt", "digest": "1a2b3c4d5e6f"}}
OPTIONS = {"changed_by_options": {"generation": {"temperature": [1.0, 0]}}}
NOTHING = {"settings": {"name": "paper", "changes": {}}}
ANSWERS = {f"q{row:02d}": "A" if row % 3 else "B" for row in range(12)}


@pytest.fixture
def written(tmp_path, runs):
    def write(name, metadata=None, model=None):
        rows = {TASK: runs.choice_rows(ANSWERS)}
        return runs.write(tmp_path / name, rows, model=model or name, metadata=metadata).parent

    return write


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        (PAPER, "paper settings"),
        (OWN, "own prompt mine.txt"),
        (OPTIONS, "temperature=0 instead of 1"),
        (THINKING, "thinking settings (4096 new tokens)"),
        (LONGER, "max_new_tokens=4096 instead of 512"),
    ],
)
def test_the_board_does_not_rank_them_together(written, tmp_path, metadata, said):
    written("ours"), written("theirs", metadata)
    board = collect_entries([tmp_path], rules=rules_of_board.read_board_rules())
    ranked = {entry.model.name: entry.ranked for entry in board.entries}
    assert ranked == {"ours": True, "theirs": False}
    (problem,) = [each for each in board.problems if each.code == "other_settings"]
    assert problem.level == "unranked" and said in problem.reason


def test_runs_of_one_model_by_both_settings_are_two_entries_and_a_board_of_one_kind_ranks_it(written, tmp_path):
    written("one", PAPER, "m"), written("two", None, "m")
    assert len(collect_entries([tmp_path], rules=rules_of_board.read_board_rules()).entries) == 2
    alone = collect_entries([tmp_path / "one"], rules=rules_of_board.read_board_rules())
    assert [entry.ranked for entry in alone.entries] == [True]


@pytest.mark.parametrize("metadata", [PAPER, OWN, OPTIONS, THINKING, LONGER])
def test_the_gate_refuses_to_compare_them_and_a_comparison_says_so(written, tmp_path, metadata):
    written("base"), written("new", metadata)
    sides = [compared_entries.read_compared_runs(tmp_path / name) for name in ("base", "new")]
    (tmp_path / "rules.yml").write_text("")
    (verdict,) = run_gate(*sides, read_rules(tmp_path / "rules.yml")).verdicts
    assert verdict.outcome == "not comparable"
    assert "our settings" in verdict.detail
    assert "our settings" in " ".join(compare(*sides).warnings)


def test_limits_that_were_lowered_to_two_models_rooms_are_two_settings(written, tmp_path):
    written("base", THINKING), written("new", LOWERED), written("like base", THINKING)
    base, new, like = (compared_entries.read_compared_runs(tmp_path / name) for name in ("base", "new", "like base"))
    (verdict,) = run_gate(base, new, read_rules(None)).verdicts
    assert verdict.outcome == "not comparable" and "2952 new tokens" in verdict.detail
    assert not list(compared_entries.incomparable_reasons(base.board.entries[0], like.board.entries[0]))


def test_settings_that_change_nothing_set_nothing_apart(written, tmp_path):
    written("base"), written("new", NOTHING)
    sides = [compared_entries.read_compared_runs(tmp_path / name) for name in ("base", "new")]
    assert not list(compared_entries.incomparable_reasons(sides[0].board.entries[0], sides[1].board.entries[0]))


def test_the_report_names_them_apart_and_says_the_differences_beside_published_rows(tmp_path, runs):
    for name, metadata in (("ours", None), ("theirs", PAPER)):
        rows = {"medobvious": runs.choice_rows(ANSWERS, data="mini", kind="category")}
        runs.write(tmp_path / name, rows, model="m", metadata={"data": "mini", **(metadata or {})})
    comparison, *parts = build_report([tmp_path]).parts
    assert len(parts) == 2
    assert ["paper settings" in part.title for part in parts] == [False, True]
    assert dict(parts[1].facts)["Settings"] == "paper settings"
    assert any("different settings" in flag.text for flag in comparison.flags)
    for part in (comparison, *parts):
        tables = [table for section in part.sections for table in section.tables]
        for table in tables:
            beside = any(row.kind == "reference" for row in table.rows)
            assert beside == any("Differences from the paper's protocol" in note for note in table.all_notes)
    notes = " ".join(note for table in tables for note in table.all_notes)
    assert "mini data" in notes and "new tokens" in notes


def test_options_that_changed_a_task_are_a_flag_in_the_report_and_in_every_rows_extent(written):
    folder = written("changed", {**OPTIONS, "changed_by_options": {**OPTIONS["changed_by_options"],
                     "system_instruction": "1a2b3c4d5e6f", "reasoning_tags": "none"}})  # fmt: skip
    (part,) = build_report([folder]).parts
    texts = [flag.text for flag in part.flags if flag.kind == "warning"]
    for said in ("temperature=0 instead of 1", "system instruction (1a2b3c4d5e6f)", "reasoning tags none"):
        assert sum(said in text for text in texts) == 1
        assert said in dict(part.facts)["Settings"] and said in dict(part.origin)["run data"]
