"""The stub of a judge does what it is told, as a module and as a script."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx

SCRIPT = Path(__file__).parents[1] / "stub_judge.py"
FORM = 'Reference:\n<<<REFERENCE {0}>>>\nx\n<<<END REFERENCE {0}>>>\n{{"score": <1, 2 or 3>, "kind": <"A" or "B">}}'


def ask(url, text, post=httpx.post):
    body = {"model": "m", "messages": [{"role": "user", "content": text}]}
    return post(f"{url}/chat/completions", json=body, timeout=10)


def test_it_reads_the_form(stub_judge):
    text = FORM.format("0" * 24)
    assert stub_judge.labels_of(text) == {"score": [1, 2, 3], "kind": ["A", "B"]}
    assert stub_judge.fields_of(text) == {"reference": "x"}
    found = stub_judge.hashed(text, stub_judge.labels_of(text))
    assert found["score"] in (1, 2, 3) and found["kind"] in ("A", "B")
    assert found == stub_judge.hashed(text, stub_judge.labels_of(text))


def test_it_counts(judge_server):
    for _ in range(3):
        assert ask(judge_server.url, FORM).status_code == 200
    assert len(judge_server.requests) == 3
    assert list(judge_server.answered.values()) == [3]
    assert judge_server.most == 1 and judge_server.in_flight == 0


def test_it_fails_as_often_as_asked(judge_server):
    judge_server.fail, judge_server.kinds = 0.3, ("429", "500")
    with httpx.Client() as client:  # httpx.post reads the certificates for each request
        codes = [ask(judge_server.url, f"{number} {FORM}", client.post).status_code for number in range(200)]
    assert 35 <= len(codes) - codes.count(200) <= 85  # 60 expected, 3.8 standard deviations either way
    assert set(codes) == {200, 429, 500}
    assert sum(judge_server.failed.values()) == 200 - codes.count(200)


def test_as_a_script():
    command = [sys.executable, str(SCRIPT), "--fail", "1", "--kinds", "500"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    url = process.stdout.readline().strip()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/v1", url)
    assert ask(url, FORM).status_code == 500
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=10)[0].startswith(
        "1 requests, 0 verdicts on 0 prompts (0 more than once), 1 fail"
    )
