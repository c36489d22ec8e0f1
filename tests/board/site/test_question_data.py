"""The pictures of questions: those of the data, and the very ones that models saw degraded; made once; by terms."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image, UnidentifiedImageError

from lmms_medtasks import build_cache
from lmms_medtasks.board.collect import collect_entries
from lmms_medtasks.board.entries import EntryQuestions
from lmms_medtasks.board.site import question_data
from lmms_medtasks.board.site.folder import SiteFolder
from lmms_medtasks.board.site.question_data import QuestionData
from lmms_medtasks.board.site.suite_words import AllowedData
from lmms_medtasks.build_cache import NO_CACHE, BuildCache
from lmms_medtasks.data import locating
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness.hooks import doc_to_visual
from lmms_medtasks.task_configs.medq_deg import measures

DEGRADED = {"mini-ct-000-q1": "gaussian_noise", "mini-dermoscopy-001-q1": "motion_blur"}


@pytest.fixture(scope="module")
def asked():
    """Two questions of the mini data, clean and severely degraded, as the harness gives them to a model."""
    rows = pq.read_table(locating.find_split("medq_deg", "clean", "mini").path).to_pylist()
    found = {}
    for row in rows:
        if (name := DEGRADED.get(row["id"])) is None:
            continue
        for level in (0, 2):
            id = f"{row['id']}/{name}/L{level}" if level else row["id"]
            told = {"degradation": name if level else "", "severity": level, "question_id": row["id"], "data": "mini"}
            doc = {**row, **told, "id": id}
            found[id] = doc, doc_to_visual(doc), measures.choice_question_record(doc, ["A"] * 3)
    assert len(found) == 4
    return found


@pytest.fixture
def board_of(tmp_path, write, asked):
    """A board of runs on these questions: for each run its ids, and what else is told of it."""

    def make(*runs, **changes):
        for number, ids in enumerate(runs):
            rows = []
            for doc, _, record in (asked[id] for id in ids):
                found = record.to_json()
                found["details"] |= changes
                accuracy = {f"accuracy_l{level}": {} for level in range(3)}
                rows.append({"questions": found, **accuracy, "filtered_resps": ["A"] * 3, "input": doc["question"]})
            # No fewer questions than the data has: such a run would be set apart, and stand behind the others.
            path = tmp_path / "runs" / f"m{number}"
            write(path, f"m{number}", "", tasks={"medq_deg": lambda *_, rows=rows: rows}, metadata={"data": "mini"})
        return collect_entries([tmp_path / "runs"]).of(task="medq_deg")

    return make


def materials(tmp_path, entries, shown=None, cache=NO_CACHE):
    folder = SiteFolder(tmp_path / "site")
    ids = {id for entry in entries for id in entry.questions.ids.tolist()}
    return QuestionData(folder, shown or AllowedData(), cache).of(entries, ids), folder


def pixels(folder, picture):
    with Image.open(folder.root / picture.path) as image:
        assert image.format == "WEBP" and not image.info.keys() & {"exif", "xmp", "icc_profile"}
        return np.asarray(image)


def test_the_picture_is_bit_for_bit_the_one_that_the_model_saw(tmp_path, board_of, asked):
    found, folder = materials(tmp_path, board_of(list(asked)))
    for id, (doc, (seen,), _) in asked.items():
        clean = f"severe: {DEGRADED[doc['question_id']].replace('_', ' ')}" if doc["severity"] else "clean"
        assert found[id].pictures[-1].label == clean and not found[id].note
        assert np.array_equal(pixels(folder, found[id].pictures[-1]), np.asarray(seen))
        if doc["severity"]:
            (before,) = asked[doc["question_id"]][1]
            assert [each.label for each in found[id].pictures][0] == "clean"
            assert np.array_equal(pixels(folder, found[id].pictures[0]), np.asarray(before))
    assert len(folder.files) == 4  # the clean pictures once


def test_a_run_of_few_questions_does_not_hide_the_pictures_of_the_others(tmp_path, board_of, asked):
    first, *_ = asked
    found, _ = materials(tmp_path, board_of([first], list(asked)))
    assert all(found[id].pictures for id in asked)


def test_what_can_not_be_made_is_said_beside_the_clean_picture(tmp_path, board_of, asked):
    found, _ = materials(tmp_path, board_of(list(asked), degradation_parameters=[]))
    severe = [found[id] for id, (doc, *_) in asked.items() if doc["severity"]]
    assert [[each.label for each in one.pictures] for one in severe] == [["clean"], ["clean"]]
    assert all("log" in one.note for one in severe)
    for number, told in enumerate(({"unheard_of": 1}, {"sigma": "much", "noise_seed": None})):
        folder = tmp_path / f"more{number}"
        folder.mkdir()
        found, _ = materials(folder, board_of(list(asked), degradation_parameters=[told]))
        assert all("installed" in found[id].note for id, (doc, *_) in asked.items() if doc["severity"])


def test_a_picture_is_made_once_for_all_builds_with_a_cache_and_kept_nowhere_without(
    tmp_path, board_of, asked, monkeypatch
):
    monkeypatch.setenv("MEDTASKS_HOME", str(tmp_path / "home"))
    entries = board_of(list(asked))
    cache = BuildCache.at(tmp_path / "cache")
    first, folder = materials(tmp_path, entries, cache=cache)
    assert len([path for path in cache.folder.rglob("*") if path.is_file()]) == len(folder.files) == 4
    assert not list((tmp_path / "home").rglob("*.webp"))
    made = []
    monkeypatch.setattr(question_data, "_make_image", lambda *of: made.append(of) or b"made again")
    again, other = materials(tmp_path / "again", entries, cache=cache)
    assert again == first and other.files == folder.files and not made
    with pytest.raises(UnidentifiedImageError):
        materials(tmp_path / "without", entries)
    assert made


def test_a_cache_that_cant_be_written_is_not_called_an_unreadable_image(tmp_path, board_of, asked, monkeypatch):
    def full(path, content):
        raise OSError(28, "No space left on device")

    cache = BuildCache.at(tmp_path / "cache")
    monkeypatch.setattr(build_cache, "write_bytes_atomically", full)
    with pytest.raises(UserError, match="No space left.*--no-cache"):
        materials(tmp_path, board_of(list(asked)), cache=cache)


def test_a_benchmark_says_whose_pictures_a_question_has():
    tags = pa.table({"image_case": ["case-06", "case-20"]})
    questions = EntryQuestions(tags, "")
    for task, documents in (("bones_joints_t8_inconsistency", ["t4-case-20"]), ("bones_joints_t4_diagnosis", [None])):
        entry = SimpleNamespace(suite="bones_joints", task=task, questions=questions)
        assert question_data._declared_documents(entry, [1]) == documents


def test_pictures_of_full_data_must_be_asked_for(tmp_path, board):
    entries = [entry for entry in board.entries if entry.task == "medq_deg"]
    found, folder = materials(tmp_path, entries)
    assert not folder.files and {each.note for each in found.values()} != {""}
    assert all("terms" in each.note for each in found.values())
    found, _ = materials(tmp_path, entries, AllowedData(images=frozenset({"medq_deg"})))
    assert all("at hand" in each.note for each in found.values())
