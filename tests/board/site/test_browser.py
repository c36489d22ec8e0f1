"""The site in headless Chromium: no error, nothing from outside, tables sorted and filtered, texts only texts."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

from lmms_medtasks.board.site.question_cards import question_address
from lmms_medtasks.report import ReportOptions as ReportOptions
from lmms_medtasks.report import build_report as build_report
from lmms_medtasks.report.report_page import render_html

WAIT = """new Promise((done) => {
  const ready = () => document.getElementById("place")?.textContent || document.querySelector(".flag:has(+ #browser)");
  const look = () => ready() ? done(true) : setTimeout(look, 20);
  look();
})"""


def pages(site):
    return sorted(site.rglob("*.html"))


@pytest.fixture
def quiet(browser, site):
    """The browser; afterwards it must have logged no error, asked for nothing outside, and run nothing of a text."""
    browser.errors.clear()
    browser.requests.clear()
    yield browser
    assert browser.errors == []
    assert browser.requests
    assert all(url.startswith((site.as_uri(), "data:")) for url in browser.requests)


def test_every_page_opens_without_an_error_or_a_request_outside(quiet, site):
    for path in pages(site):
        quiet.open(path)
        if path.parent.name == "questions":
            quiet.run(WAIT)
        assert quiet.run("document.scripts.length") == (
            1
            if path.parent.name == "reports"
            else 4
            if path.parent.name == "questions" or path.name == "index.html"
            else 3
        )
        assert quiet.run("document.querySelectorAll('[onmouseover], [onerror], [onclick], main script').length") == 0


def test_no_page_is_wider_than_a_phone(quiet, site):
    quiet.call("Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=1, mobile=True)
    try:
        for path in pages(site):
            quiet.open(path)
            if path.parent.name == "questions":
                quiet.run(WAIT)
            assert quiet.run("document.documentElement.scrollWidth") <= 390, path
    finally:
        quiet.call("Emulation.clearDeviceMetricsOverride")


COLUMN = """((table, column) => [...table.tBodies[0].rows].filter((row) => !row.hidden)
  .map((row) => row.cells[column].textContent))(document.querySelector('#medq_deg-ranking table'), %d)"""
CLICK = "document.querySelectorAll('#medq_deg-ranking th button')[%d].click()"


def test_a_table_is_sorted_by_a_click_and_by_a_key(quiet, site):
    quiet.open(site / "suites" / "medq_deg.html", "#medq_deg-ranking")  # opens the part that it is folded in
    before = quiet.run(COLUMN % 2)
    numbers = [float(text.split()[0]) for text in before if text[0].isdigit()]
    quiet.run(CLICK % 2)
    shown = quiet.run(COLUMN % 2)
    assert [float(text.split()[0]) for text in shown] == sorted(numbers, reverse=True)
    assert quiet.run("document.querySelectorAll('#medq_deg-ranking th')[2].ariaSort") == "descending"
    quiet.run("document.querySelectorAll('#medq_deg-ranking th button')[2].focus()")
    for kind in ("keyDown", "keyUp"):
        quiet.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", text="\r", windowsVirtualKeyCode=13)
    shown = quiet.run(COLUMN % 2)
    assert [float(text.split()[0]) for text in shown] == sorted(numbers)
    # A rank: the best first, rows without one last. So few images give none, so two are written into the page.
    quiet.run(
        """[...document.querySelectorAll('#medq_deg-ranking tbody tr')]
        .filter((row) => row.cells[1].textContent === 'run')
        .forEach((row, place) => { row.cells[3].textContent = `${2 - place} [1, 2]`; })"""
    )
    quiet.run(CLICK % 3)
    ranks = quiet.run(COLUMN % 3)
    assert ranks[:2] == ["1 [1, 2]", "2 [1, 2]"]
    assert set(ranks[2:]) == {"–"}


def test_rows_are_filtered_by_words_and_by_kind(quiet, site):
    quiet.open(site / "suites" / "medq_deg.html")
    box = "document.querySelector('#medq_deg-ranking').previousElementSibling"
    everything = len(quiet.run(COLUMN % 0))
    quiet.run(f"{box}.querySelector('[type=checkbox]').click()")
    assert len(quiet.run(COLUMN % 0)) == 2
    quiet.run(f"{box}.querySelector('[type=checkbox]').click()")
    quiet.run(
        f"(i => {{ i.value = 'gpt-5'; i.dispatchEvent(new Event('input')); }})({box}.querySelector('[type=search]'))"
    )
    found = quiet.run(COLUMN % 0)
    assert found and all("GPT-5" in name for name in found)
    assert quiet.run(f"{box}.querySelector('[role=status]').textContent") == f"{len(found)} of {everything} rows"


def test_dark_by_preference_and_by_button(quiet, site):
    back = "getComputedStyle(document.body).backgroundColor"
    quiet.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
    quiet.open(site / "index.html")
    light = quiet.run(back)
    quiet.run("document.getElementById('theme').click()")
    dark = quiet.run(back)
    assert dark != light
    quiet.open(site / "suites" / "medobvious.html")
    assert quiet.run(back) == dark
    quiet.run("localStorage.clear()")
    quiet.open(site / "index.html")
    assert quiet.run(back) == light
    quiet.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    assert quiet.run(back) == dark
    quiet.call("Emulation.setEmulatedMedia", features=[])


def test_what_a_filter_of_models_lets_through_lies_in_no_fold(quiet, site):
    fold = "document.getElementById('more')"
    quiet.open(site / "index.html")
    assert quiet.run(f"{fold}.open") is False
    quiet.open(site / "suites" / "medobvious.html")  # another fragment alone would not load the page anew
    quiet.open(site / "index.html", "#size=over")
    assert quiet.run(f"{fold}.hidden || {fold}.open")
    quiet.open(site / "suites" / "medobvious.html")
    name = "[...document.querySelectorAll('#more tr.printed')][0].dataset.name"
    quiet.open(site / "index.html")
    said = quiet.run(name)
    quiet.open(site / "suites" / "medobvious.html")
    quiet.open(site / "index.html", f"#name={said}")
    assert quiet.run(f"{fold}.open")


def test_paper_is_white_after_the_button_for_dark_was_pressed(quiet, site):
    # A tinted cell of its own: whether the index has one depends on the ranks.
    tint = "(cell => { document.body.append(cell); cell.className = 'tint tier-1';"
    tint += " return getComputedStyle(cell).backgroundColor; })(document.createElement('i'))"
    quiet.call("Emulation.setEmulatedMedia", media="print")
    quiet.open(site / "index.html")
    paper = quiet.run(tint)
    quiet.call("Emulation.setEmulatedMedia", media="")
    quiet.run("document.getElementById('theme').click()")
    assert quiet.run(tint) != paper
    quiet.call("Emulation.setEmulatedMedia", media="print")
    assert quiet.run(tint) == paper
    quiet.call("Emulation.setEmulatedMedia", media="")
    quiet.run("localStorage.clear()")


def test_in_print_no_heading_stands_over_folded_parts_and_no_chart_is_torn(quiet, site):
    shown = "getComputedStyle(document.getElementById('%s')).display"
    quiet.call("Emulation.setEmulatedMedia", media="print")
    model = next((site / "models").glob("*.html"))
    for path, heading in ((site / "suites" / "medq_deg.html", "more-head"), (model, "all")):
        quiet.open(path)
        assert quiet.run(shown % heading) == "none"
        quiet.run(f"document.querySelector('#{heading} ~ details').open = true")
        assert quiet.run(shown % heading) == "block"
    quiet.open(site / "index.html")
    assert quiet.run("getComputedStyle(document.querySelector('.drawn')).breakInside") == "avoid"
    quiet.call("Emulation.setEmulatedMedia", media="")


def choose(browser, name, value):
    browser.run(
        f"(s => {{ s.value = {value!r}; s.dispatchEvent(new Event('change')); }})(document.getElementById({name!r}))"
    )
    browser.run("new Promise((done) => setTimeout(done, 300))")


FOUND = "document.getElementById('found').textContent"
SHOWN = "[...document.querySelectorAll('#list .question h2')].map((each) => each.textContent)"


def opened(browser, site, address=""):
    """Open the questions of a suite at an address, and wait until they are there."""
    browser.open(site / "index.html")  # the same page with another fragment would not be loaded anew
    browser.open(site / "questions" / "medq_deg.html", address)
    browser.run(WAIT)


def pressed(browser, key):
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key=key, text=key, code=f"Key{key.upper()}")
    browser.run("new Promise((done) => setTimeout(done, 50))")


def test_questions_are_shown_as_text_and_filtered(quiet, site, hostile):
    opened(quiet, site)
    assert quiet.run(FOUND) == "18 of 18 questions"
    assert hostile.replace("\u202e", "\ufffd") in quiet.run("document.getElementById('list').textContent")
    assert quiet.run("document.querySelectorAll('#list script, #list img').length") == 0
    # good is wrong at L2 of every other question and at all levels of the last; bad is right where its letter is A.
    choose(quiet, "verdict", "none")
    none = int(quiet.run(FOUND).split()[0])
    choose(quiet, "verdict", "")
    choose(
        quiet, "model", quiet.run("[...document.getElementById('model')].find((each) => each.text === 'good').value")
    )
    choose(quiet, "was", "wrong")
    wrong = int(quiet.run(FOUND).split()[0])
    # "AAAAAB": L2 of the second, fourth and sixth (3), and L0 and L1 of the sixth (2).
    assert wrong == 5
    assert 0 < none <= wrong
    choose(quiet, "was", "")
    quiet.run("(i => { i.value = 'q3'; i.dispatchEvent(new Event('input')); })(document.getElementById('text'))")
    quiet.run("new Promise((done) => setTimeout(done, 50))")
    assert quiet.run(FOUND) == "3 of 18 questions"


def test_filters_stand_in_the_address_and_a_link_with_them_gives_the_same_list(quiet, site):
    opened(quiet, site, "?task=medq_deg&tag=severity:2&model=good&was=wrong")
    assert quiet.run(SHOWN) == ["q1/blur/L2", "q3/blur/L2", "q5/blur/L2"]
    quiet.run("(i => { i.value = 'q3'; i.dispatchEvent(new Event('input')); })(document.getElementById('text'))")
    choose(quiet, "verdict", "none")
    query = quiet.run("location.search")
    assert {"text=q3", "tag=severity:2", "was=wrong", "verdict=none"} <= set(query.removeprefix("?").split("&"))
    opened(quiet, site, query)
    assert quiet.run(SHOWN) == ["q3/blur/L2"]
    opened(quiet, site, "?tag=colour:blue&model=nobody")
    said = quiet.run(FOUND)
    assert "tag=colour:blue" in said and "model=nobody" in said and "0 of 18" in said


def test_a_question_has_an_address_of_its_own_and_a_way_to_the_list(quiet, site):
    address = question_address("medq_deg", "medq_deg", "q3/blur/L2")
    opened(quiet, site, "?was=wrong" + address.removeprefix("questions/medq_deg.html"))
    assert quiet.run(SHOWN) == ["q3/blur/L2"]
    assert quiet.run("document.getElementById('filters').hidden")
    assert quiet.run("document.getElementById('place').textContent") == "7 of 13"
    quiet.run("document.getElementById('next').click()")
    quiet.run("new Promise((done) => setTimeout(done, 50))")
    assert quiet.run(SHOWN) == ["q4"]  # the next that a model had wrong
    quiet.run("document.getElementById('previous').click()")
    quiet.run("new Promise((done) => setTimeout(done, 50))")
    quiet.run("document.querySelector('#alone a').click()")
    quiet.run("new Promise((done) => setTimeout(done, 50))")
    assert "q3/blur/L2" in quiet.run(SHOWN) and len(quiet.run(SHOWN)) > 1
    assert quiet.run("document.getElementById('was').value") == "wrong"
    quiet.run("document.querySelector('#list .question h2 a').click()")
    quiet.run("new Promise((done) => setTimeout(done, 50))")
    assert len(quiet.run(SHOWN)) == 1


def test_keys_go_from_question_to_question_but_not_in_a_field(quiet, site):
    opened(quiet, site)
    focused = "document.activeElement.closest('.question')?.querySelector('h2').textContent"
    pressed(quiet, "j")
    assert quiet.run(focused) == "q0"
    for _ in range(10):
        pressed(quiet, "j")
    assert quiet.run(focused) == quiet.run(SHOWN)[0] == "q3/blur/L1"  # the eleventh: the page is turned
    pressed(quiet, "k")
    assert quiet.run(focused) == "q3" and quiet.run("document.getElementById('previous').disabled")
    quiet.run("document.getElementById('text').focus()")
    pressed(quiet, "j")
    assert quiet.run("document.activeElement.id") == "text"
    opened(quiet, site, "#medq_deg/q0")
    pressed(quiet, "j")
    assert quiet.run(SHOWN) == ["q0/blur/L1"] and quiet.run("location.hash") == "#medq_deg/q0%2Fblur%2FL1"


def test_a_models_name_ends_a_line_behind_a_sign_only(quiet, site):
    opened(quiet, site, "")
    parts = quiet.run("[...document.querySelectorAll('table.replies th')].map((head) => head.innerHTML)")
    assert parts and all("<wbr>" in each or not re.search("[/_.-][^/_.-]", each) for each in parts)


def test_pages_of_questions_are_turned(quiet, site):
    opened(quiet, site)
    assert quiet.run("document.querySelectorAll('#list .question').length") == 10
    assert quiet.run("document.getElementById('previous').disabled")
    quiet.run("document.getElementById('next').click()")
    quiet.run("new Promise((done) => setTimeout(done, 50))")
    assert quiet.run("document.querySelectorAll('#list .question').length") == 8
    assert quiet.run("document.getElementById('place').textContent") == "11 to 18"
    assert quiet.run("document.getElementById('next').disabled")


def test_a_link_to_a_folded_table_opens_it(quiet, site):
    quiet.open(site / "suites" / "medq_deg.html", "#published-table6")
    assert quiet.run("document.getElementById('published-table6').closest('details').open")


def test_a_report_opens_at_any_address_and_says_which_part_is_shown(browser, write_run, tmp_path):
    """An empty aria-current counts as none, and an address that is no text ended the script."""
    runs = [write_run(name, model=name) for name in ("one", "two")]
    path = tmp_path / "report.html"
    document = build_report(runs, ReportOptions(resamples=0, drawn=False))
    path.write_text(render_html(document), "utf-8")
    browser.errors.clear()
    for address in ("", "#%E0%A4%A", f"#{document.parts[-1].key}"):
        browser.open(tmp_path / "report.html", address) if not address else browser.run(
            f"new Promise((done) => {{ location.hash = {address!r}; setTimeout(done, 50); }})"
        )
        assert browser.run("[...document.querySelectorAll('article.part')].filter((each) => !each.hidden).length") == 1
    assert browser.errors == []
    assert browser.run("[...document.querySelectorAll('[aria-current]')].map((each) => each.ariaCurrent)") == ["true"]


def test_copies_are_latex_with_its_signs_escaped_and_figures_on_the_pages_colour(browser, write_run, tmp_path):
    path = tmp_path / "report.html"
    runs = [write_run(name, model=name) for name in ("a_b&c", "[two]")]
    path.write_text(render_html(build_report(runs, ReportOptions(resamples=0))), "utf-8")
    browser.errors.clear()
    browser.open(path)
    assert browser.run(r"latexText(' [1] a_b 50% −2 [-3.1, 4] 2026-11 ‖† x^2 \\ <b ')") == (
        r"{[}1] a\_b 50\% $-$2 [$-$3.1, 4] 2026-11 $\parallel$"
        r"\textdagger{} x\textasciicircum{}2 \textbackslash{} \textless{}b"
    )
    browser.run(
        "Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (text) => { copied = text; }}})"
    )
    browser.run(
        "var copied = ''; [...document.querySelectorAll('.copy[data-table] button')].map((each) => each.click())"
    )
    lines = browser.run("copied").splitlines()
    assert lines[1].startswith(r"\begin{tabular}{") and lines[-1] == r"\end{tabular}"
    columns = len(lines[1].partition("}{")[2]) - 1
    assert all(each.count(" & ") == columns - 1 and each.endswith(r" \\") for each in lines[5:-2])
    drawn = browser.run("standalone(document.querySelector('figure svg'))")
    assert ElementTree.fromstring(drawn)[0].get("fill") == browser.run(
        "getComputedStyle(document.body).backgroundColor"
    )
    assert browser.errors == []


def test_the_boards_tables_are_copied_as_shown_and_its_charts_by_the_name_of_their_section(quiet, site):
    quiet.open(site / "index.html")
    lines = quiet.run("latex(document.querySelector('#all-models table'))").splitlines()
    columns = quiet.run("document.querySelector('table.board').tHead.rows[0].cells.length")
    assert lines[1] == f"\\begin{{tabular}}{{ll{'r' * (columns - 2)}}}"
    rows = [line for line in lines[4:] if " & " in line]
    assert rows and all(row.count(" & ") == columns - 1 for row in rows)
    # A cell "50.0", "rank 1", "40.0 to 60.0", "40 to 60": its number and the long form of its interval, in brackets.
    assert re.search(r" & \d+\.\d \[\d+\.\d to \d+\.\d\]", rows[0]), rows[0]
    assert any(line.startswith(rf"\multicolumn{{{columns}}}{{l}}{{Published") for line in lines)
    assert any("& Human expert (people, no model) & " in line for line in lines)
    quiet.run("document.querySelector('tr.mine').hidden = true")
    assert rows[0] not in quiet.run("latex(document.querySelector('#all-models table'))").splitlines()
    quiet.open(site / "suites" / "medq_deg.html")
    name, kinds = quiet.run(
        "(() => { const drawn = document.querySelector('.charted figure');"
        " return [chartName(drawn), [...drawn.querySelectorAll('.copy button')].map((each) => each.textContent)]; })()"
    )
    assert name == "how-far-each-model-falls-from-clean-to-severe" and kinds == ["SVG", "PNG"]


def test_a_chart_says_what_the_nearest_mark_is_by_pointer_and_key_and_brings_out_what_looks_like_it(
    browser, write_run, tmp_path
):
    path = tmp_path / "report.html"
    path.write_text(render_html(build_report([write_run("one", model="one")], ReportOptions(resamples=0))), "utf-8")
    browser.errors.clear()
    browser.open(path)
    tip = "(tip => tip.hidden ? '' : tip.textContent)(document.querySelector('.tip'))"
    # The fall from clean to severe: three looks in its legend.
    browser.run(
        "var chart = [...document.querySelectorAll('article.part:not([hidden]) .chart')]"
        ".find((each) => each.querySelectorAll('.entry').length > 3); chart.scrollIntoView({block: 'center'});"
        "new Promise((done) => setTimeout(done, 100))"
    )
    x, y, said = browser.run(
        "(mark => { const box = mark.getBoundingClientRect(); return [box.right + 3, box.top + box.height / 2,"
        " mark.dataset.said]; })(chart.querySelector('.own-open[data-said]'))"
    )
    assert browser.run("chart.querySelectorAll('title').length") == 0 and said.startswith("one")
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    assert browser.run(tip) == said
    assert browser.run("chart.matches('.sifted') && chart.querySelector('.own-open[data-said]').matches('.like')")
    assert not browser.run("chart.querySelector('.own[data-said]').matches('.like')")
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=2, y=2)
    assert browser.run(tip) == "" and not browser.run("chart.matches('.sifted')")
    browser.run("chart.focus({preventScroll: true})")
    told = []
    for _ in range(3):
        pressed_named(browser, "ArrowRight")
        told.append(browser.run(tip))
    assert len(set(told)) == 3 and all(told)
    pressed_named(browser, "ArrowLeft")
    assert browser.run(tip) == told[1]
    # What is saved says the same in any viewer.
    drawn = browser.run("standalone(chart)")
    titles = [each.text for each in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}title")]
    assert said in titles and "data-said" not in drawn
    assert not browser.run("chart.querySelector('.near, .like')")
    pressed_named(browser, "Escape")
    assert browser.run(tip) == "" and browser.errors == []


def pressed_named(browser, key):
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)
    browser.run("new Promise((done) => setTimeout(done, 50))")


def test_numbers_of_which_fewer_is_better_are_sorted_with_the_least_first(browser, site, tmp_path):
    """The script of the site, on a table as its pages have them."""
    page = tmp_path / "table.html"
    rows = "".join(f'<tr><td class="number">{up}</td><td class="number">{down}</td></tr>' for up, down in
                   (("+2.0", "0.5"), ("-1.0", "-0.1 [-0.3, 0.1]"), ("–", "–"), ("3.0", "0.25")))  # fmt: skip
    page.write_text(
        f"""<button id="theme"></button><script src="{(site / "assets" / "site.js").as_uri()}"></script>
        <div class="scroll"><table><thead><tr><th class="number">up</th><th class="number fewer">down</th></tr></thead>
        <tbody>{rows}</tbody></table></div>""",
        "utf-8",
    )
    browser.open(page)
    column = """(place) => { document.querySelectorAll("th button")[place].click();
      return [...document.querySelectorAll("tbody tr")].map((row) => row.cells[place].textContent.split(" ")[0]); }"""
    assert browser.run(f"({column})(0)") == ["3.0", "+2.0", "-1.0", "–"]
    assert browser.run(f"({column})(1)") == ["-0.1", "0.25", "0.5", "–"]
    assert browser.run(f"({column})(1)") == ["0.5", "0.25", "-0.1", "–"]
