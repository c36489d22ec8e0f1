"""What guessing gets: as the benchmark declares it, the same on every page, and on the better side of the scale."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lmms_medtasks.board import model_facts
from lmms_medtasks.board.collect import collect
from lmms_medtasks.board.site import bullets, leaderboard_table
from lmms_medtasks.board.site.board_tables import Links, Standings
from lmms_medtasks.board.site.guessing import guessing, is_told_from_guessing
from lmms_medtasks.statistics.intervals import Interval
from lmms_medtasks.task_configs.medobvious import measures


def highlighted(letters: str, said: str) -> list[dict[str, Any]]:
    """Questions of a highlighted panel: two answers, which no list of options says."""
    docs = [
        {"id": f"v{number}", "item": f"i{number}", "data": "full", "tier": 1, "kind": "x", "grid": "2x2", "options": [],
         "task_type": "visual_referring", "question": "?", "negative": False, "answer": letter,
         "answer_position": "top-left"}
        for number, letter in enumerate(letters)
    ]  # fmt: skip
    return [
        {**measures.process_results(doc, ["A"]), "filtered_resps": [said], "target": "A", "input": said} for doc in docs
    ]


def test_the_first_page_has_the_guessing_that_a_models_page_has_and_the_benchmark_declares(
    tmp_path: Path, write: Callable[..., Path]
) -> None:
    write(tmp_path, "a", "AABB" * 5, tasks={"medobvious": highlighted})
    standings = Standings(collect([tmp_path]), resamples=20)
    [head] = leaderboard_table.leaderboard(standings, Links(model=str, suite=str), model_facts.read()).heads
    [own] = bullets.headlines(standings.board.entries, standings)
    assert head.chance == own.chance == 50.0


@pytest.mark.parametrize(
    ("low", "high", "higher_is_better", "told"),
    [(0.3, 0.5, True, True), (0.2, 0.5, True, False), (0.1, 0.2, False, True), (0.1, 0.3, False, False)],
)
def test_the_end_of_the_interval_that_is_nearer_to_guessing_decides(
    low: float, high: float, higher_is_better: bool, told: bool
) -> None:
    mean = Interval((low + high) / 2, low, high, n=40, clusters=40)
    assert is_told_from_guessing(mean, 0.25, higher_is_better) is told


def test_closed_questions_have_the_guessing_that_their_benchmark_declares_and_stars_have_none(
    tmp_path: Path, write: Callable[..., Path], rows_of: dict[str, Any]
) -> None:
    write(tmp_path, "a", "AABB" * 10, tasks={"sure_slake_modality": rows_of["sure_slake_modality"]})
    standings = Standings(collect([tmp_path]), resamples=20)
    [entry] = standings.board.entries
    assert {name: guessing(entry, name) for name in ("closed_iid", "closed_ood", "open_ood")} == {
        "closed_iid": 0.5, "closed_ood": 0.5, "open_ood": None
    }  # fmt: skip
    [head] = leaderboard_table.leaderboard(standings, Links(model=str, suite=str), model_facts.read()).heads
    assert head.chance == 50.0
