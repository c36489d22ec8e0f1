"""Takes pictures of every kind of page of reports and boards, and measures and pairs them.

``python -m tools.frozen_pictures take OUT --runs FOLDER`` makes the pages of the runs of :mod:`tools.frozen_runs` and
writes PNGs into OUT: NAME.STATE.WIDTH-THEME.png and NAME.STATE.print.png; beside them NAME.STATE.txt, the text that is
visible, and NAME.STATE.json, the texts of its charts with their boxes, and other texts that are small, cut or broken.
``measure OUT`` counts what is wrong in them. ``pair BEFORE AFTER OUT`` writes those that differ in unlabelled pairs.
The same state of the package gives the same files. It needs Chromium.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from tools.browser import Browser
from tools.frozen_runs import ENVIRONMENT, EXAMPLES, _in_fork, run_command

SCRIPT = Path(__file__).with_suffix(".js")
WIDTHS, THEMES, HEIGHT = (1440, 390), ("light", "dark"), 900
PAPER = 718
"""Pixels between the margins of a sheet of A4."""
OPTIONS = (
    "--hide-scrollbars", "--font-render-hinting=none", "--disable-lcd-text", "--force-color-profile=srgb",
    "--disable-partial-raster", "--disable-checker-imaging", "--run-all-compositor-stages-before-draw",
    "--disable-threaded-animation", "--disable-threaded-scrolling", "--num-raster-threads=1",
)  # fmt: skip
"""Of Chromium: the same pixels each time."""
HIGHEST = 12_000
"""Pixels after which a picture is cut; ``pictures.json`` has the whole height."""
SMALLEST = 12.0
SUITES = ("bones_joints", "med_cmr", "medobvious", "medq_deg", "sure_vqa")
EXAMPLE_SUITES = ("chest_side", "lesion_words")
_ALL_PARTS, _OF_SEVERAL = ".", "-all$"
MANY, EVERY = 40, 5
"""Models of the largest board, and which of them are those of the board of 8."""
HOSTILE = {10: "</svg><b>\"Aorta\" & 'Arch'`{{1}}", 15: "\u202eAorta \u05d0\u05d1\u05d2", 35: "Long-" + "Aorta" * 39}
LEFT_OUT = ("sure_slake_question_type", "sure_mimic_gender", "t6_treatment", "t7_treatment_reasoning")
"""Tasks that the larger boards do without: they cost time, and others of their benchmark look the same."""
STATED = 20
"""The model whose page is taken."""


class Page(NamedTuple):
    """A page: its name, its file as a pattern, what follows in its address, and which of its parts are taken."""

    name: str
    file: str
    fragment: str = ""
    parts: str = ""


def pages() -> tuple[Page, ...]:
    """All pages, the files relative to the folder that :func:`make_pages` fills."""
    reports = {"one": _ALL_PARTS, "three": _OF_SEVERAL, "judged": _ALL_PARTS, "degraded": _ALL_PARTS}
    found = [Page(f"report-{name}", f"report-{name}/report.html", "", parts) for name, parts in reports.items()]
    for board, suites in (("board-3", (*SUITES, *EXAMPLE_SUITES)), ("board-8", SUITES), ("board-40", SUITES)):
        found.append(Page(f"{board}-index", f"{board}/index.html"))
        found += [Page(f"{board}-suite-{suite}", f"{board}/suites/{suite}.html") for suite in suites]
        model = "alpha" if board == "board-3" else re.sub("[^a-z0-9]+", "-", model_name(STATED).lower())
        found.append(Page(f"{board}-model", f"{board}/models/{model}-*.html"))
    return (
        *found,
        Page("board-3-report", "board-3/reports/alpha-*.html"),
        Page("board-3-measured", "board-3/measured.html"),
        Page("board-3-questions", "board-3/questions/medobvious.html"),
        Page("board-3-question", "board-3/questions/med_cmr.html", "#med_cmr_mcq/mcq-1"),
        Page("board-40-questions", "board-40/questions/bones_joints.html"),
    )


def make_pages(runs: Path, folder: Path) -> None:
    """Make the reports and boards that are not in ``folder`` yet. Runs are named by relative paths, always the same."""
    if not (folder / "runs").exists():
        (folder / "runs").symlink_to(runs)
        _in_fork(lambda: mix_runs(runs / "core", folder / "many"))
    few = [f"many/{number:02}" for number in range(0, MANY, EVERY)]
    examples = ["--include_path", str(EXAMPLES)]
    reported = {"one": "core/alpha", "three": "core", "judged": "judged", "degraded": "degraded"}
    commands = [["report", f"runs/{run}", "-o", f"report-{name}", *examples] for name, run in reported.items()]
    three = [f"runs/{each}" for each in ("core", "rest", "examples", "judged")]
    for board, found in (("board-3", three), ("board-8", few), ("board-40", ["many"])):
        commands.append(["leaderboard", "build", *found, "--no-cache", "-o", board, *examples])
    before = Path.cwd()
    os.chdir(folder)
    try:
        for command in commands:
            if Path(command[command.index("-o") + 1]).exists():
                continue
            status, said = run_command(command, {})
            if status not in (0, 1):  # 1: a run of the board was refused, as it should be
                raise RuntimeError(f"{' '.join(command)} ended with {status}: {said}")
    finally:
        os.chdir(before)


def model_name(number: int) -> str:
    """The name of a made-up model of the larger boards: of many lengths, some with signs that a page must escape."""
    kind = ("Aorta-VL", "Bronchus-Med", "cortex", "Dermis-o1-mini", "Ethmoid-R1-Distill", "Femur-")[number % 6]
    size, more = (2, 7, 32, 72)[number % 4], "-Instruct-2026-01" * (number % 7 == 3)  # noqa: PLR2004 (some)
    return HOSTILE.get(number, f"{kind}{number / 10}-{size}B{more}")


def mix_runs(core: Path, folder: Path) -> None:
    """Write runs of models of rising skill, which take each reply of those in ``core``: a right or a wrong one."""
    from lmms_medtasks.board.collect import collect_entries

    # That of the third model fails at times, and a run with failed requests is not ranked.
    sources = {True: ("alpha", "beta", "gamma"), False: ("alpha", "beta")}
    [results] = (core / "alpha").glob("*_results.json")
    logs = {
        log.name: [
            next((core / each).glob("*" + log.name.partition("_samples_")[2])).read_text("utf-8").splitlines()
            for each in sources[True]
        ]
        for log in sorted((core / "alpha").glob("*_samples_*"))
        if not log.stem.endswith(LEFT_OUT)
    }
    scored = {name: [[(_score(line), line) for line in lines] for lines in found] for name, found in logs.items()}
    for number in range(MANY):
        target, drawn = folder / f"{number:02}", np.random.default_rng(number)
        target.mkdir(parents=True)
        content = json.loads(results.read_text("utf-8"))
        content["config"]["model"] = content["model_source"] = model_name(number)
        content["configs"] = {task: each for task, each in content["configs"].items() if not task.endswith(LEFT_OUT)}
        content["results"] = {task: {"alias": content["results"][task]["alias"]} for task in content["configs"]}
        (target / results.name).write_text(json.dumps(content), "utf-8")
        skill, count = 0.05 + 0.9 * number / MANY, len(sources[number % 8 == 7])  # noqa: PLR2004 (some of them fail)
        for name, found in scored.items():
            rows = (sorted(row[:count], key=lambda each: each[0]) for row in zip(*found, strict=True))
            chosen = [row[-1 if drawn.random() < skill else 0][1] for row in rows]
            (target / name).write_text("".join(f"{line}\n" for line in chosen), "utf-8")
    numbers = json.loads(results.read_text("utf-8"))["results"]
    for entry in collect_entries([folder], by_measure=True).entries:
        # A run whose numbers are not those of its rows is refused.
        content = json.loads(entry.source.results.read_text("utf-8"))
        estimates = entry.declaration.estimates if entry.declaration else {}
        for key in numbers[entry.task]:
            name = key.partition(",")[0]
            value = estimates[name].value(entry.samples) if name in estimates else None
            if value is not None:
                content["results"][entry.task][key] = value
        entry.source.results.write_text(json.dumps(content), "utf-8")


def _score(line: str) -> float:
    measures = json.loads(line)["questions"]["measures"]
    return next(iter(measures.values())).get("score") or 0.0


class Camera:
    """Takes all pictures of pages into a folder."""

    def __init__(self, browser: Browser, target: Path) -> None:
        self._browser, self._target = browser, target
        self._taken: dict[str, dict[str, Any]] = {}

    def take(self, page: Page, path: Path) -> None:
        """All states of a page: as it opens, each of its parts with all folds open, or all folds of the page open."""
        self._emulate(WIDTHS[0], "light")
        self._browser.open(path, page.fragment)
        self._browser.run(SCRIPT.read_text("utf-8"))
        self._browser.run("frozen.still()")
        parts = [part for part in self._browser.run("frozen.parts()") if re.search(page.parts or "(?!)", part)]
        folded = self._browser.run("frozen.folded()")
        self._state(f"{page.name}.first")
        self._print(f"{page.name}.print")
        for part in parts:
            # Without the digest of the model's settings.
            self._state(f"{page.name}.{re.sub('-[0-9a-f]{8}$', '', part)}", part)
        if folded:
            self._state(f"{page.name}.open", "")

    def _state(self, name: str, part: str | None = None) -> None:
        found: dict[str, Any] = {}
        for width in WIDTHS:
            self._emulate(width, "light")
            if part is not None:
                self._browser.run(f"frozen.unfold({json.dumps(part)})")
            if width == WIDTHS[0]:
                (self._target / f"{name}.txt").write_text(self._browser.run("document.body.innerText") + "\n", "utf-8")
            found[str(width)] = self._browser.run("frozen.measured()")
            for theme in THEMES:
                self._emulate(width, theme)
                self._shoot(f"{name}.{width}-{theme}", width)
        written = json.dumps(found, ensure_ascii=False, indent=0)
        (self._target / f"{name}.json").write_text(written + "\n", "utf-8")

    def _print(self, name: str) -> None:
        self._emulate(PAPER, "light", "print")
        self._browser.run("dispatchEvent(new Event('beforeprint'))")
        self._shoot(name, PAPER)
        self._browser.run("dispatchEvent(new Event('afterprint'))")

    def _emulate(self, width: int, theme: str, media: str = "screen") -> None:
        self._browser.call("Emulation.setDeviceMetricsOverride", width=width, height=HEIGHT, deviceScaleFactor=1,
                           mobile=False)  # fmt: skip
        features = [{"name": "prefers-color-scheme", "value": theme},
                    {"name": "prefers-reduced-motion", "value": "reduce"}]  # fmt: skip
        self._browser.call("Emulation.setEmulatedMedia", media=media, features=features)
        self._browser.run("globalThis.frozen?.settled()")

    def _shoot(self, name: str, width: int) -> None:
        high = self._browser.run("scrollTo(0, 0), document.documentElement.scrollHeight")
        clip = {"x": 0, "y": 0, "width": width, "height": min(high, HIGHEST), "scale": 1}
        taken, before = "", None
        while taken != before:  # a part may not be painted yet, as what stays in place while one scrolls
            before = taken
            found = self._browser.call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
            taken = found["data"]
        (self._target / f"{name}.png").write_bytes(base64.b64decode(taken))
        self._taken[name] = {"high": high, **({"cut": HIGHEST} if high > HIGHEST else {})}

    def close(self) -> None:
        """Write how high each page is and where its picture is cut."""
        (self._target / "pictures.json").write_text(json.dumps(self._taken, indent=0) + "\n", "utf-8")


def take(target: Path, runs: Path, only: str, pages_at: Path | None) -> None:
    """Make all pages that ``pages_at`` lacks, and pictures of them into ``target``, which must not be there yet."""
    os.environ.update(ENVIRONMENT)
    target.mkdir(parents=True)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["MEDTASKS_HOME"] = str(Path(scratch) / "home")
        made = pages_at or Path(scratch) / "made"
        made.mkdir(exist_ok=True)
        make_pages(runs.resolve(), made)
        print(f"Pages: {time.monotonic() - started:.0f} s.", file=sys.stderr)
        browser = Browser(Path(scratch) / "profile", *OPTIONS)
        camera = Camera(browser, target)
        for page in pages():
            if re.search(only, page.name):
                [path] = made.glob(page.file)
                camera.take(page, path)
        camera.close()
        browser.close()
        if browser.errors:
            print(f"{len(browser.errors)} errors in the pages, the first: {browser.errors[0]}", file=sys.stderr)
    pictures = list(target.glob("*.png"))
    size = sum(path.stat().st_size for path in pictures) / 1e6
    print(f"{len(pictures)} pictures, {size:.0f} MB, {time.monotonic() - started:.0f} s.", file=sys.stderr)


def collisions(texts: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Pairs of a chart's texts that lie on each other by more than a little."""
    found = []
    for one, other in combinations(texts, 2):
        across = min(one["x"] + one["w"], other["x"] + other["w"]) - max(one["x"], other["x"])
        down = min(one["y"] + one["h"], other["y"] + other["h"]) - max(one["y"], other["y"])
        # A box has room for letters that go above or below the others.
        if across > 1 and down > 0.3 * min(one["h"], other["h"]):  # noqa: PLR2004
            found.append((one["text"], other["text"]))
    return found


