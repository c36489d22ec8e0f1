"""Signs beside numbers, and what guessing gets: the same on every page."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest

from lmms_medtasks.board.collect import collect_entries
from lmms_medtasks.board.site import board_tables, finding_words, index_page, suite_words
from lmms_medtasks.board.site.board_tables import HARD_TO_READ, BoardStandings, PageLinks, guessing_score, ranking_table
from lmms_medtasks.board.site.suite_charts import suite_chart
from lmms_medtasks.board.site.write_site import SiteOptions, build_site
from lmms_medtasks.report.document import Cell, Frame, FrameColumn, FrameRow
from lmms_medtasks.report.findings import BY_WORDS
from lmms_medtasks.report.judged_tables import LEXICAL, MEANINGS
from lmms_medtasks.task_configs.medobvious import measures
from tests.board.made_up_entries import ACCURACY, ERRORS, STARS, made_up_entry, right_and_wrong

TASK, HEAD = "med_cmr_open", ("med_cmr_open", "total")
LINKS = PageLinks(model=str, suite=str)


@pytest.fixture
def standings(tmp_path: Path, runs: ModuleType) -> BoardStandings:
    """Two models whose open answers the judge ``lexical`` scored; of the second one it scored none, rules did."""
    for name, total, settled in (("said", 80.0, ()), ("silent", 0.0, range(12))):
        totals = {f"q{number:02}": total for number in range(12)}
        rows = runs.judged_rows(totals, "lexical", {f"q{number:02}" for number in settled})
        runs.write(tmp_path / name, {TASK: rows}, model=name, metadata={"judge": {**runs.JUDGE, "name": "lexical"}})
    return BoardStandings(collect_entries([tmp_path]), 20)


def test_numbers_of_the_judge_that_compares_words_are_marked_wherever_they_stand(standings: BoardStandings) -> None:
    said, silent = sorted(standings.board.entries, key=lambda entry: entry.model.name)
    assert said.is_lexical("total") and not silent.is_lexical("total")
    table = ranking_table(TASK, standings, LINKS)
    assert table is not None and [LEXICAL in row.cells[2].mark for row in table.rows[:2]] == [True, False]
    assert MEANINGS[LEXICAL] in " ".join(table.all_notes)
    own = {row.name: row.scores[0] for row in index_page.leaderboard_table(standings, LINKS).measured}
    # The first place has no tint, and is not the best of anything.
    assert (own["said"].rank, own["said"].cell.tier, own["said"].cell.mark) == ("1", 0, LEXICAL)
    assert finding_words.model_headlines([said], standings)[0].number.by_words
    series = {"open": [[*HEAD]]}
    about = suite_words.SuiteTexts("med_cmr", "CMR", chart={"kind": "heat", "title": "t", "series": series})
    drawn = suite_chart(about, standings, LINKS, HEAD)
    assert drawn is not None
    ((_, picture),) = drawn.drawings
    assert re.search(f'fill-opacity="0.00".*?>80{LEXICAL}<', picture)
    assert dict(drawn.legend) == {LEXICAL: MEANINGS[LEXICAL]}


def test_each_page_with_such_numbers_says_so(standings: BoardStandings, tmp_path: Path) -> None:
    site = tmp_path / "site"
    build_site(standings.board, site, SiteOptions(resamples=20, reports=False))
    suite, index = ((site / name).read_text("utf-8") for name in ("suites/med_cmr.html", "index.html"))
    models = {path.stem.rpartition("-")[0]: path.read_text("utf-8") for path in (site / "models").glob("*.html")}
    for text in (suite, models["said"]):
        (badges,) = re.findall(r'<ul class="badges">(.*?)</ul>', text, re.DOTALL)
        (warned,) = (each for each in re.findall(r'<li class="warn">(.*?)</li>', badges) if "lexical" in each)
        assert LEXICAL in warned and board_tables.BY_WORDS in warned
    assert board_tables.BY_WORDS not in models["silent"]
    assert BY_WORDS in suite[suite.index("<h1>") : suite.index("</h1>")] and BY_WORDS in index
    assert f"<b>80.0{LEXICAL}</b>" in suite and f"{LEXICAL}: by a judge that compares words" in index


def test_each_sign_of_a_mark_is_explained_once() -> None:
    marks = (HARD_TO_READ, f"{HARD_TO_READ}‖", f"{HARD_TO_READ}{LEXICAL}‖", LEXICAL)
    rows = tuple(FrameRow((Cell(1.0, mark=mark),)) for mark in marks)
    table = Frame("key", "Title", (FrameColumn("number"),), rows, marks=board_tables.RANK_MARKS)
    assert [note[0] for note in table.all_notes] == ["‖", HARD_TO_READ, LEXICAL]


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


def test_guessing_is_as_the_benchmark_declares_and_no_level_of_it_stands_beside_what_was_not_read(
    tmp_path: Path, write: Callable[..., Path]
) -> None:
    write(tmp_path, "a", "AABB" * 5, tasks={"medobvious": highlighted})
    standings = BoardStandings(collect_entries([tmp_path]), resamples=20)
    [head] = index_page.leaderboard_table(standings, LINKS).heads
    [own] = finding_words.model_headlines(standings.board.entries, standings)
    [number] = standings.numbers(head.task, head.measure).values()
    assert guessing_score(standings.board.entries[0], head.measure) == 0.5
    assert number.chance is own.number.chance is None and number.cell.mark == HARD_TO_READ


def test_of_questions_with_options_guessing_gets_the_mean_of_one_over_their_number() -> None:
    # (1/2 + 1/4 + 1/4) / 3; the question without a score does not count.
    entry = made_up_entry("m", right_and_wrong("101-"), tags={"option_count": [2, 4, 4, 10]})
    assert guessing_score(entry, "accuracy") == pytest.approx(1 / 3)


def test_what_the_benchmark_says_of_each_question_goes_before_its_options() -> None:
    entry = made_up_entry(
        "m", right_and_wrong("10-"), tags={"option_count": [2, 2, 2]}, columns={"chance.score": [0.1, 0.4, 0.9]}
    )
    # (0.1 + 0.4) / 2
    assert guessing_score(entry, "accuracy") == pytest.approx(0.25)


@pytest.mark.parametrize("said", [[0.5, None], [None, None]])
def test_where_one_question_does_not_say_it_guessing_is_not_known(said: list[float | None]) -> None:
    columns = {"chance.score": pa.array(said, pa.float64()).to_pylist()}
    assert guessing_score(made_up_entry("m", right_and_wrong("10"), columns=columns), "accuracy") is None


def test_questions_without_options_or_without_a_score_have_none() -> None:
    assert guessing_score(made_up_entry("m", right_and_wrong("10")), "accuracy") is None
    unscored = made_up_entry("m", right_and_wrong("--"), columns={"chance.score": [0.5, 0.5]})
    assert guessing_score(unscored, "accuracy") is None


def test_only_the_first_measure_has_guessing_and_only_a_share() -> None:
    options = {"option_count": [4, 4]}
    letters = right_and_wrong("10")
    two = made_up_entry("m", {ACCURACY: letters, ERRORS: letters}, tags=options)
    assert (guessing_score(two, "accuracy"), guessing_score(two, "errors")) == (0.25, None)
    assert guessing_score(made_up_entry("m", {STARS: {"q0": 3.0, "q1": 4.0}}, tags=options), "stars") is None


def test_closed_questions_have_the_guessing_that_their_benchmark_declares_and_stars_have_none(
    tmp_path: Path, write: Callable[..., Path], rows_of: dict[str, Any]
) -> None:
    write(tmp_path, "a", "AABB" * 10, tasks={"sure_slake_modality": rows_of["sure_slake_modality"]})
    standings = BoardStandings(collect_entries([tmp_path]), resamples=20)
    [entry] = standings.board.entries
    assert {name: guessing_score(entry, name) for name in ("closed_iid", "closed_ood", "open_ood")} == {
        "closed_iid": 0.5, "closed_ood": 0.5, "open_ood": None
    }  # fmt: skip
    [head] = index_page.leaderboard_table(standings, LINKS).heads
    assert [each.chance for each in standings.numbers(head.task, head.measure).values()] == [50.0]
