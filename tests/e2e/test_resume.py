"""The same command after a kill -9 goes on where it stopped: nothing is lost but a slice, and no number moves."""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lmms_medtasks import seeding
from lmms_medtasks.samples import result_files as results

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
        model = ",".join(f"{name}={value}" for name, value in {"log": log, **self.arguments}.items())
        given = {
            "arguments": ["--model", "counting_runner", "--model_args", model, "--tasks", ",".join(tasks), "--limit",
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
        newest = max(self.folder.glob("out*"), key=lambda each: int(each.name[3:]))
        [file] = results.files(newest)
        run = results.read(file)
        logged = {
            task: sorted(map(json.loads, run.samples_file(task).read_text("utf-8").splitlines()), key=by_document)
            for task in tasks
        }
        return logged, {task: dict(run.tasks[task]) for task in tasks}

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
    chance, sums = seeding.generator("kill -9"), Counter()
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
    assert run.start(tasks=TASKS[:1]) == ([0], Counter({(TASKS[0], each): TRIALS for each in range(6)}))
    assert "9 requests failed" in run.printed and run.journals
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