def faults(state: Mapping[str, Any]) -> dict[str, list[str]]:
    """What is wrong at one width of a page, by kind."""
    found: dict[str, list[str]] = {"small": [], "collide": [], "cut": [], "scrolls": [], "words cut": [],
                                   "broken": [], "words small": [], "too wide": []}  # fmt: skip
    for chart in state["charts"]:
        found["small"] += [f"{each['text']} ({each['size']} px)" for each in chart["texts"] if each["size"] < SMALLEST]
        found["collide"] += [f"{one} / {other}" for one, other in collisions(chart["texts"])]
        for each in chart["texts"]:
            if each["cut"]:
                found["scrolls" if each["cut"] == "scrolls" else "cut"].append(f"{each['text']} ({chart['title']})")
    for each in state["words"]:
        found["broken"] += each["broken"]
        if each["size"] < SMALLEST:
            found["words small"].append(f"{each['text']} ({each['size']} px)")
        if each["cut"] not in ("", "scrolls"):
            found["words cut"].append(f"{each['text']} ({each['cut']})")
    if state["wide"] > state["width"]:
        found["too wide"].append(f"{state['wide']} px")
    return found


def measure(folder: Path, most: int) -> int:
    """Print counts of faults by page and width, with ``most`` examples of each kind in all; 1 if there are any.

    What several states of a page show alike counts once.
    """
    total: dict[tuple[int, str], Counter[str]] = {}
    charts, known = 0, set()
    for path in sorted(folder.glob("*.json")):
        if path.name == "pictures.json":
            continue
        for width, state in json.loads(path.read_text("utf-8")).items():
            for kind in ("charts", "words"):
                keys = {(path.name.split(".")[0], width, json.dumps(each)): each for each in state[kind]}
                state[kind] = [each for key, each in keys.items() if key not in known]
                known |= keys.keys()
            found = faults({**state, "width": int(width)})
            charts += len(state["charts"])
            for kind, each in found.items():
                total.setdefault((int(width), kind), Counter()).update(each)
            said = ", ".join(f"{kind} {len(each)}" for kind, each in found.items() if each)
            texts = sum(len(chart["texts"]) for chart in state["charts"])
            print(f"{path.stem:44} {width:>5}  {len(state['charts']):3} charts, {texts:5} texts: {said or 'nothing'}")
    print(f"\n{charts} charts at {len(WIDTHS)} widths")
    for (width, kind), each in sorted(total.items()):
        examples = "; ".join(f"{text} x{count}" for text, count in each.most_common(most))
        print(f"{width:>5}  {kind:12} {each.total():6}  {examples}")
    taken = json.loads((folder / "pictures.json").read_text("utf-8"))
    cut = [f"{name} ({found['high']} px)" for name, found in taken.items() if "cut" in found]
    print(f"{len(cut)} of {len(taken)} pictures are cut at {HIGHEST} px: {', '.join(cut[:most])} …")
    return int(any(each for (_, kind), each in total.items() if kind != "scrolls"))


