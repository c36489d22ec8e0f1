"""The site as files: whole HTML, links that lead somewhere, nothing from outside, texts that stay texts."""

import csv
import json
import re
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest

from lmms_medtasks.board.collect import collect_entries
from lmms_medtasks.board.site import model_page
from lmms_medtasks.board.site.pages import PageWriter
from lmms_medtasks.board.site.write_site import SiteOptions, build_site
from lmms_medtasks.build_cache import BuildCache
from lmms_medtasks.errors import UserError
from lmms_medtasks.report import suite_report
from lmms_medtasks.suites import suite_rows

VOID = {"meta", "link", "br", "img", "use", "input", "hr", "path", "wbr"}
QUICK = SiteOptions(resamples=20, reports=False)


class Page(HTMLParser):
    """What is in a page: tags that stay open, ids, addresses, texts, rows of tables."""

    def __init__(self, path):
        super().__init__()
        self.path, self.open, self.ids, self.links, self.loads, self.scripts = path, [], [], [], [], []
        self.text, self.rows, self.attributes = [], 0, []
        self.feed(path.read_text("utf-8"))
        self.close()

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.open.append(tag)
        self._look(tag, attributes)

    def handle_startendtag(self, tag, attributes):
        self._look(tag, attributes)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag, self.path

    def handle_data(self, data):
        if self.open and self.open[-1] == "script" and data.strip():
            self.scripts.append(data)
        self.text.append(data)

    def _look(self, tag, attributes):
        self.rows += tag == "tr"
        for name, value in attributes:
            self.attributes.append((tag, name, value))
            assert not name.startswith("on"), (self.path, name, value)
            if name == "id":
                self.ids.append(value)
            elif name == "href" and tag == "a":
                self.links.append(value)
            elif name in ("src", "href", "xlink:href", "data", "action"):
                self.loads.append(value)


@pytest.fixture(scope="module")
def pages(site):
    return {path.relative_to(site).as_posix(): Page(path) for path in sorted(site.rglob("*.html"))}


def asked(page, task):
    """The ids of a task's questions, as the CSV of a suite's page of questions has them."""
    file = page.parents[1] / "data" / "questions" / f"{page.stem}-{task}.csv"
    with file.open(encoding="utf-8", newline="") as lines:
        return {row["question"] for row in csv.DictReader(lines)}


def test_there_is_a_page_for_each_suite_and_model(pages, board):
    assert "index.html" in pages
    for suite in ("medq_deg", "med_cmr", "medobvious", "sure_vqa"):
        assert {f"suites/{suite}.html", f"questions/{suite}.html"} <= set(pages)
    assert sum(name.startswith("models/") for name in pages) == len(board.models) == 3


def test_pages_call_a_benchmark_a_benchmark(pages):
    for name, page in pages.items():
        said = [
            *(each for each in page.text if each not in page.scripts),
            *(value for _, key, value in page.attributes if key in ("aria-label", "title")),
        ]
        assert not [each for each in said if re.search(r"\b[Ss]uites?\b", each)], name


def test_what_a_rank_is_stands_in_five_points(pages):
    text = pages["measured.html"].path.read_text("utf-8")
    points = re.search(r'<h2 id="ranks">.*?<ul[^>]*>(.*?)</ul>', text, re.DOTALL)
    assert points and re.findall(r"<strong>(.*?)</strong>", points[1]) == [
        "Rank.", "Its interval.", "The test.", "Numbers that are no mean over questions.", "Fewer than 10 images.",
    ]  # fmt: skip


def test_pages_are_whole_html(pages):
    for name, page in pages.items():
        assert page.open == [], name
        assert len(page.ids) == len(set(page.ids)), name


def test_a_screen_reader_finds_its_way(pages):
    """axe's rules nested-interactive, landmark-unique and empty-table-header, in the pages' text."""
    for name, page in pages.items():
        text = page.path.read_text("utf-8")
        summaries = re.findall(r"<summary.*?</summary>", text, re.DOTALL)
        assert not [each for each in summaries if re.search(r"<(a|button|input)\b", each)], name
        assert not re.findall(r"<th[^>]*>\s*</th>", text), name
        landmarks = re.findall(r'<(?:section|nav|div)\b[^>]* aria-labelledby="([^"]+)"', text)
        assert len(landmarks) == len(set(landmarks)), name


