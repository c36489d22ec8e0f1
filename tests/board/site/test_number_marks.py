"""Signs beside numbers: of a judge that compares words, and of replies that could not be read."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest

from lmms_medtasks.board.collect import collect
from lmms_medtasks.board.site import board_tables, finding_words, index_page, suite_words
from lmms_medtasks.board.site.board_tables import Links, Standings, ranking
from lmms_medtasks.board.site.suite_charts import suite_chart
from lmms_medtasks.board.site.write_site import Options, build
from lmms_medtasks.board.word_verdicts import is_by_words
from lmms_medtasks.report.findings import BY_WORDS
from lmms_medtasks.report.judged_tables import LEXICAL, MEANINGS

TASK, HEAD = "med_cmr_open", ("med_cmr_open", "total")
LINKS = Links(model=str, suite=str)


@pytest.fixture
def standings(tmp_path: Path, runs: ModuleType) -> Standings:
    """Two models whose open answers the judge ``lexical`` scored; of the second one it scored none, rules did."""
    for name, total, settled in (("said", 80.0, ()), ("silent", 0.0, range(12))):
        totals = {f"q{number:02}": total for number in range(12)}
        rows = runs.judged_rows(totals, "lexical", {f"q{number:02}" for number in settled})
        runs.write(tmp_path / name, {TASK: rows}, model=name, metadata={"judge": {**runs.JUDGE, "name": "lexical"}})
    return Standings(collect([tmp_path]), 20)


def test_numbers_of_the_judge_that_compares_words_are_marked_wherever_they_stand(standings: Standings) -> None:
    said, silent = sorted(standings.board.entries, key=lambda entry: entry.model.name)
    assert is_by_words(said, "total") and not is_by_words(silent, "total")
    table = ranking(TASK, standings, LINKS)
    assert table is not None and [LEXICAL in row.cells[2].mark for row in table.rows[:2]] == [True, False]
    assert MEANINGS[LEXICAL] in " ".join(table.all_notes)
    own = {row.name: row.scores[0] for row in index_page.leaderboard(standings, LINKS).measured}
    # The first place has no tint, and is not the best of anything.
    assert (own["said"].rank, own["said"].cell.tier, own["said"].cell.mark) == ("1", 0, LEXICAL)
    assert finding_words.headlines([said], standings)[0].number.by_words
    series = {"open": [[*HEAD]]}
    about = suite_words.About("med_cmr", "CMR", chart={"kind": "heat", "title": "t", "series": series})
    drawn = suite_chart(about, standings, LINKS, HEAD)
    assert drawn is not None
    ((_, picture),) = drawn.drawings
    assert re.search(f'fill-opacity="0.00".*?>80{LEXICAL}<', picture)
    assert dict(drawn.legend) == {LEXICAL: MEANINGS[LEXICAL]}


def test_each_page_with_such_numbers_says_so(standings: Standings, tmp_path: Path) -> None:
    site = tmp_path / "site"
    build(standings.board, site, Options(resamples=20, reports=False))
    suite, index = ((site / name).read_text("utf-8") for name in ("suites/med_cmr.html", "index.html"))
    models = {path.stem.rpartition("-")[0]: path.read_text("utf-8") for path in (site / "models").glob("*.html")}
    for text in (suite, models["said"]):
        (badges,) = re.findall(r'<ul class="badges">(.*?)</ul>', text, re.DOTALL)
        (warned,) = (each for each in re.findall(r'<li class="warn">(.*?)</li>', badges) if "lexical" in each)
        assert LEXICAL in warned and board_tables.BY_WORDS in warned
    assert board_tables.BY_WORDS not in models["silent"]
    assert BY_WORDS in suite[suite.index("<h1>") : suite.index("</h1>")] and BY_WORDS in index
    assert f"<b>80.0{LEXICAL}</b>" in suite and f"{LEXICAL}: by a judge that compares words" in index


def test_every_mark_that_a_number_may_have_has_its_meaning() -> None:
    for signs in (board_tables.HARD_TO_READ, LEXICAL, board_tables.HARD_TO_READ + LEXICAL):
        assert all(board_tables.MARKS[signs + why] for why in ("", "‖", "°"))
