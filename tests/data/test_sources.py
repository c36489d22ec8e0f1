"""Data sets are found through the benchmarks' folders: which are imported, which names there are, what is refused."""

import subprocess
import sys

import pytest

from lmms_medtasks import extensions, folders
from lmms_medtasks.data import mini, sources
from lmms_medtasks.errors import UserError

OWN = """
from lmms_medtasks.data.sources import DataSource
SOURCES = (DataSource(name="{name}", title="Own", splits=(), tags={{}}, hub_repository="", revision="", licence="CC0",
                      terms="none", expected=(), open_split=None),)
"""


def folder(root, name, text):
    (root / name).mkdir()
    (root / name / "source.py").write_text(text)
    return root / name


def test_every_bundled_file_is_of_a_split_that_there_is():
    for suite, splits in mini.list_mini_files().items():
        assert set(splits) <= {split.name for split in sources.get(suite).splits}
    assert set(mini.list_mini_files()) == set(sources.names())


def test_a_name_imports_its_own_folder_only():
    code = (
        "import sys; from lmms_medtasks.data import sources; sources.get('medobvious'); "
        "print([each for each in sys.modules if each.startswith('lmms_medtasks.task_configs.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [
        "['lmms_medtasks.task_configs.medobvious',",
        "'lmms_medtasks.task_configs.medobvious.source']",
    ]


def test_a_data_set_may_be_called_otherwise_than_its_folder():
    assert sources.source_folder("sure_slake") == folders.suites_root() / "sure_vqa"
    assert sources.get("sure_slake").name == "sure_slake"


def test_the_name_of_a_benchmark_with_several_data_sets_lists_them():
    with pytest.raises(UserError, match="'sure_vqa' has several data sets.*sure_mimic, sure_ovqa, sure_slake"):
        sources.get("sure_vqa")


@pytest.fixture
def given(monkeypatch):
    """No folders were given yet."""
    monkeypatch.setattr(sources, "_GIVEN", [])


@pytest.mark.usefixtures("given")
def test_two_folders_may_not_claim_one_name(tmp_path):
    for name in ("one", "two"):
        folder(tmp_path, name, OWN.format(name="own_data"))
    with pytest.raises(UserError, match="'own_data'.*one.*two"):
        sources.add_source_folders([tmp_path])


@pytest.mark.usefixtures("given")
def test_a_source_without_sources_is_named(tmp_path):
    folder(tmp_path, "mine", "SOURCES = []")
    with pytest.raises(UserError, match=r"mine.source\.py exports no SOURCES"):
        sources.add_source_folders([tmp_path])


@pytest.mark.usefixtures("given")
def test_a_folder_that_is_given_is_found_by_name(tmp_path):
    with pytest.raises(UserError, match="Unknown suite 'own_data'"):
        sources.get("own_data")
    mine = folder(tmp_path, "mine", OWN.format(name="own_data"))
    sources.add_source_folders([tmp_path])
    assert (
        "own_data" in sources.names()
        and sources.source_folder("own_data") == mine
        and sources.added_source_folders() == (mine,)
    )
    assert sources.get("own_data").title == "Own"
    with pytest.raises(UserError, match="Unknown suite 'own_date'.*Did you mean 'own_data'"):
        sources.get("own_date")
    folder(tmp_path, "clash", OWN.format(name="medobvious"))
    with pytest.raises(UserError, match="'medobvious'.*clash"):
        sources.add_source_folders([tmp_path])
    assert sources.added_source_folders() == (mine,)
    with pytest.raises(UserError, match="absent is no folder"):
        sources.add_source_folders([tmp_path / "absent"])


def test_an_installed_package_offers_a_data_set(tmp_path, monkeypatch):
    (tmp_path / "own_source.py").write_text(OWN.format(name="own_data") + "OWN = SOURCES[0]\nrows = print\n")
    (tmp_path / "own_source-1.dist-info").mkdir()
    (tmp_path / "own_source-1.dist-info" / "METADATA").write_text("Name: own-source\nVersion: 1\n")
    entries = "[lmms_medtasks.data_readers]\nown_data = own_source:OWN\nread_rows = own_source:rows\n"
    (tmp_path / "own_source-1.dist-info" / "entry_points.txt").write_text(entries)
    monkeypatch.syspath_prepend(str(tmp_path))
    extensions.installed_extensions.cache_clear()
    try:
        assert "own_data" in sources.names()
        assert sources.get("own_data").title == "Own" and sources.source_folder("own_data") == tmp_path
        with pytest.raises(UserError, match="own-source 1 offers a builtin_function_or_method"):
            sources.get("read_rows")
    finally:
        monkeypatch.undo()
        extensions.installed_extensions.cache_clear()
