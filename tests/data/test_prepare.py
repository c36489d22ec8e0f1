"""Preparing: nothing lost in silence, everything said of where it is from, and its size known."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lmms_medtasks
from lmms_medtasks.data import documents, store
from lmms_medtasks.data.prepare import prepare_splits
from lmms_medtasks.data.release_counts import ExpectedCounts
from lmms_medtasks.errors import UserError
from tests.data.prepared_files import CLEAN, SIMULATED, Row, Write, files_below, rows_of


def test_a_folder_becomes_parquet_and_a_manifest(release: Path, home: Path) -> None:
    manifest = prepare_splits("medq_deg", source=release)
    assert files_below(home) == {
        "medq_deg/prepare.lock",
        "medq_deg/sample/clean.parquet",
        "medq_deg/sample/release.parquet",
        "medq_deg/sample/manifest.json",
        "medq_deg/sample/rejected.jsonl",
    }
    assert json.loads((home / "medq_deg/sample/manifest.json").read_text()) == manifest
    rows = rows_of(home)
    assert [row["id"] for row in rows] == ["0", "1", "2"] and {row["data"] for row in rows} == {"sample"}
    assert rows[0]["image"]["bytes"].startswith(b"\x89PNG")
    clean = manifest["splits"]["clean"]
    path = home / "medq_deg/sample/clean.parquet"
    assert clean["digest"] == documents.rows_digest(rows)
    assert clean["sha256"] == store.file_sha256(path) and clean["bytes"] == path.stat().st_size
    assert (clean["rows"], clean["rejected"], clean["images"]) == (3, 0, 3)
    assert (manifest["splits"]["release"]["rows"], manifest["splits"]["release"]["images"]) == (4, 2)


def test_the_manifest_says_where_from_and_under_which_terms(release: Path) -> None:
    manifest = prepare_splits("medq_deg", source=release)
    (source,) = manifest["splits"]["clean"]["source"]["files"]
    table = release / CLEAN
    assert source == {"name": CLEAN, "bytes": table.stat().st_size, "sha256": store.file_sha256(table)}
    assert manifest["splits"]["clean"]["source"]["folder"] == str(release)
    assert manifest["paper"]["clean images"] == 4306
    assert manifest["licence"] and manifest["terms"]
    assert manifest["schema_version"] == documents.SCHEMA_VERSION
    assert manifest["tool_version"] == lmms_medtasks.__version__
    assert manifest["data"] == "sample"
    assert "clean: 3 questions, 2,153 expected; release: 4 questions" in manifest["data_because"]
    assert manifest["splits"]["clean"]["counts"] == "3 questions, 2,153 expected"


def test_bad_rows_are_listed_with_number_and_reason(
    tmp_path: Path, table: Write, clean_row: Row, png: Callable[..., bytes], home: Path, capsys: Any
) -> None:
    cut = base64.b64encode(png(9, 64)[:100]).decode()
    rows = [
        clean_row(0),
        clean_row(1, answer="D"),
        clean_row(2, question=""),
        clean_row(3, image=cut),
        clean_row(0),
        clean_row(5, image=base64.b64encode(b"no image at all, only text" * 4).decode()),
        clean_row(6),
    ]
    table(tmp_path / "release", rows)
    manifest = prepare_splits("medq_deg", source=tmp_path / "release")
    lines = [json.loads(line) for line in (home / "medq_deg/sample/rejected.jsonl").read_text().splitlines()]
    assert [(line["split"], line["row"], line["id"]) for line in lines] == [
        ("clean", 2, "1"),
        ("clean", 3, "2"),
        ("clean", 4, "3"),
        ("clean", 5, "0"),
        ("clean", 6, "5"),
    ]
    reasons = [line["reason"] for line in lines]
    assert reasons[0] == "answer 'D' is not among the options A to B" and reasons[1] == "question is empty"
    assert reasons[2].startswith("image does not decode") and reasons[3] == "id '0' was there before"
    assert reasons[4].startswith("image is none of PNG, JPEG")
    assert (manifest["splits"]["clean"]["rows"], manifest["splits"]["clean"]["rejected"]) == (2, 5)
    said = capsys.readouterr().err
    assert "2 rows, 5 rejected" in said and "rejected.jsonl" in said


def test_rejected_rows_of_other_splits_stay_listed(release: Path, table: Write, clean_row: Row, home: Path) -> None:
    table(release, [clean_row(0), clean_row(1, answer="E")])
    prepare_splits("medq_deg", source=release, splits=["clean"])
    prepare_splits("medq_deg", source=release, splits=["release"])
    prepare_splits("medq_deg", source=release, splits=["release"], force=True)
    lines = [json.loads(line) for line in (home / "medq_deg/sample/rejected.jsonl").read_text().splitlines()]
    assert [(line["split"], line["row"]) for line in lines] == [("clean", 2)]


def test_no_usable_row_is_an_error_and_leaves_nothing(tmp_path: Path, table: Write, clean_row: Row, home: Path) -> None:
    table(tmp_path / "release", [clean_row(n, answer="E") for n in range(3)])
    with pytest.raises(UserError, match="all 3 rows were rejected.*\n.*3 times, first in row 1: answer 'E'"):
        prepare_splits("medq_deg", source=tmp_path / "release")
    assert files_below(home) <= {"medq_deg/prepare.lock"}


def test_an_empty_table_is_an_error_and_leaves_nothing(tmp_path: Path, table: Write, home: Path) -> None:
    table(tmp_path / "release", [])
    with pytest.raises(UserError, match="has a header and no rows"):
        prepare_splits("medq_deg", source=tmp_path / "release")
    assert files_below(home) <= {"medq_deg/prepare.lock"}


def test_unknown_suite_and_split() -> None:
    with pytest.raises(UserError, match="Unknown suite 'medqdeg'.*Did you mean 'medq_deg'"):
        prepare_splits("medqdeg")
    with pytest.raises(UserError, match="Unknown split 'claen' in suite 'medq_deg'.*'clean'.*release_dev"):
        prepare_splits("medq_deg", splits=["claen"])


def test_a_folder_without_the_tables_says_what_it_has(tmp_path: Path, release: Path, capsys: Any) -> None:
    with pytest.raises(UserError, match="is not a folder"):
        prepare_splits("medq_deg", source=tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="is empty"):
        prepare_splits("medq_deg", source=tmp_path / "empty")
    (tmp_path / "empty" / f"{CLEAN}.gz").write_text("x")
    with pytest.raises(UserError, match=f"Expected: {CLEAN}, {SIMULATED}. Found: .*Unpack them: gunzip {CLEAN}.gz"):
        prepare_splits("medq_deg", source=tmp_path / "empty")
    with pytest.raises(UserError, match="Expected: MedQ-Robust-good-dev.tsv"):
        prepare_splits("medq_deg", source=release, splits=["clean", "clean_dev"])
    (release / SIMULATED).unlink()
    assert set(prepare_splits("medq_deg", source=release)["splits"]) == {"clean"}
    assert f"medq_deg/release: not prepared, the source has not {SIMULATED}" in capsys.readouterr().err


def test_a_folder_has_no_revision(release: Path) -> None:
    with pytest.raises(UserError, match="no revision"):
        prepare_splits("medq_deg", source=release, revision="v2")


# Full or sample

CLEAN_3, RELEASE_4 = ExpectedCounts(("clean",), 3), ExpectedCounts(("release",), 4)


def labels(manifest: dict[str, Any]) -> tuple[str, dict[str, str]]:
    return manifest["data"], {name: split["counts"] for name, split in manifest["splits"].items()}


def test_the_releases_number_of_questions_is_the_full_data(release: Path, home: Path, expecting: Any) -> None:
    expecting(CLEAN_3, RELEASE_4)
    assert labels(prepare_splits("medq_deg", source=release)) == ("full", {"clean": "", "release": ""})
    assert {row["data"] for row in rows_of(home, data="full")} == {"full"}


@pytest.mark.parametrize("expected", [2, 4])
def test_more_or_fewer_questions_are_a_sample(release: Path, expecting: Any, expected: int) -> None:
    expecting(ExpectedCounts(("clean",), expected), RELEASE_4)
    manifest = prepare_splits("medq_deg", source=release)
    assert labels(manifest) == ("sample", {"clean": f"3 questions, {expected} expected", "release": ""})
    assert manifest["data_because"] == f"clean: 3 questions, {expected} expected"


def test_one_of_several_numbers_is_enough(release: Path, expecting: Any) -> None:
    expecting(ExpectedCounts(("clean",), 9), CLEAN_3)
    assert prepare_splits("medq_deg", source=release, splits=["clean"])["data"] == "full"
    expecting(ExpectedCounts(("clean",), 9), ExpectedCounts(("clean",), 8))
    manifest = prepare_splits("medq_deg", source=release, splits=["clean"], force=True)
    assert labels(manifest) == ("sample", {"clean": "3 questions, 9 or 8 expected"})


def test_splits_that_are_known_together(release: Path, table: Write, clean_row: Row, expecting: Any) -> None:
    """The paper has the sum of two tables: one alone can't be known to be whole, both can."""
    expecting(ExpectedCounts(("clean", "clean_dev"), 5))
    manifest = prepare_splits("medq_deg", source=release, splits=["clean"])
    said = manifest["splits"]["clean"]["counts"]
    assert manifest["data"] == "sample" and "clean_dev not there" in said and "5 expected" in said
    table(release, [clean_row(n) for n in range(2)], name="MedQ-Robust-good-dev.tsv")
    assert (
        prepare_splits("medq_deg", source=release, splits=["clean"])["data"] == "full"
    )  # counted, though not prepared
    assert labels(prepare_splits("medq_deg", source=release, splits=["clean"])) == ("full", {"clean": ""})
    table(release, [clean_row(n) for n in range(4)], name="MedQ-Robust-good-dev.tsv")
    manifest = prepare_splits("medq_deg", source=release, splits=["clean"], force=True)
    assert manifest["data"] == "sample" and "7 here" in manifest["splits"]["clean"]["counts"]


