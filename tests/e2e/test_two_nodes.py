"""Two machines, as far as one has them: two launchers that meet on loopback, each with folders of its own."""

import re
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

TASK, LIMIT = "medq_deg_l2", 7  # odd: the nodes get different shares
ARGUMENTS = ("--model", "medtasks_random", "--tasks", TASK, "--limit", str(LIMIT))


def launcher(node, port):
    options = f"--nnodes=2 --nproc_per_node=1 --node_rank={node} --master_addr=127.0.0.1 --master_port={port}"
    return ("-m", "torch.distributed.run", *options.split(), "-m", "lmms_eval")


@pytest.mark.parametrize("shared", [False, True])
def test_two_nodes_give_what_one_process_gives(harness, tmp_path, shared):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def node(number):
        own = tmp_path / ("both" if shared else f"node{number}")
        folders = {"MEDTASKS_HOME": str(own / "home"), "HF_HOME": str(own / "hf")}
        return harness(*ARGUMENTS, launcher=launcher(number, port), **folders)

    one = harness(*ARGUMENTS)
    with ThreadPoolExecutor(2) as pool:
        nodes = []
        for number in (0, 1):
            nodes.append(pool.submit(node, number))
            time.sleep(0.5)  # each takes a folder for its results, numbered
        first, second = (each.result() for each in nodes)
    for number, each in enumerate((first, second)):
        assert set(re.findall(rf"Building contexts for {TASK} on rank (\d+)", each.printed)) == {str(number)}
    written, rows = first.run, one.samples(TASK)
    assert [row["doc_id"] for row in rows] == [row["doc_id"] for row in first.samples(TASK)] == list(range(LIMIT))
    assert [row["questions"] for row in rows] == [row["questions"] for row in first.samples(TASK)]
    assert written.tasks[TASK]["accuracy,trials"] == one.run.tasks[TASK]["accuracy,trials"]
    assert not list(second.folder.rglob("*_results.json"))  # node 0 writes the results, and no other
