"""No module outside a benchmark's folder names a benchmark."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("lmms_medtasks", "judges", "degradations")
ENDINGS = {".py", ".yml", ".yaml", ".css", ".js", ".html", ".txt", ".md"}
NAMES = re.compile(r"med_?cmr|medobvious|medq_?deg|bones_joints|bonesjoints|sure_(?:vqa|slake|ovqa|mimic)|\bsure_")


def naming() -> set[str]:
    """The files that name a benchmark, or are called after one."""
    found = set()
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            name = path.relative_to(ROOT).as_posix()
            if (
                path.suffix in ENDINGS
                and path.is_file()
                and (NAMES.search(name) or NAMES.search(path.read_text("utf-8")))
            ):
                found.add(name)
    return found


def test_no_other_file_names_a_benchmark():
    assert sorted(naming()) == []


def test_a_name_is_found_in_code_data_and_file_names(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    (tmp_path / "judges").mkdir()
    for name, text in (
        ("a.py", "x = 'sure_slake'"),
        ("med_cmr.js", ""),
        ("b.yml", "tasks: sure_*"),
        ("c.py", "ensure_x"),
    ):
        (tmp_path / "judges" / name).write_text(text)
    assert naming() == {"judges/a.py", "judges/med_cmr.js", "judges/b.yml"}