def test_a_split_that_nothing_is_known_of_is_a_sample(release: Path, expecting: Any) -> None:
    expecting(CLEAN_3)
    assert prepare_splits("medq_deg", source=release, splits=["release"])["data"] == "sample"


@pytest.mark.parametrize("unusable", [0, 1])
def test_unusable_questions_are_no_full_data(
    release: Path, table: Write, clean_row: Row, expecting: Any, home: Path, unusable: int
) -> None:
    """A rejected row makes a sample, unless the release is known to have one."""
    expecting(ExpectedCounts(("clean",), 3, unusable), RELEASE_4)
    table(release, [clean_row(0), clean_row(1), clean_row(2, answer="E")])
    for force in (False, False, True):  # prepared, left alone, prepared again
        manifest = prepare_splits("medq_deg", source=release, splits=["clean"], force=force)
        if unusable:
            assert labels(manifest) == ("full", {"clean": ""})
        else:
            assert labels(manifest) == ("sample", {"clean": "3 questions, 1 of them unusable"})
            assert store.find_prepared_split("medq_deg", "full", "clean") is None
            assert {row["data"] for row in rows_of(home)} == {"sample"}


def test_unusable_questions_of_the_other_table_don_t_count(
    release: Path, table: Write, clean_row: Row, expecting: Any
) -> None:
    expecting(ExpectedCounts(("clean", "clean_dev"), 5))
    table(release, [clean_row(0), clean_row(1, answer="E")], name="MedQ-Robust-good-dev.tsv")
    for splits in (["clean_dev"], ["clean"]):  # the other one is prepared, and one of its questions was rejected
        manifest = prepare_splits("medq_deg", source=release, splits=splits)
        said = {"clean_dev": ("sample", "2 questions, 1 of them unusable"), "clean": ("full", "")}[splits[0]]
        assert (manifest["data"], manifest["splits"][splits[0]]["counts"]) == said


