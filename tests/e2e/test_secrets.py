"""Secrets that are planted in a run stand in nothing that it wrote or printed, nor in what is made of it."""

import base64
import gzip
import subprocess
from urllib.parse import quote

import pytest

from tests.stub_server import Answer

KEY = "sk-test-k3y/0t9v8c7e6x5b4+q2w1r"
PASSWORD = "pa55w0rd+more"
IN_PATH = "d41d8cd98f00b204"
TOKEN = "hf_a1b2c3d4e5f6a1b2c3d4e5f6a1b2"
JUDGES_KEY = "judge-9p8o7i6u5y-zyx"
PLANTED = (KEY, PASSWORD, IN_PATH, TOKEN, JUDGES_KEY)
FORMS = {form for each in PLANTED for form in (each, quote(each, safe=""), base64.b64encode(each.encode()).decode())}
EIGHTS = {form[at : at + 8].lower() for form in FORMS for at in range(len(form) - 7)}
PARTS = {each for each in EIGHTS if any(map(str.isdigit, each))}


def repeated(text):
    said = f"Bearer {KEY}, in part {KEY[:20]}, {quote(KEY, safe='')}, of me:{PASSWORD} at /{IN_PATH}/v1, {TOKEN}"
    return f"{text}: {said}"


def leaks(folder, printed):
    """Where a part of a secret stands: in files (packed ones unpacked), their names, and what was printed."""
    texts = {"printed": printed.lower()}
    for path in filter(lambda each: each.is_file(), folder.rglob("*")):
        content = path.read_bytes()
        content = gzip.decompress(content) if path.suffix == ".gz" else content
        texts[str(path)] = f"{path}\n{content.decode('utf-8', 'replace')}".lower()
    return {(where, part) for where, text in texts.items() for part in PARTS if part in text}


def with_secrets(stub):
    return stub.url.replace("http://", f"http://me:{quote(PASSWORD, safe='')}@").replace("/v1", f"/{IN_PATH}/v1")


def test_nothing_keeps_a_secret(harness, commands, stub, judge_server, tmp_path):
    count = iter(range(10**6))

    def answer(body):
        if isinstance(body["messages"][0]["content"], str):
            return None
        number = next(count)
        return Answer(400, repeated("refused")) if number % 3 == 0 else Answer(text=repeated("B. an effusion"))

    stub.rule = answer
    judge_server.answers_as = lambda request: f"judge {JUDGES_KEY}"
    variables = {
        "OPENAI_API_KEY": JUDGES_KEY, "HF_TOKEN": TOKEN, "MEDTASKS_JUDGE": "openai:stub",
        "OPENAI_API_URL": judge_server.url.replace("http://", f"http://me:{quote(PASSWORD, safe='')}@"),
    }  # fmt: skip
    printed = ""
    for runner in ("medtasks_server", "openai"):
        retries = "retries=0" if runner == "medtasks_server" else "max_retries=1,retry_backoff_s=0"
        model = f"model=tiny,base_url={with_secrets(stub)},api_key={KEY},{retries}"
        done = harness(
            "--model", runner, "--model_args", model, "--tasks", "med_cmr_mcq,med_cmr_open", "--limit", "4",
            "--verbosity", "DEBUG", status=1, **variables,
        )  # fmt: skip
        logs = "".join(path.read_text() for path in done.folder.rglob("*_samples_*.jsonl"))
        assert "B. an effusion: Bearer ***, in part ***" in logs and "refused: Bearer ***" in logs, done.printed[-3000:]
        printed += done.printed
    assert "hf_hub_log_args" in done.run.path.read_text() and "'token': '***'" in printed
    folder = str(done.folder)
    for command in (
        ["pack", folder, "-o", str(tmp_path / "pack.json.gz"), "--signed-off-by", "A B <a@b.org>"],
        ["report", folder, "--output", str(tmp_path / "report")],
        ["leaderboard", "build", folder, "--output", str(tmp_path / "board")],
    ):
        ended = subprocess.run([commands / "lmms-medtasks", *command], capture_output=True, text=True, check=False)
        printed += ended.stdout + ended.stderr
    assert (tmp_path / "pack.json.gz").is_file() and any((tmp_path / "board").rglob("*.html")), printed[-3000:]
    assert any((tmp_path / "home" / "journal").rglob("*.jsonl")) and any((tmp_path / "home").rglob("*.sqlite"))
    assert leaks(tmp_path, printed) == set()


@pytest.mark.parametrize(
    "more",
    ["api_key={key}", "api_key={key},nonsense=1", "base_url=http://u:{key}@127.0.0.1:9/v1,retries=0,api_key={key}"],
)
def test_no_error_tells_a_secret(harness, stub, tmp_path, more):
    """A wrong key that the server repeats, a traceback for an unknown argument, a server that is not there."""
    stub.key = "another"
    given = f"model=tiny,base_url={with_secrets(stub)},retries=0,{more.format(key=quote(KEY, safe=''))}"
    for runner, launcher in (("medtasks_server", "run"), ("openai", ("-m", "lmms_eval"))):
        given = given if launcher == "run" else given.replace("retries=0,", "")
        done = harness(
            "--model", runner, "--model_args", given, "--tasks", "med_cmr_mcq", launcher=launcher, status=None
        )
        assert leaks(tmp_path, done.printed) == set(), done.printed
