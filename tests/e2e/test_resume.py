"""The same command after a kill -9 goes on where it stopped: nothing is lost but a slice, and no number moves.

With the runner for servers nothing is lost but what was in flight.
"""

import hashlib
import json
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lmms_medtasks import seeding
from lmms_medtasks.samples import result_files as results
from tests.stub_server import Answer, Server, Stub

TASKS = ("medq_deg_l0", "medq_deg_l1", "medq_deg_l2")
TRIALS = 3


@dataclass
class Command:
    """A command that is started again and again; ``home`` is its MEDTASKS_HOME."""

    process: object
    folder: Path
    arguments: dict = field(default_factory=dict)
    limit: int = 12
    printed: str = ""
    more: tuple = ()
    model: str = "counting_runner"

    @property
    def home(self):
        return self.folder / "home"

    def start(self, kill=None, ranks=1, tasks=TASKS, **variables):
        """Run it; gives the exit statuses, and how often it asked each (task, question), copies left out."""
        log = self.folder / "log"
        log.mkdir(exist_ok=True, parents=True)
        before = self._asked()
        printed, out = self.folder / "printed", self.folder / f"out{len(list(self.folder.glob('out*')))}"
        out.mkdir()
        printed.write_text("")
        own = {"log": log} if self.model == "counting_runner" else {}
        model = ",".join(f"{name}={value}" for name, value in {**own, **self.arguments}.items())
        given = {
            "arguments": ["--model", self.model, "--model_args", model, "--tasks", ",".join(tasks), "--limit",
                          str(self.limit), "--output_path", str(out), "--log_samples", *self.more],
            "environment": {"MEDTASKS_HOME": str(self.home), "MEDTASKS_DATA": "mini", **variables},
            "ranks": ranks, "kill": kill, "log": str(log), "printed": str(printed),
        }  # fmt: skip
        self.process.stdin.write(json.dumps(given) + "\n")
        self.process.stdin.flush()
        statuses = json.loads(self.process.stdout.readline())
        self.printed = printed.read_text()
        return statuses, self._asked() - before

    def _asked(self):
        found = [json.loads(line) for line in logged_lines(self.folder / "log")]
        return Counter((each["task"], each["question"]) for each in found if each.get("copied") is False)

    def rows(self, tasks=TASKS):
        """What the last run logged of each task, by question, and its numbers."""
        run = self._run
        logged = {
            task: sorted(map(json.loads, run.samples_file(task).read_text("utf-8").splitlines()), key=by_document)
            for task in tasks
        }
        return logged, {task: dict(run.tasks[task]) for task in tasks}

    @property
    def _run(self):
        newest = max(self.folder.glob("out*"), key=lambda each: int(each.name[3:]))
        [file] = results.list_result_files(newest)
        return results.read_result_file(file)

    def metadata(self, task):
        return self._run.content["configs"][task]["metadata"]

    @property
    def journals(self):
        return list((self.home / "journal").glob("*/*.jsonl"))


def logged_lines(folder):
    """What the runner wrote down; the last line of a process may have been cut."""
    return [line for file in sorted(folder.glob("*.jsonl")) for line in file.read_text("utf-8").split("\n")[:-1]]


def by_document(row):
    return row["doc_id"]


@pytest.fixture
def command(killed_runs, tmp_path):
    def make(name="run", **settings):
        return Command(killed_runs, tmp_path / name, **settings)

    return make


TOTAL = len(TASKS) * 12 * TRIALS
ALL = Counter({(task, question): TRIALS for task in TASKS for question in range(12)})


def test_killed_at_random_moments_it_asks_at_most_a_slice_twice_and_gives_the_same(command):
    whole, cut = command("whole"), command("cut", arguments={"pause": 0.005})
    statuses, total = whole.start()
    assert statuses == [0] and total == ALL and not whole.journals
    chance, sums = seeding.seeded_generator("kill -9"), Counter()
    for _ in range(4):
        statuses, once = cut.start(kill=int(chance.integers(1, 40)))
        sums += once
        if statuses != [-9]:
            break
        assert all(file.stat().st_mode & 0o777 == 0o600 for file in cut.journals)
    else:
        statuses, once = cut.start()
        sums += once
    kills = len(list(cut.folder.glob("out*"))) - 1
    largest = max(json.loads(line).get("slice", 0) for line in logged_lines(cut.folder / "log"))
    print(f"kills {kills}, asked {sum(sums.values())} of {TOTAL}, largest slice {largest}")
    assert statuses == [0] and kills > 1
    assert "replies are known from a run that was cut off" in cut.printed
    assert set(sums) == set(ALL) and TOTAL <= sum(sums.values()) <= TOTAL + kills * largest
    assert cut.rows() == whole.rows()
    assert not list((cut.home / "journal").iterdir())


