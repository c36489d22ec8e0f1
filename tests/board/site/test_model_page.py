"""A model's page: finding, charts beside the field, the way to its report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from lmms_medtasks.board.boards import Leaderboard
from lmms_medtasks.board.collect import collect_entries
from lmms_medtasks.board.model_facts import KnownModels, ModelFacts
from lmms_medtasks.board.site import finding_words, model_page
from lmms_medtasks.board.site.board_tables import HARD_TO_READ, BoardStandings
from lmms_medtasks.board.site.finding_words import ModelHeadline
from lmms_medtasks.board.site.write_site import SiteOptions, build_site
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.findings import Number

TASK = "medq_deg_l2"
SUITE = "medq_deg"
IMAGES = 40
MODALITIES = ("CT", "MRI")


def answers(model: str) -> dict[str, str]:
    """Six models on eighty questions: ``odd`` knows all of CT and nothing of MRI, the others half of each."""
    names = [f"q{number:02}" for number in range(2 * IMAGES)]
    if model == "odd":
        return {name: "A" if number % 2 == 0 else "B" for number, name in enumerate(names)}
    shift = ord(model[-1]) % 5
    return {name: "A" if (number // 2 + shift) % 4 < 2 else "B" for number, name in enumerate(names)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, runs: ModuleType) -> Path:
    found = tmp_path_factory.mktemp("runs")
    for model in ("odd", "a", "b", "c", "d", "e"):
        rows = []
        for place, modality in enumerate(MODALITIES):
            own = {name: letter for number, (name, letter) in enumerate(answers(model).items()) if number % 2 == place}
            made = runs.choice_rows(own, images=IMAGES, modality=modality)
            for row in made:
                row["questions"]["cluster"] = row["accuracy"]["cluster"] = f"{modality} {row['questions']['cluster']}"
            rows += made
        runs.write(found / model, {TASK: rows}, model=model)
    return found


@pytest.fixture(scope="module")
def board(folder: Path) -> Leaderboard:
    return collect_entries([folder])


@pytest.fixture(scope="module")
def standings(board: Leaderboard) -> BoardStandings:
    return BoardStandings(board, 100)


def key_of(board: Leaderboard, name: str) -> str:
    return next(model.key for model in board.models if model.name == name)


def headline_of(board: Leaderboard, standings: BoardStandings, name: str) -> ModelHeadline:
    (found,) = finding_words.model_headlines(model_page.entries_of(key_of(board, name), board), standings)
    return found


def test_a_headline_has_score_field_and_guessing(board: Leaderboard, standings: BoardStandings) -> None:
    found = headline_of(board, standings, "odd")
    assert (found.number.value, found.place[-5:], found.number.chance) == (50.0, " of 6", 25.0)
    assert "50.0 %" in found.chart and "guessing 25.0" in found.chart


def headline(title: str, value: float, rank: int, worst: int | None = None) -> ModelHeadline:
    number = Number("words", cell=Cell(value, value - 3, value + 3), chance=25.0)
    return ModelHeadline(title, title, number, rank, f"rank {f'{rank}–{worst}' if worst else rank} of 4")


def test_the_sentence_has_the_best_place_and_guessing_and_compares_no_levels_of_guessing() -> None:
    found = [
        headline("One", 60.0, 2),
        headline("Two", 80.0, 1, 2),
        headline("Three", 26.0, 2),
        headline("Four", 9.0, 3),
    ]
    assert finding_words.model_finding("name", found) == (
        "name: 80.0 % [77.0, 83.0] on Two, rank 1–2 of 4, its best place on 4 benchmarks; "
        "no better than guessing on Three; below guessing on Four."
    )


def test_of_a_model_whose_replies_could_not_be_read_that_is_said_and_no_guessing() -> None:
    number = Number("words", cell=Cell(9.0, 6.0, 12.0, HARD_TO_READ))
    unread = replace(headline("One", 9.0, 3), number=number)
    said = finding_words.model_finding("name", [unread, headline("Two", 26.0, 2)])
    assert said.startswith(
        "name: under 90 % of the replies could be read on One: nothing is said about the model there"
    )
    assert said.endswith("; 26.0 % [23.0, 29.0] on Two, rank 2 of 4; no better than guessing on Two.")
    assert "below guessing" not in said


def test_what_is_known_of_a_model_is_said_and_nothing_else(board: Leaderboard, tmp_path: Path) -> None:
    known = KnownModels({"odd": ModelFacts(family="Odd", parameters_b=7.0, open_weights=False)})
    build_site(board, tmp_path / "site", SiteOptions(resamples=0, reports=False, questions=False, models=known))
    text = next((tmp_path / "site" / "models").glob("odd*.html")).read_text("utf-8")
    assert "Run by runner; family Odd; 7 billion parameters; closed weights. " in text
    assert "unknown" not in text and "licence" not in text


def test_the_page_leads_to_its_report_and_that_back_and_holds_no_copy(folder: Path, tmp_path: Path) -> None:
    build_site(collect_entries([folder / "odd", folder / "a"]), tmp_path / "site", SiteOptions(resamples=20))
    page = next((tmp_path / "site" / "models").glob("odd*.html"))
    text = page.read_text("utf-8")
    assert f'href="../reports/{page.name}"' in text and "published, Table" not in text
    assert "<svg" in text[text.index("Score on each benchmark") :]
    report = (tmp_path / "site" / "reports" / page.name).read_text("utf-8")
    assert f'<a href="../models/{page.name}">← odd</a>' in report
    assert report.count("<table") > 3 and "published, Table" not in report
    build_site(collect_entries([folder / "odd"]), tmp_path / "without", SiteOptions(resamples=20, reports=False))
    assert not (tmp_path / "without" / "reports").exists()
    assert "report" not in next((tmp_path / "without" / "models").glob("*.html")).read_text("utf-8")
