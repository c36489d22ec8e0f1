"""The hub, with a stand-in for the download function: no hub can be reached from tests."""

from __future__ import annotations

import socket
import urllib.request
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from huggingface_hub import constants, errors

from lmms_medtasks.data import hub as hub_module
from lmms_medtasks.data import locate_split
from lmms_medtasks.data.hub import HubRelease, is_hub_unreachable
from lmms_medtasks.data.prepare import prepare_splits
from lmms_medtasks.data.release_counts import ExpectedCounts
from lmms_medtasks.data.releases import MissingFileError
from lmms_medtasks.errors import DataNotFound, UserError


class FakeHub:
    """Serves a folder as commit after commit of a dataset; counts downloads."""

    def __init__(self, cache: Path, commits: dict[str, Path]) -> None:
        self.cache, self.commits, self.head, self.asked = cache, commits, next(iter(commits)), list[tuple[str, str]]()

    def __call__(self, repository: str, name: str, *, repo_type: str, revision: str) -> str:
        assert (repository, repo_type) == ("jiyaoliufd/MedQ-DEG-Bench", "dataset")
        self.asked.append((name, revision))
        commit = self.head if revision == "main" else revision
        path = self.cache / "snapshots" / commit / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes((self.commits[commit] / name).read_bytes())
        return str(path)


def failing(error: Exception) -> Callable[..., str]:
    def download(*_: Any, **__: Any) -> str:
        raise error

    return download


def http_error(kind: type[Exception], status: int) -> Exception:
    # The hub's library changed its HTTP library twice; its errors only look at these.
    response = SimpleNamespace(status_code=status, headers={}, request=None)
    return kind("told by the hub", response=response)  # type: ignore[call-arg]


@pytest.fixture
def as_expected(expecting: Any) -> None:
    """The whole release is as small as the tests' tables."""
    expecting(ExpectedCounts(("clean",), 3), ExpectedCounts(("release",), 4))


def test_what_comes_from_the_hub_keeps_its_commit(as_expected: None, release: Path, tmp_path: Path) -> None:
    hub = FakeHub(tmp_path / "hub", {"c0ffee": release})
    manifest = prepare_splits("medq_deg", download=hub)
    assert manifest["data"] == "full"
    for split in ("clean", "release"):
        source = manifest["splits"][split]["source"]
        assert (source["kind"], source["repository"]) == ("hub", "jiyaoliufd/MedQ-DEG-Bench")
        assert (source["revision"], source["commit"]) == ("main", "c0ffee")
    # the branch is asked for once, everything else comes from the commit that it stood for
    assert [revision for _, revision in hub.asked] == ["main", "c0ffee"]


def test_a_hub_with_57_rows_is_a_sample(table: Any, clean_row: Any, tmp_path: Path, monkeypatch: Any) -> None:
    """A stub of a hub was called the full data: it is a sample, with its counts, unless they are accepted."""
    table(tmp_path / "stub", [clean_row(number) for number in range(57)])
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setattr(HubRelease, "_fetch_file", lambda self, name: tmp_path / "stub" / name)
    monkeypatch.setenv("MEDTASKS_DATA", "full")
    with pytest.raises(DataNotFound, match="57 questions, 2,153 expected.*MEDTASKS_ACCEPT_COUNTS=1"):
        locate_split("medq_deg", "clean")
    monkeypatch.delenv("MEDTASKS_DATA")
    found = locate_split("medq_deg", "clean")
    assert (found.data, found.rows, found.counts) == ("sample", 57, "57 questions, 2,153 expected")
    monkeypatch.setenv("MEDTASKS_ACCEPT_COUNTS", "1")
    found = locate_split("medq_deg", "clean")
    assert (found.data, found.rows, found.counts) == ("full", 57, "57 questions, 2,153 expected")


