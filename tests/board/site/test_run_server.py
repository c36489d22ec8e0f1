"""The question page of a run over HTTP on loopback: files made when they are asked for, nothing else answered."""

import http.client
import io
import json
import re
import shutil
import socket
import threading
from contextlib import contextmanager
from urllib.parse import urlsplit

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from lmms_medtasks.board.site.file_names import file_name
from lmms_medtasks.board.site.run_server import RunFiles, RunServer, read_run_to_view
from lmms_medtasks.data import locating
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import degraded_names, degraded_pictures
from lmms_medtasks.harness.hooks import doc_to_visual
from lmms_medtasks.task_configs.medq_deg import measures
from tests.board.site.test_browser import FOUND, SHOWN, WAIT, pressed


@contextmanager
def served(folder, *tasks):
    with RunServer(RunFiles(read_run_to_view(folder, tasks)[0])) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def get(server, path, host=None, method="GET"):
    """Status, headers and content of a path below the random part; of another where it begins with /."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    path = path if path.startswith("/") else urlsplit(server.address).path + path
    connection.request(method, path, headers={"Host": host} if host else {})
    found = connection.getresponse()
    content = found.read()
    connection.close()
    return found.status, found.headers, content


def value(content):
    return json.loads(re.sub(r"^medtasks\.\w+\((\d+,)?|\);\n$", "", content.decode()))


@pytest.fixture(scope="module")
def run(tmp_path_factory, write, rows_of):
    folder = tmp_path_factory.mktemp("viewed")
    write(folder, "m/odd", "ABBABB", "SAID", tasks={name: rows_of[name] for name in ("medq_deg", "medobvious")})
    return folder


@pytest.fixture(scope="module")
def server(run):
    with served(run) as found:
        yield found


def test_the_address_leads_to_the_wrong_answers_and_each_question_has_its_own(server):
    status, headers, _ = get(server, "")
    assert (status, headers["Location"]) == (302, "questions/medq_deg.html?was=lost")
    status, headers, page = get(server, headers["Location"])
    assert status == 200 and headers["Cache-Control"] == "no-store" and b"m/odd" in page
    # Nothing is linked that is not here.
    for link in re.findall(r'(?:href|src)="([^"#:]+)"', page.decode()):
        assert get(server, f"questions/{link}".replace("questions/../", ""))[0] == 200, link
    index = value(get(server, "questions/medq_deg/medq_deg/index.js")[2])
    row = index["ids"].index("q1/blur/L2")
    one = value(get(server, f"questions/medq_deg/medq_deg/{row}.js")[2])
    assert [each["id"] for each in one["questions"]] == ["q1/blur/L2"] and index["size"] == 1
    assert one["questions"][0]["note"].startswith("Its image is not shown: the data was not at hand")


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "[::1]:{port}"])
def test_a_request_with_another_host_is_refused(server, host):
    assert get(server, "", host.format(port=server.port))[0] == 403


def test_this_machine_has_two_names(server):
    assert get(server, "", f"localhost:{server.port}")[0] == 302


@pytest.mark.parametrize(
    "path",
    ["/", "/wrong/questions/medq_deg.html", "/wrong", "questions", "questions/", "assets/", "../", "../../etc/passwd",
     "questions/../questions/medq_deg.html", "%2e%2e/%2e%2e/etc/passwd", "//etc/passwd",
     "questions/medq_deg/medq_deg/q1/blur/L2", "site.json", "%00", "\\..\\x"],
)  # fmt: skip
def test_nothing_else_is_answered_and_no_folder_is_listed(server, path):
    status, _, content = get(server, path)
    assert status == 404 and b"root:" not in content


@pytest.mark.parametrize("asked", ["*", "http://[/"])
def test_what_is_no_path_is_told_so(server, asked):
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(f"GET {asked} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode())
        assert connection.recv(64).split()[1] == b"400"


def test_nothing_is_changed_by_a_request(server):
    assert {get(server, "", method=each)[0] for each in ("POST", "PUT", "DELETE", "HEAD")} == {501}


def test_a_second_one_has_another_port_and_another_random_part(server, run):
    with served(run) as other:
        assert other.port != server.port and other.token != server.token
        assert get(other, f"/{server.token}/")[0] == 404 and get(other, "")[0] == 302
    with pytest.raises(UserError, match=rf"--port {server.port}.*Name another one"):
        RunServer(server.files, server.port)


def test_nothing_is_written_and_pictures_are_made_when_they_are_asked_for(tmp_path, write):
    """The mini data's first question of a CT, as its run's log has it."""
    document = next(iter(pq.read_table(locating.find_split("medq_deg", "clean", "mini").path).slice(0, 1).to_pylist()))
    told = {"degradation": "", "severity": 0, "question_id": document["id"], "data": "mini"}
    record = measures.choice_question_record({**document, **told}, ["B"] * 3).to_json()
    row = {"questions": record, "accuracy_l0": {}, "filtered_resps": ["It is B."] * 3, "input": document["question"]}
    write(tmp_path / "run", "m", "", tasks={"medq_deg": lambda *_: [row]}, metadata={"data": "mini"})
    before = sorted(tmp_path.rglob("*"))
    with served(tmp_path / "run") as server:
        own = server.files._memory.contents
        assert not any(path.startswith("images/") for path in own)
        (one,) = value(get(server, "questions/medq_deg/medq_deg/0.js")[2])["questions"]
        status, headers, content = get(server, one["pictures"][0][0])
        assert (status, headers["Content-Type"], content[8:12]) == (200, "image/webp", b"WEBP")
        assert one["answers"][0][1][0][0] == "B – It is B."
        assert b"limit to whom" not in get(server, "questions/medq_deg.html")[2]
    assert sorted(tmp_path.rglob("*")) == before


def degraded_run(runs, folder, task, rows, data="", **told):
    """A run of ``task`` on degraded images alone; gives the task's name. ``data``: that it reads."""
    name = f"{task}@gaussian_noise.2"
    degradation = {"of": task, "name": "gaussian_noise", "level": "2", "seed": 0, **told}
    path = runs.write(folder, {name: rows}, metadata={"data": "mini", "degradation": degradation})
    content = json.loads(path.read_text("utf-8"))
    content["configs"][name]["dataset_kwargs"] = {"data_files": {"test": data}}
    path.write_text(json.dumps(content), "utf-8")
    return name


