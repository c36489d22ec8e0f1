"""The hub's own library against a server on loopback that cuts, fails and hangs: every end is told as what it is."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import constants

from lmms_medtasks.data import hub as hub_module
from lmms_medtasks.data.hub import TIMEOUT_VARIABLE, HubRelease
from lmms_medtasks.errors import UserError
from tests.stub_hub import COMMIT, StubHub, serving

CONTENT = bytes(range(256)) * 1200  # 307,200 bytes


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[StubHub]:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serving(StubHub({"f.bin": CONTENT})) as found:
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "ENDPOINT", found.address)
        monkeypatch.setattr(
            constants, "HUGGINGFACE_CO_URL_TEMPLATE", found.address + "/{repo_id}/resolve/{revision}/{filename}"
        )
        monkeypatch.setattr(hub_module, "_WAITS", (0.01, 0.01))
        yield found


def release() -> HubRelease:
    return HubRelease("a/b", "main")


def test_a_whole_file_comes_with_its_commit(hub: StubHub) -> None:
    made = release()
    assert made.file("f.bin").read_bytes() == CONTENT
    assert made.commit == COMMIT and len(hub.gets) == 1


@pytest.mark.parametrize("reset", [False, True])
def test_a_connection_cut_in_the_middle_is_not_the_end(hub: StubHub, reset: bool, capfd: Any) -> None:
    hub.cuts, hub.reset = [200_000], reset
    assert release().file("f.bin").read_bytes() == CONTENT
    told = capfd.readouterr().err
    assert len(hub.gets) == 2
    if reset:  # begun again by us
        assert "the connection was cut" in told and "attempt 2 of 3" in told
    else:  # resumed by the hub's library, from the last whole part on
        assert hub.gets[1] == (f"bytes={200_000 // 65_536 * 65_536}-", 200)


def test_a_connection_that_is_always_cut_ends_with_what_happened(hub: StubHub) -> None:
    hub.cuts, hub.reset = [10] * 50, True
    with pytest.raises(UserError, match=r"'f.bin' .*the connection was cut.*3 attempts.*same command again"):
        release().file("f.bin")


@pytest.mark.parametrize("phase", ["head_status", "get_status"])
def test_an_error_of_the_server_is_called_that_with_its_status(
    hub: StubHub, phase: str, capfd: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sleep = time.sleep
    monkeypatch.setattr(time, "sleep", lambda seconds: sleep(min(seconds, 0.01)))  # the library's waits
    setattr(hub, phase, [503] * 50)
    with pytest.raises(UserError, match="server answered with an error, HTTP 503") as error:
        release().file("f.bin")
    assert "no network" not in str(error.value)
    if phase == "get_status":
        assert capfd.readouterr().err.count("HTTP 503") == 2  # each attempt is told


def test_an_error_of_the_server_that_passes_is_no_end(hub: StubHub) -> None:
    hub.get_status = [500]
    assert release().file("f.bin").read_bytes() == CONTENT


@pytest.mark.parametrize("how", ["before the first byte", "after some bytes", "after the same bytes, over and over"])
def test_a_server_that_hangs_is_given_up_after_the_time_that_is_told(
    hub: StubHub, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TIMEOUT_VARIABLE, "1.5")
    if how == "before the first byte":
        hub.silent = True
    else:
        hub.hangs = [50_000]
    if how.endswith("over"):  # the library would begin again each time, and never end
        hub.ranges = False
        monkeypatch.setattr(constants, "HF_HUB_DOWNLOAD_TIMEOUT", 0.2)
    started = time.monotonic()
    with pytest.raises(UserError, match=f"no new byte for 1.5 s.*{TIMEOUT_VARIABLE}"):
        release().file("f.bin")
    assert 1.4 < time.monotonic() - started < 6


def test_a_list_of_files_is_not_waited_for_without_end(hub: StubHub, monkeypatch: pytest.MonkeyPatch) -> None:
    assert release().names() == ["f.bin"]
    hub.get_status = [502] * 20
    with pytest.raises(UserError, match="cannot be listed: the hub's server answered with an error, HTTP 502"):
        release().names()
    hub.get_status = []
    hub.silent = True
    monkeypatch.setenv(TIMEOUT_VARIABLE, "0.5")
    started = time.monotonic()
    with pytest.raises(UserError, match="cannot be listed: the server did not answer in time"):
        release().names()
    assert time.monotonic() - started < 10


def test_a_full_disk_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def download(*_: Any, **__: Any) -> str:
        asked.append(1)
        raise OSError(28, "No space left on device")

    with pytest.raises(UserError, match="No space left"):
        HubRelease("a/b", "main", download).file("f.bin")
    assert len(asked) == 1


@pytest.mark.parametrize("text", ["0", "-1", "soon", "inf", "nan"])
def test_the_time_is_a_number_of_seconds(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TIMEOUT_VARIABLE, text)
    with pytest.raises(UserError, match=f"{TIMEOUT_VARIABLE} must be a number of seconds above 0, got '{text}'"):
        hub_module.hub_patience()