def test_a_folders_sample_stays_one_and_it_is_said_how_to_accept_it(
    release: Path, monkeypatch: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    prepare_splits("medq_deg", source=release)
    monkeypatch.setenv("MEDTASKS_ACCEPT_COUNTS", "1")
    assert [locate_split("medq_deg", "clean").data for _ in range(2)] == ["sample"] * 2
    assert capsys.readouterr().err.count(f"data prepare medq_deg --source {release} --accept-counts") == 1


def test_a_sample_of_the_hubs_release(release: Path, tmp_path: Path) -> None:
    hub = FakeHub(tmp_path / "hub", {"c0ffee": release})
    assert prepare_splits("medq_deg", download=hub, sample=True)["data"] == "sample"


def test_what_is_prepared_needs_no_hub(release: Path, tmp_path: Path) -> None:
    hub = FakeHub(tmp_path / "hub", {"c0ffee": release})
    first = prepare_splits("medq_deg", download=hub)
    assert prepare_splits("medq_deg", download=failing(AssertionError("the hub was asked"))) == first


def test_a_resumed_preparation_stays_with_its_commit(
    as_expected: None, release: Path, tmp_path: Path, capsys: Any
) -> None:
    hub = FakeHub(tmp_path / "hub", {"old": release, "new": release})
    prepare_splits("medq_deg", splits=["clean"], download=hub)
    hub.head = "new"
    manifest = prepare_splits("medq_deg", download=hub)
    assert {split["source"]["commit"] for split in manifest["splits"].values()} == {"old"}
    assert "medq_deg/clean (full): already prepared" in capsys.readouterr().err
    manifest = prepare_splits("medq_deg", download=hub, force=True)
    assert {split["source"]["commit"] for split in manifest["splits"].values()} == {"new"}


def test_another_revision_is_prepared_anew(release: Path, tmp_path: Path) -> None:
    hub = FakeHub(tmp_path / "hub", {"old": release, "new": release})
    prepare_splits("medq_deg", download=hub)
    manifest = prepare_splits("medq_deg", revision="new", download=hub)
    assert {split["source"]["commit"] for split in manifest["splits"].values()} == {"new"}


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (http_error(errors.GatedRepoError, 403), "is gated. Ask for access at https://huggingface.co/datasets/a/b"),
        (http_error(errors.RepositoryNotFoundError, 404), "the hub knows no such dataset"),
        (http_error(errors.RevisionNotFoundError, 404), "there is no such revision. Choose one with --revision"),
        (errors.LocalEntryNotFoundError("x"), "no network, or HF_HUB_OFFLINE is set.*--source DIR"),
        (errors.EntryNotFoundError("x"), "is not there: the release has changed"),
        (
            http_error(errors.HfHubHTTPError, 500),
            "the hub's server answered with an error, HTTP 500 .told by",
        ),
        (
            ConnectionError("no route"),
            "cannot be downloaded: no route. 2 attempts were made. Run the same",
        ),
    ],
)
def test_every_failure_says_what_to_do(error: Exception, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "_WAITS", (0.0,))
    release = HubRelease("a/b", "main", failing(error))
    with pytest.raises(UserError, match=f"'f.tsv' of the hub dataset 'a/b' .revision 'main'.*{says}"):
        release.file("f.tsv")


def test_only_a_missing_file_is_a_missing_file() -> None:
    with pytest.raises(MissingFileError):
        HubRelease("a/b", "main", failing(errors.EntryNotFoundError("x"))).file("f.tsv")
    with pytest.raises(UserError) as error:
        HubRelease("a/b", "main", failing(errors.LocalEntryNotFoundError("x"))).file("f.tsv")
    assert not isinstance(error.value, MissingFileError)
    with pytest.raises(MissingFileError):
        HubRelease("a/b", "main", failing(AssertionError("asked"))).file("../f.tsv")


def test_a_host_that_takes_no_connections_is_not_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        monkeypatch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{server.getsockname()[1]}")
        assert is_hub_unreachable()
        with pytest.raises(UserError, match="cannot be downloaded and is not in the hub's cache"):
            HubRelease("a/b", "main").file("f.tsv")
        server.listen()
        assert not is_hub_unreachable()
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
        assert is_hub_unreachable()
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(urllib.request, "getproxies", lambda: {"https": "http://proxy:1", "no": "localhost"})
    assert not is_hub_unreachable()
