"""The board's first table: who stands first, how models are grouped, and the sentence of each suite."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from lmms_medtasks.board.collect import collect
from lmms_medtasks.board.site import board_tables
from lmms_medtasks.board.site.board_tables import Links, Standings

TASK = "medq_deg_l2"
IMAGES = 40


@pytest.fixture
def standings(tmp_path: Path, runs: ModuleType) -> Standings:
    """Three models on forty images: ``best`` is right on 36, ``like`` on 35 and ``poor`` on 4."""
    for name, right in (("poor", 4), ("like", 35), ("best", 36)):
        answers = {f"q{number}": "A" if number < right else "B" for number in range(IMAGES)}
        runs.write(tmp_path / name, {TASK: runs.choice_rows(answers, images=IMAGES)}, model=name)
    return Standings(collect([tmp_path]), resamples=100)


def test_the_best_stands_first_and_groups_have_tiers(standings: Standings) -> None:
    table = board_tables.overview(standings, Links(model=lambda key: key, suite=lambda name: name))
    assert [row.cells[0].value for row in table.rows] == ["best", "like", "poor"]
    # One question between the first two: not told apart. The third is 31 questions behind.
    assert [row.cells[1].tier for row in table.rows] == [1, 1, 2]


def test_the_sentence_names_the_best_and_who_is_not_told_apart(standings: Standings) -> None:
    ((suite, said),) = board_tables.findings(standings)
    assert suite == "medq_deg"
    assert said.startswith("best 90.0 % [") and "not told apart from like" in said and "poor" not in said