def test_links_lead_somewhere_and_nothing_is_loaded_from_outside(pages, site):
    for name, page in pages.items():
        for link in page.links:
            if link.startswith("data:text/csv"):  # a report has its tables in it
                assert name.startswith("reports/")
                continue
            if link.startswith(("http://", "https://")):
                assert name.startswith("suites/")  # a card's links are links, nothing loads
                continue
            place, _, fragment = link.partition("#")
            target = (site / name).parent / unquote(place.partition("?")[0]) if place else site / name
            assert target.is_file(), (name, link)
            if fragment and target.parent.name == "questions" and "/" in fragment:
                task, question = map(unquote, fragment.split("/"))
                assert question in asked(target, task), (name, link)
            elif fragment:
                other = pages[target.resolve().relative_to(site.resolve()).as_posix()]
                assert fragment in other.ids, (name, link)
        for address in page.loads:
            assert not re.match(r"\w+:|//", address) or address.startswith("data:"), (name, address[:80])
            if not address.startswith(("#", "data:")):
                assert ((site / name).parent / address).is_file(), (name, address)


def test_no_script_may_run_but_the_sites_own_files(pages, site):
    for name, page in pages.items():
        assert len(page.scripts) == name.startswith("reports/")  # a report has its script in it, allowed by its digest
        policies = [
            value for tag, name, value in page.attributes if tag == "meta" and name == "content" and "src" in value
        ]
        assert len(policies) == 1
        rules = dict(rule.split(maxsplit=1) for rule in policies[0].split("; "))
        assert rules["default-src"] == "'none'"
        assert "'sha256-" in rules["script-src"] or not page.scripts
        assert "unsafe" not in rules["script-src"] and "http" not in policies[0]
    for path in [*site.rglob("*.css"), *site.rglob("assets/*.js")]:
        assert not re.search(r"@import|url\((?!#)|https?://", path.read_text("utf-8")), path


def test_hostile_texts_are_texts(pages, site, hostile):
    seen = 0
    for page in pages.values():
        text = "".join(page.text)
        assert "\u202e" not in text
        seen += "<script>alert(1)</script>" in text
        assert "1337" not in text
    assert seen >= 6
    shards = list(site.rglob("questions/*/*.js"))
    assert shards
    for path in shards:
        text = path.read_text("ascii")
        assert "<" not in text and "\u2028" not in text
        assert re.match(r"medtasks\.(index\(|shard\(\d+,)", text)
        value = json.loads(text[re.search(r"[{\[]", text).start() : text.rindex(")")])
        assert value


def test_every_table_has_a_csv_that_no_spreadsheet_runs(site):
    found = sorted(path for path in site.rglob("data/**/*.csv") if path.parent.name != "questions")
    assert len(found) > 50
    for path in found:
        rows = list(csv.reader(path.open(newline="", encoding="utf-8")))
        assert len(rows) > 1 and {len(row) for row in rows} == {len(rows[0])}, path
        for row in rows:
            assert not any(cell.startswith(("=", "@", "\t", "+", "-")) and not _number(cell) for cell in row), path


def _number(text):
    return re.fullmatch(r"[+-]?[\d.]+(e-?\d+)?", text) is not None


def test_tables_are_in_the_pages_without_scripts(pages):
    # Two models and the forty published ones, under one head.
    text = "".join(pages["suites/medq_deg.html"].text)
    assert pages["suites/medq_deg.html"].rows > 43
    assert "Gemini-2.5-Pro" in text and "published, Table 6" in text and "were not run here" in text


def test_where_there_are_no_ranks_the_reason_is_said(pages):
    """Six questions give none."""
    assert "No ranks by" in "".join(pages["suites/medq_deg.html"].text)


