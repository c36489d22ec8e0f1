"""No module outside a benchmark's folder names a benchmark, but for the files that are listed here, which get fewer."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("lmms_medtasks", "judges", "degradations")
ENDINGS = {".py", ".yml", ".yaml", ".css", ".js", ".html", ".txt", ".md"}
NAMES = re.compile(r"med_?cmr|medobvious|medq_?deg|bones_joints|bonesjoints|sure_(?:vqa|slake|ovqa|mimic)|\bsure_")

# Files, and folders with a stroke at the end, that name benchmarks still. None is ever added.
ALLOWED = {
    "judges/bones_joints.py",
    "judges/med_cmr.py",
    "judges/open_answer.py",
    "judges/prompts/",
    "judges/registry.py",
    "judges/sure_vqa.py",
    "lmms_medtasks/board/measures.yml",
    "lmms_medtasks/board/site/published.py",
    "lmms_medtasks/board/site/rows.py",
    "lmms_medtasks/report/bones_joints/",
    "lmms_medtasks/report/med_cmr/",
    "lmms_medtasks/report/medq_deg/",
    "lmms_medtasks/report/suites.py",
    "lmms_medtasks/report/sure_vqa/",
}


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


def is_allowed(file: str, by: str) -> bool:
    return file == by or (by.endswith("/") and file.startswith(by))


def test_no_other_file_names_a_benchmark():
    assert [file for file in sorted(naming()) if not any(is_allowed(file, each) for each in ALLOWED)] == []


def test_nothing_stays_on_the_list_that_names_none():
    found = naming()
    assert [each for each in sorted(ALLOWED) if not any(is_allowed(file, each) for file in found)] == []


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