def test_two_processes_are_killed_and_go_on_as_two_or_as_one(command):
    """Processes that meet in every request end, whatever each of them has to ask; a lone one reads both files."""
    whole = command("whole", limit=9)
    assert whole.start(ranks=2)[0] == [0, 0]
    for later in (2, 1):
        cut = command(f"then {later}", limit=9, arguments={"pause": 0.01, "sharded": True})
        statuses, sums = cut.start(kill=50, ranks=2)
        assert statuses == [-9, -9] and len(cut.journals) == 2
        statuses, once = cut.start(ranks=later)
        assert statuses == [0] * later and "replies are known" in cut.printed
        sums += once
        print(f"2 processes, then {later}: asked {sum(sums.values())} of {3 * 9 * TRIALS}")
        assert sum(sums.values()) <= 3 * 9 * TRIALS + 2 * 18 and min(sums.values()) == TRIALS and len(sums) == 27
        assert cut.rows() == whole.rows()
        assert not list((cut.home / "journal").iterdir())


def test_what_failed_is_asked_again_also_after_the_run_ended(command, tmp_path):
    outage = tmp_path / "outage"
    outage.touch()
    run = command(limit=6, arguments={"outage": outage})
    assert run.start(tasks=TASKS[:1]) == ([1], Counter({(TASKS[0], each): TRIALS for each in range(6)}))
    assert f"9 of 18 requests of {TASKS[0]} failed" in run.printed and run.journals
    outage.unlink()
    assert run.start(tasks=TASKS[:1]) == ([0], Counter({(TASKS[0], each): TRIALS for each in (1, 3, 5)}))
    assert not run.journals
    whole = command("whole", limit=6, arguments={"outage": outage})
    whole.start(tasks=TASKS[:1])
    assert run.rows(TASKS[:1]) == whole.rows(TASKS[:1])


@pytest.mark.parametrize("change", ["nothing", "checkpoint", "settings", "fresh", "off"])
def test_a_reply_is_given_back_only_where_nothing_changed(command, tmp_path, change):
    checkpoint = tmp_path / "checkpoint"
    checkpoint.mkdir()
    (checkpoint / "model.safetensors").write_bytes(b"weights")
    run = command(limit=12, arguments={"pretrained": checkpoint, "pause": 0.01})
    tasks = TASKS[1:2]
    statuses, _ = run.start(kill=30, tasks=tasks)
    assert statuses == [-9] and run.journals
    variables = {}
    if change == "checkpoint":
        (checkpoint / "model.safetensors").write_bytes(b"WEIGHTS")  # of the same size
    elif change == "settings":
        run.more = ("--gen_kwargs", "max_new_tokens=7")
    elif change in ("fresh", "off"):
        variables = {"MEDTASKS_JOURNAL": change}
    statuses, asked = run.start(tasks=tasks, **variables)
    assert statuses == [0]
    assert sum(asked.values()) == (18 if change == "nothing" else 36)
    assert ("of another model" in run.printed) == (change in ("checkpoint", "settings"))
    assert bool(run.journals) == (change == "off")


GREEDY = ("--gen_kwargs", "temperature=0,do_sample=False")


@pytest.mark.parametrize("settings", [(), GREEDY], ids=["sampled", "greedy"])
def test_with_a_cache_of_the_harness_a_killed_run_goes_on_and_a_finished_one_is_not_asked(command, settings):
    """The cache takes greedy replies when a run is finished, the journal all of them before."""
    more = (*settings, "--use_cache")
    whole = command("whole", limit=6, more=settings)
    assert whole.start()[0] == [0]
    cut = command("cut", limit=6, arguments={"pause": 0.01})
    cut.more = (*more, str(cut.folder / "cache"))
    statuses, sums = cut.start(kill=30)
    assert statuses == [-9]
    statuses, once = cut.start()
    sums += once
    assert statuses == [0] and "replies are known" in cut.printed
    assert set(sums.values()) <= {TRIALS, 2 * TRIALS} and sum(sums.values()) < 2 * 18 * TRIALS
    assert cut.rows() == whole.rows() and not cut.journals
    statuses, again = cut.start()
    assert statuses == [0] and sum(again.values()) == (0 if settings else 18 * TRIALS)


def test_a_failed_request_is_not_taken_from_a_cache_of_the_harness(command, tmp_path):
    outage = tmp_path / "outage"
    outage.touch()
    run = command(limit=6, arguments={"outage": outage})
    run.more = (*GREEDY, "--use_cache", str(run.folder / "cache"))
    assert run.start(tasks=TASKS[:1])[0] == [1]
    assert f"9 of 18 requests of {TASKS[0]} failed" in run.printed
    outage.unlink()
    statuses, asked = run.start(tasks=TASKS[:1])
    assert statuses == [0] and asked == Counter({(TASKS[0], each): TRIALS for each in (1, 3, 5)})
    assert run.rows(TASKS[:1])[1][TASKS[0]]["failed_requests,trials"] == 0