def test_a_run_of_degraded_tasks_alone_shows_the_pictures_as_the_model_saw_them(tmp_path, runs):
    document = next(iter(pq.read_table(locating.find_split("medq_deg", "clean", "mini").path).slice(0, 1).to_pylist()))
    doc = {**document, "degradation": "", "severity": 0, "question_id": document["id"], "data": "mini"}
    (clean,) = doc_to_visual(doc)
    known_as, order = (
        degraded_pictures.pixel_digest(clean),
        degraded_names.parse_degradation_request("gaussian_noise.2", "here"),
    )
    seen, done = degraded_pictures.degrade_as_requested(clean, known_as, order, None)
    row = {
        "questions": measures.choice_question_record(doc, ["B"] * 3).to_json(),
        "accuracy_l0": {},
        "filtered_resps": ["B"] * 3,
        "input": doc["question"],
        "degraded_pictures": [{"picture": known_as, **done}],
    }
    degraded_run(runs, tmp_path / "run", "medq_deg_l0", [row], "medtasks://medq_deg/clean")
    entries, problems = read_run_to_view(tmp_path / "run")
    assert [each.task for each in entries] == ["medq_deg_l0@gaussian_noise.2"] and not problems
    files = RunFiles(entries)
    place = f"questions/medq_deg/{file_name(entries[0].task)}/0.js"
    (one,) = value(files.content(place))["questions"]
    assert [each[1] for each in one["pictures"]] == ["clean", "gaussian_noise.2"] and "note" not in one
    with Image.open(io.BytesIO(files.content(one["pictures"][1][0]))) as picture:
        assert np.array_equal(np.asarray(picture), np.asarray(seen))
    # Of another picture than the data has none can be made, and code that a log names is not run.
    (tmp_path / "own.py").write_text("open(__file__ + '.ran', 'w')\n\n\ndef blur(image, draws):\n    return image\n")
    for number, wrong in enumerate(({"picture": "0" * 16}, {"name": f"{tmp_path / 'own.py'}:blur"})):
        other = {**row, "degraded_pictures": [{"picture": known_as, **done, **wrong}]}
        degraded_run(runs, tmp_path / f"other{number}", "medq_deg_l0", [other], "medtasks://medq_deg/clean")
        files = RunFiles(read_run_to_view(tmp_path / f"other{number}")[0])
        (one,) = value(files.content(place))["questions"]
        assert [each[1] for each in one["pictures"]] == ["clean"] and "can't be made" in one["note"]
    assert not (tmp_path / "own.py.ran").exists()


