"""Data sets of one benchmark may number their questions alike: the same id on another picture is another question."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lmms_medtasks.board.boards import Leaderboard
from lmms_medtasks.board.collect import collect_entries
from lmms_medtasks.board.site import board_tables, suite_words
from lmms_medtasks.board.site.folder import SiteFolder
from lmms_medtasks.board.site.question_cards import QuestionCards
from lmms_medtasks.board.site.question_data import QuestionData


@pytest.fixture(scope="module")
def numbered_alike(tmp_path_factory: pytest.TempPathFactory, runs: ModuleType) -> Leaderboard:
    """Two data sets of one benchmark, four questions each, of the same ids and on other pictures; a model."""
    folder = tmp_path_factory.mktemp("alike")
    first, second = (runs.choice_rows({f"test/{n}": letter for n in range(4)}) for letter in "BC")
    for row in second:
        row["questions"]["cluster"] = row["accuracy"]["cluster"] = f"other {row['questions']['cluster']}"
    runs.write(folder / "run", {"bones_joints_t1_knowledge": first, "bones_joints_t2_note": second}, model="m")
    return collect_entries([folder])


def test_a_card_has_no_replies_to_another_question_of_the_same_id(numbered_alike: Leaderboard, tmp_path: Path) -> None:
    data = QuestionData(SiteFolder(tmp_path), suite_words.AllowedData())
    cards = QuestionCards(data, lambda entry: entry.model.name)
    for entry in numbered_alike.entries:
        (card,) = cards.of(entry.task, ["test/1"], numbered_alike.entries)
        assert [len(model) for model in card.answers] == [1]


def test_a_number_is_marked_by_the_replies_to_its_own_questions_alone(
    tmp_path: Path, write: Callable[..., Any], rows_of: dict[str, Callable[..., Any]]
) -> None:
    def rows(silent: str) -> Callable[..., Any]:
        def made(letters: str, said: str) -> Any:
            found = rows_of["sure_slake_modality"](letters, said)
            for row in found:
                if row["questions"]["tags"]["answer_type"] == silent:
                    row["questions"]["trials"] = ["empty"]
            return found

        return made

    for silent in ("open", "closed"):
        write(tmp_path / silent, silent, "A" * 80, "said", tasks={"sure_slake_modality": rows(silent)})
    entries = {entry.model.name: entry for entry in collect_entries([tmp_path]).entries}
    assert entries["open"].counts.parse_rate == entries["closed"].counts.parse_rate == 0.5
    assert board_tables.number_signs(entries["open"], "closed_ood") == ""
    assert board_tables.number_signs(entries["closed"], "closed_ood") == board_tables.HARD_TO_READ