def test_unusable_questions_can_be_accepted(release: Path, table: Write, clean_row: Row, expecting: Any) -> None:
    expecting(CLEAN_3)
    table(release, [clean_row(0), clean_row(1), clean_row(2, answer="E")])
    manifest = prepare_splits("medq_deg", source=release, splits=["clean"], accept_counts=True)
    assert labels(manifest) == ("full", {"clean": "3 questions, 1 of them unusable"})
    assert "accepted" in manifest["data_because"]


def test_unusable_questions_of_one_split_make_a_sample_of_all(
    release: Path, table: Write, release_row: Row, expecting: Any
) -> None:
    expecting(CLEAN_3, ExpectedCounts(("release",), 2))
    table(release, [release_row(0), release_row(1, answer="E")], name=SIMULATED)
    manifest = prepare_splits("medq_deg", source=release)
    assert labels(manifest) == ("sample", {"clean": "", "release": "2 questions, 1 of them unusable"})


def test_other_counts_can_be_accepted(release: Path, home: Path, monkeypatch: Any) -> None:
    manifest = prepare_splits("medq_deg", source=release, accept_counts=True, splits=["clean"])
    assert labels(manifest) == ("full", {"clean": "3 questions, 2,153 expected"})
    assert "accepted" in manifest["data_because"] and {row["data"] for row in rows_of(home, data="full")} == {"full"}
    found = store.find_prepared_split("medq_deg", "full", "clean")
    assert found is not None and found.counts == "3 questions, 2,153 expected"
    prepare_splits("medq_deg", source=release, splits=["clean"])  # no longer accepted
    assert (
        store.find_prepared_split("medq_deg", "full", "clean") is None
        and not (home / "medq_deg/full/clean.parquet").exists()
    )