# Behind a server. A line is written for each request that it gets, by which a run is killed.

SERVED = ("medq_deg_l1", "medq_deg_l2", "med_cmr_mcq")
IN_FLIGHT, THREADS = 2, 1


def digest(body):
    """What names a question: its text and pictures."""
    return hashlib.sha256(json.dumps(body["messages"]).encode()).hexdigest()


class Served:
    """A stub of a server, and a command that asks it. ``rule``: what a request gets; None for its ordinary letters."""

    def __init__(self, command, name, **more):
        self.stub = Stub(rule=self._answer, pause=0.02)
        self.server = Server(self.stub)
        self.rule = lambda body: None
        settings = {"model": "tiny", "base_url": self.stub.url, "retries": 0, "concurrency": IN_FLIGHT, **more}
        self.command = command(name, model="medtasks_server", arguments={**settings, "threads": THREADS})
        self.log = self.command.folder / "log" / "server.jsonl"
        self.log.parent.mkdir(parents=True)

    def _answer(self, body):
        if isinstance(body["messages"][0]["content"], str):
            return None  # the probe
        with self.log.open("a") as log:
            log.write(json.dumps({"task": "", "question": digest(body), "copied": False}) + "\n")
        return self.rule(body)

    def start(self, **chosen):
        """As the command's; how often each question was asked."""
        return self.command.start(tasks=SERVED, **chosen)

    def rows(self):
        return self.command.rows(SERVED)

    def stop_after(self, requests):
        """Let the server go away when it got so many more requests; it can be started again."""
        end = len(self.stub.requests) + requests

        def watch():
            while len(self.stub.requests) < end:
                time.sleep(0.005)
            self.server.end()

        stopping = threading.Thread(target=watch)
        stopping.start()
        return stopping

    def start_again(self):
        self.server = Server(self.stub, int(self.stub.url.split(":")[2].split("/")[0]))


@pytest.fixture
def served(command):
    made = []

    def make(name="run", **more):
        made.append(Served(command, name, **more))
        return made[-1]

    yield make
    for each in made:
        each.server.end()


@pytest.mark.parametrize("many", [True, False])
def test_a_killed_run_asks_a_server_only_what_it_has_not_answered(served, many):
    """With a request a question as with one a trial, at most those in flight are asked twice."""
    whole, cut = served("whole", many=many), served("cut", many=many)
    statuses, total = whole.start()
    requests = 36 if many else 84  # the questions of the third task have one trial
    assert statuses == [0] and len(total) == 36 and sum(total.values()) == requests and not whole.command.journals
    sums = Counter()
    for kill in (10, 12):
        statuses, once = cut.start(kill=kill)
        assert statuses == [-9]
        sums += once
    statuses, once = cut.start()
    sums += once
    print(f"asked {sum(sums.values())} of {len(total)} questions, {len(once)} of them at last")
    assert statuses == [0] and "replies are known" in cut.command.printed
    assert set(sums) == set(total) and sum(sums.values()) <= requests + 2 * IN_FLIGHT
    assert cut.rows() == whole.rows()
    assert not cut.command.journals
    # A task has 12 questions, and one follows the other.
    records = [cut.command.metadata(task)["server"]["trials"] for task in SERVED]
    assert sum(each.startswith("not asked") for each in records) == (36 - len(once)) // 12


def test_a_server_that_stops_while_a_run_is_resumed_ends_it_and_the_next_start_goes_on(served):
    whole, cut = served("whole"), served("cut")
    whole.start()
    statuses, sums = cut.start(kill=6)
    assert statuses == [-9]
    stopping = cut.stop_after(5)
    statuses, once = cut.start()
    stopping.join()
    assert statuses == [2] and "20 questions in a row got no reply" in cut.command.printed
    assert "Traceback" not in cut.command.printed and cut.command.journals
    sums += once
    cut.start_again()
    statuses, once = cut.start()
    sums += once
    assert statuses == [0] and sum(sums.values()) <= 36 + 2 * IN_FLIGHT and set(sums.values()) <= {1, 2, 3}
    assert cut.rows() == whole.rows() and not cut.command.journals


def test_a_finished_run_asks_a_server_again_only_what_failed(served):
    whole, run = served("whole"), served("run")
    _, total = whole.start()
    chosen = {question for _, question in sorted(total)[:5]}
    run.rule = lambda body: Answer(500, "out of memory") if digest(body) in chosen else None
    assert run.start()[0] == [1]
    assert " failed (" in run.command.printed
    assert run.command.journals
    run.rule = lambda body: None
    statuses, once = run.start()
    assert statuses == [0] and {question for _, question in once} == chosen and set(once.values()) == {1}
    assert run.rows() == whole.rows() and not run.command.journals