def test_a_degraded_task_of_the_harness_is_shown_without_a_picture_and_the_page_says_so(tmp_path, runs):
    rows = [
        {"doc_id": number, "target": "yes", "filtered_resps": [["no idea"]], "input": "Is it?", "anls": {},
         "degraded_pictures": [{"picture": f"p{number}", "name": "gaussian_noise"}],
         "paired_scores": {"anls,none": 50.0 * number}}
        for number in range(3)
    ]  # fmt: skip
    name = degraded_run(runs, tmp_path, "docvqa_val", rows, best_scores={"anls,none": 100.0})
    (entry,), _ = read_run_to_view(tmp_path, [name])
    files = RunFiles([entry])
    found = [value(files.content(f"questions/harness/{file_name(entry.task)}/{row}.js")) for row in range(3)]
    assert [each["scores"] for each in found] == [
        [["0.0 points", "0"]],
        [["50.0 points", "5"]],
        [["100.0 points", "9"]],
    ]
    (one,) = found[0]["questions"]
    assert (one["text"], one["right"]) == ("Is it?", "yes") and "image is not shown" in one["note"]
    assert one["answers"] == [[0, [["no idea", "✗"]]]]
    rows[1]["paired_scores"] = {"anls,none": "much"}
    degraded_run(runs, tmp_path, "docvqa_val", rows)
    with pytest.raises(UserError, match="docvqa_val@gaussian_noise.2"):
        read_run_to_view(tmp_path)


def test_data_that_may_not_be_shown_to_others_is_shown_here_and_the_page_says_so(tmp_path, write, rows_of):
    metadata = {"agreement": "an agreement", "data": "full"}
    tasks = {"sure_mimic_age": rows_of["sure_slake_modality"]}
    write(tmp_path, "m", "AB", "SAID", tasks=tasks, metadata=metadata)
    with served(tmp_path) as server:
        assert b"on this machine only" in get(server, "questions/sure_vqa.html")[2]
        (one,) = value(get(server, "questions/sure_vqa/sure_mimic_age/0.js")[2])["questions"]
        assert one["text"] == "SAID"


def test_a_log_whose_texts_were_withheld_shows_its_scores(tmp_path, write, rows_of):
    rows = rows_of["sure_slake_modality"]("AB", "SAID")
    for row in rows:
        row["questions"]["judgement"]["items"] = "withheld"
    write(tmp_path, "m", "", tasks={"sure_mimic_age": lambda *_: rows}, metadata={"agreement": "an agreement"})
    with served(tmp_path) as server:
        (one,) = value(get(server, "questions/sure_vqa/sure_mimic_age/0.js")[2])["questions"]
        assert "text" not in one and one["answers"] == [[0, []]] and one["note"]