def test_other_counts_can_be_accepted_by_a_variable(release: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("MEDTASKS_ACCEPT_COUNTS", "1")
    assert prepare_splits("medq_deg", source=release)["data"] == "full"
    assert prepare_splits("medq_deg", source=release, accept_counts=False)["data"] == "sample"
    assert prepare_splits("medq_deg", source=release, sample=True)["data"] == "sample"
    monkeypatch.setenv("MEDTASKS_ACCEPT_COUNTS", "0")
    assert prepare_splits("medq_deg", source=release, force=True)["data"] == "sample"
    monkeypatch.setenv("MEDTASKS_ACCEPT_COUNTS", "yes")
    with pytest.raises(UserError, match="MEDTASKS_ACCEPT_COUNTS is 'yes', expected 1"):
        prepare_splits("medq_deg", source=release)


def test_a_sample_can_be_asked_for(release: Path, expecting: Any) -> None:
    expecting(CLEAN_3, RELEASE_4)
    assert prepare_splits("medq_deg", source=release, sample=True)["data"] == "sample"
    with pytest.raises(UserError, match="contradict"):
        prepare_splits("medq_deg", source=release, sample=True, accept_counts=True)


@pytest.mark.parametrize("accepted", [False, True])
def test_why_data_is_called_what_it_is_names_every_split(
    release: Path, table: Write, clean_row: Row, expecting: Any, accepted: bool
) -> None:
    """Each split is counted when it is written: the last, or the first that is short, is not the only one to name."""
    expecting(CLEAN_3, ExpectedCounts(("release",), 9))
    table(release, [clean_row(0), clean_row(1), clean_row(2, answer="E")])
    manifest = prepare_splits("medq_deg", source=release, accept_counts=accepted)
    said = "clean: 3 questions, 1 of them unusable; release: 4 questions, 9 expected"
    assert manifest["data_because"].endswith(said)
    assert manifest["data"] == ("full" if accepted else "sample")
    expecting(CLEAN_3, RELEASE_4)  # nothing is other before rows are rejected
    manifest = prepare_splits("medq_deg", source=release, accept_counts=accepted, force=True)
    assert manifest["data_because"].endswith("clean: 3 questions, 1 of them unusable")
