"""The suites' reports on a board: the comparison of a suite's models is of every ranked entry and of no other one."""

import json
import shutil

import pytest

from lmms_medtasks.board.collect import collect
from lmms_medtasks.board.site import reports
from lmms_medtasks.board.site.ranking import standings
from lmms_medtasks.board.site.write_site import Options, build
from lmms_medtasks.build_cache import BuildCache
from lmms_medtasks.report import suite_report


@pytest.fixture(scope="module")
def folder(tmp_path_factory, write, rows_of):
    """Models a and b on the whole of MedQ-Deg, a the better one; and a limited run of a on another of its tasks."""
    found = tmp_path_factory.mktemp("runs")
    whole = {"medq_deg": rows_of["medq_deg"]}
    write(found / "a", "a", "AAAAAB", tasks=whole)
    write(found / "b", "b", "ABBABB", tasks=whole)
    part = {"medq_deg_calib": whole["medq_deg"]}
    write(found / "limited", "a", "AB", tasks=part, limit=2.0, original=18)
    return found


@pytest.fixture(scope="module")
def of_suite(folder):
    return reports.of_suite("medq_deg", collect([folder]).of(suite="medq_deg"), 20)


def shown(part):
    return {table.key: [[cell.value for cell in row.cells] for row in table.rows]
            for section in part.sections for table in section.tables}  # fmt: skip


def test_a_limited_run_of_another_task_takes_nothing_of_its_model_with_it(folder, of_suite):
    board = collect([folder])
    assert {(entry.model.name, entry.task, entry.ranked) for entry in board.entries} == {
        ("a", "medq_deg", True), ("b", "medq_deg", True), ("a", "medq_deg_calib", False),
    }  # fmt: skip
    ranked = board.of(task="medq_deg", ranked=True)
    places = standings(ranked, "accuracy_l0", higher_is_better=True, resamples=20)
    # Six images: means, and no ranks.
    placed = zip(ranked, places, strict=True)
    assert {entry.model.name: (place.mean.estimate, place.rank) for entry, place in placed} == {
        "a": (pytest.approx(5 / 6), None), "b": (pytest.approx(2 / 6), None),
    }  # fmt: skip
    (comparison,) = of_suite.comparison.parts
    # Five of six right, and two of six: the limited run's two questions are in no row.
    assert [row[:2] for row in shown(comparison)["models"]] == [
        ["a (our degradations, 2 trials)", pytest.approx(500 / 6)],
        ["b (our degradations, 2 trials)", pytest.approx(200 / 6)],
    ]  # fmt: skip
    said = [flag.text for flag in comparison.flags if flag.kind == "note" and "a (medq_deg_calib)" in flag.text]
    assert len(said) == 1


def test_its_own_report_still_has_every_run_of_it(of_suite):
    assert {key.partition("|")[0]: len(each.parts) for key, each in of_suite.models.items()} == {"a": 2, "b": 1}


def test_the_page_of_the_suite_has_the_comparison(folder, tmp_path):
    build(collect([folder]), tmp_path / "site", Options(resamples=20))
    page = (tmp_path / "site" / "suites" / "medq_deg.html").read_text("utf-8")
    assert "a (our degradations, 2 trials)" in page and "b (our degradations, 2 trials)" in page
    assert "Models are compared where the runs of two or more are there" not in page


def test_the_comparison_is_kept_until_a_run_changes_or_is_added(folder, write, rows_of, tmp_path, monkeypatch):
    own, made = tmp_path / "runs", []
    shutil.copytree(folder, own)
    compare = suite_report._comparisons
    monkeypatch.setattr(suite_report, "_comparisons", lambda *given: made.append(1) or compare(*given))

    def comparison():
        """The comparison, and whether one was made for it."""
        made.clear()
        found = collect([own]).of(suite="medq_deg")
        return reports.of_suite("medq_deg", found, 20, BuildCache.at(tmp_path / "cache")).comparison, bool(made)

    first, is_made = comparison()
    assert is_made and comparison() == (first, False)
    assert first == reports.of_suite("medq_deg", collect([own]).of(suite="medq_deg"), 20).comparison
    write(own / "b", "b", "ABBABA", tasks={"medq_deg": rows_of["medq_deg"]})
    changed, is_made = comparison()
    assert is_made and changed != first
    write(own / "c", "c", "ABBBBB", tasks={"medq_deg": rows_of["medq_deg"]})
    added, is_made = comparison()
    assert is_made and [len(shown(each.parts[0])["models"]) for each in (changed, added)] == [2, 3]


def test_a_log_that_no_report_can_be_made_of_ends_neither_the_build_nor_the_comparison(
    folder, write, rows_of, tmp_path
):
    """A stranger's tag of another kind did, in an entry that was not even ranked."""
    own = tmp_path / "runs"
    shutil.copytree(folder, own)
    write(own / "c", "c", "ABBBBB", tasks={"medq_deg": rows_of["medq_deg"]})
    (results,) = (own / "c").glob("*_results.json")
    content = json.loads(results.read_text("utf-8"))
    content["configs"]["medq_deg"]["generation_kwargs"] = "none"
    results.write_text(json.dumps(content), "utf-8")
    found = reports.of_suite("medq_deg", collect([own]).of(suite="medq_deg"), 20)
    said = {key.partition("|")[0]: (len(each.parts), each.reason) for key, each in found.models.items()}
    assert said["a"][0] == 2 and said["b"][0] == 1
    assert said["c"][0] == 0 and "can't be made of what the log holds (AttributeError" in said["c"][1]
    (comparison,) = found.comparison.parts
    assert [row[0][0] for row in shown(comparison)["models"]] == ["a", "b"]
    assert any("no report of it: c." in flag.text for flag in comparison.flags)
    build(collect([own]), tmp_path / "site", Options(resamples=20))