def test_what_limits_a_run_is_said(pages):
    text = " ".join("".join(pages["index.html"].text).split())
    assert "1 run or task refused." in text
    assert "broken or cut off" in text
    assert "Only 3 of 6 questions were asked (--limit 3)." in text
    apart = "".join(pages["suites/medobvious.html"].text)
    assert "Run, but not ranked: part." in " ".join(apart.split())


def test_no_path_of_this_machine_is_said(site, board_folder):
    for path in site.rglob("*"):
        if path.suffix in (".html", ".js", ".csv", ".json"):
            text = path.read_text("utf-8")
            assert str(board_folder) not in text and str(board_folder.parent) not in text, path


def test_a_models_report_is_a_page_with_figures(pages):
    page = next(page for name, page in pages.items() if name.startswith("reports/good"))
    assert sum(tag == "svg" for tag, name, _ in page.attributes if name == "role") >= 8
    text = "".join(page.text)
    assert "Accuracy by level" in text and "can't be made" not in text


def test_same_runs_give_the_same_bytes(board_folder, tmp_path):
    for name in ("one", "two"):
        board = collect_entries([board_folder])
        build_site(board, tmp_path / name, SiteOptions(resamples=20, reports=False, roots=(board_folder,)))
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_what_was_kept_of_the_last_build_gives_the_same_bytes(site, site_cache, board_folder, tmp_path, monkeypatch):
    """Nothing of a single run is read, analysed or made HTML again, and no comparison is made again."""
    made = len([path for path in site_cache.rglob("*") if path.is_file()])
    read, read_rows = [], suite_rows._task_rows
    monkeypatch.setattr(suite_rows, "_task_rows", lambda *told: [read.append(told[1].path), read_rows(*told)][1])
    monkeypatch.setattr(suite_report, "_results_part", lambda *told: 1 / 0)
    monkeypatch.setattr(suite_report, "_comparison_part", lambda *told: 1 / 0)
    monkeypatch.setattr(suite_report, "reported_differences", None)
    monkeypatch.setattr(PageWriter, "body", lambda *_: 1 / 0)
    cache = BuildCache.at(site_cache)
    options = SiteOptions(resamples=40, roots=(board_folder,), cache=cache)
    build_site(collect_entries([board_folder], cache=cache), tmp_path / "site", options)
    assert contents(tmp_path / "site") == contents(site)
    assert {path.parent.name for path in read} == {"broken"}
    assert made > 10 and len([path for path in site_cache.rglob("*") if path.is_file()]) == made


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_is_no_site_of_ours_is_not_replaced(board, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "thesis.txt").write_text("x")
    with pytest.raises(UserError, match="something else than a site of ours"):
        build_site(board, tmp_path / "site", QUICK)
    assert (tmp_path / "site" / "thesis.txt").read_text() == "x"
    with pytest.raises(UserError, match="is a file"):
        build_site(board, tmp_path / "site" / "thesis.txt", QUICK)


def test_the_old_site_stands_until_the_new_one_is_whole(board, tmp_path, monkeypatch):
    output = tmp_path / "site"
    build_site(board, output, SiteOptions(resamples=0, reports=False, questions=False, title="old"))
    (output / "left over").write_text("x")
    monkeypatch.setattr(model_page, "model_score_table", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        build_site(board, output, SiteOptions(resamples=0, reports=False, questions=False, title="new"))
    assert "<title>old</title>" in (output / "index.html").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["site"]
    monkeypatch.undo()
    build_site(board, output, SiteOptions(resamples=0, reports=False, questions=False, title="new"))
    assert "<title>new</title>" in (output / "index.html").read_text()
    assert not (output / "left over").exists()


def test_an_empty_board_is_a_site_too(tmp_path):
    (tmp_path / "runs").mkdir()
    build_site(collect_entries([tmp_path / "runs"]), tmp_path / "site", QUICK)
    assert "There is no entry." in (tmp_path / "site" / "index.html").read_text()


def test_a_stamp_stands_only_where_it_was_given(board, tmp_path):
    build_site(board, tmp_path / "site", SiteOptions(resamples=0, reports=False, questions=False, stamp="commit <abc>"))
    assert "commit &lt;abc&gt;" in (tmp_path / "site" / "index.html").read_text()