def test_what_a_run_lacks_is_said(tmp_path, write, rows_of):
    task = {"medobvious": rows_of["medobvious"]}
    with pytest.raises(UserError, match="is not there"):
        read_run_to_view(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="No sample log in .*empty"):
        read_run_to_view(tmp_path / "empty")
    path = write(tmp_path / "run", "m", "AB", tasks=task)
    with pytest.raises(UserError, match="No sample log of another.*with --log_samples"):
        read_run_to_view(tmp_path / "run", ["another"])
    log = next(path.parent.glob("*.jsonl"))
    log.rename(tmp_path / "elsewhere.jsonl")
    with pytest.raises(UserError, match="No sample log of medobvious"):
        read_run_to_view(tmp_path / "run")
    log.symlink_to(tmp_path / "elsewhere.jsonl")
    with pytest.raises(UserError, match="a link that leads out of the folder(?!.*--log_samples)"):
        read_run_to_view(tmp_path / "run")


def test_of_several_logs_of_one_model_the_latest_is_shown(tmp_path, write, rows_of):
    for number, letters in enumerate(("AA", "BB")):
        task = {"medobvious": rows_of["medobvious"]}
        path = write(tmp_path / str(number), "m", letters, tasks=task)
        content = json.loads(path.read_text("utf-8"))
        path.write_text(json.dumps({**content, "date": 1_700_000_000 + number}), "utf-8")
    (entry,), _ = read_run_to_view(tmp_path)
    assert entry.source.results.parent.name == "1"
    shutil.copytree(tmp_path / "1", tmp_path / "copy")
    entries, problems = read_run_to_view(tmp_path)
    assert len(entries) == 1 and not problems


def test_a_browser_shows_wrong_answers_and_finds_questions_by_words(server, browser):
    browser.errors.clear()
    browser.visit(server.address)
    browser.run(WAIT)
    shown = browser.run(SHOWN)
    assert shown and "q0" not in shown and browser.run("location.search") == "?was=lost"
    # Of one model alone nothing differs.
    assert browser.run("['model', 'verdict'].map((id) => document.getElementById(id).parentElement.hidden)") == [
        True,
        True,
    ]
    assert "not ranked" not in browser.run("document.querySelector('#list').textContent")
    pressed(browser, "j")
    assert browser.run("document.activeElement.closest('.question').querySelector('h2').textContent") == shown[0]
    search = "var field = document.querySelector('#text'); field.value = '{}'; field.dispatchEvent(new Event('input'));"
    wait = "new Promise((done) => setTimeout(done, 300))"
    # The file that a search waits for comes after the search was taken back.
    browser.run(search.format("nothing") + search.format("") + wait)
    assert browser.run(SHOWN) == shown
    browser.run(search.format("blur/l1 said") + wait)
    assert browser.run(SHOWN) == [f"q{number}/blur/L1" for number in (1, 2, 4, 5)]
    assert browser.run(FOUND).endswith("of 18 questions") and browser.errors == []
    # The words of a reply.
    replied = browser.run("document.querySelector('.question .reply').textContent")
    browser.run(search.format(f"q1/blur/l2 {replied[4:-1].lower()}") + wait)
    assert browser.run(SHOWN) == ["q1/blur/L2"]


def test_a_page_says_that_a_log_withholds_its_replies(tmp_path, write, rows_of, browser):
    rows = rows_of["sure_slake_modality"]("AB", "SAID")
    for row in rows:
        row["questions"]["judgement"]["items"] = "withheld"
    write(tmp_path, "m", "", tasks={"sure_mimic_age": lambda *_: rows}, metadata={"agreement": "an agreement"})
    with served(tmp_path) as server:
        browser.visit(server.address.rstrip("/") + "/questions/sure_vqa.html")
        browser.run(WAIT)
        assert "The log withholds the replies" in browser.run("document.querySelector('.question').textContent")