def differing(one: Image.Image, other: Image.Image) -> tuple[int, int]:
    """How many pixels differ by more than noise, and the first row that has one; rows that one lacks count whole."""
    first, second = (np.asarray(each.convert("RGB"), dtype=np.int16) for each in (one, other))
    if first.shape[1] != second.shape[1]:
        return max(first[..., 0].size, second[..., 0].size), 0
    high = min(len(first), len(second))
    rows = (np.abs(first[:high] - second[:high]).max(axis=2) > 16).sum(axis=1)  # noqa: PLR2004 (of 255)
    more = abs(len(first) - len(second)) * first.shape[1]
    return int(rows.sum()) + more, int(rows.argmax() if not rows.any() else np.flatnonzero(rows)[0])


def pair(before: Path, after: Path, target: Path, high: int) -> None:
    """Write the pictures that differ as NAME.left.png and NAME.right.png, and which is which into a file beside."""
    target.mkdir(parents=True)
    names = {folder: {path.name for path in folder.glob("*.png")} for folder in (before, after)}
    sides, same = {}, 0
    for name in sorted(names[before] & names[after]):
        with Image.open(before / name) as one, Image.open(after / name) as other:
            count, row = differing(one, other)
            if count < 20:  # noqa: PLR2004 (less than a letter)
                same += 1
                continue
            turned = hashlib.sha256(name.encode()).digest()[0] % 2
            stem, top = name.removesuffix(".png"), max(0, row - 300)
            for side, picture in zip(("left", "right"), (other, one) if turned else (one, other), strict=True):
                box = (0, min(top, picture.height - 1), picture.width, min(top + high, picture.height))
                (picture.crop(box) if high else picture).save(target / f"{stem}.{side}.png")
            sides[stem] = {"left": "after" if turned else "before", "pixels": count, "from_row": top if high else 0}
    only = {"only_before": sorted(names[before] - names[after]), "only_after": sorted(names[after] - names[before])}
    key = target.with_name(f"{target.name}_key.json")
    key.write_text(json.dumps({"pairs": sides, **only}, indent=1) + "\n", "utf-8")
    print(
        f"{len(sides)} pairs, {same} the same, {', '.join(f'{len(each)} {kind}' for kind, each in only.items())}. {key}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; its exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.frozen_pictures", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    commands = parser.add_subparsers(dest="command", required=True)
    made = commands.add_parser("take", help="Take all pictures into OUT, a new folder.")
    made.add_argument("output", type=Path, metavar="OUT")
    made.add_argument("--runs", type=Path, required=True, help="Folder of runs made by tools.frozen_numbers dump.")
    made.add_argument("--pages", type=Path, help="Folder in which the pages are kept; those that it has are used.")
    made.add_argument("--only", default="", help="Only pages whose name this regular expression finds.")
    measured = commands.add_parser("measure", help="Count what is wrong in the pictures of OUT.")
    measured.add_argument("output", type=Path, metavar="OUT")
    measured.add_argument("--most", type=int, default=5, help="Examples of each kind. Default: 5.")
    paired = commands.add_parser("pair", help="Write pictures that differ in unlabelled pairs.")
    paired.add_argument("folders", type=Path, nargs=3, metavar="FOLDER", help="BEFORE, AFTER, OUT")
    paired.add_argument("--high", type=int, default=3000,
                        help="Pixels from where they first differ; 0: whole pictures. Default: 3000.")  # fmt: skip
    chosen = parser.parse_args(arguments)
    if chosen.command == "take":
        take(chosen.output, chosen.runs, chosen.only, chosen.pages)
    elif chosen.command == "measure":
        return measure(chosen.output, chosen.most)
    else:
        pair(*chosen.folders, chosen.high)
    return 0


if __name__ == "__main__":
    sys.exit(main())
