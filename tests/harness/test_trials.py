"""Trials of a question are draws of their own, whatever the order of questions and the number of processes."""

import threading

import torch

from lmms_medtasks.harness.trials import RenderedParameters, TrialSeeder


def test_trials_differ_and_questions_differ():
    seeder = TrialSeeder()
    seeds = [seeder.next_seed(question) for question in ("q1", "q1", "q1", "q2", "q2", "q2")]
    assert len(set(seeds)) == 6


def test_independent_of_the_order_of_questions():
    one, other = TrialSeeder(), TrialSeeder()
    first = {question: [one.next_seed(question) for _ in range(3)] for question in ("q1", "q2")}
    second = {"q2": [], "q1": []}
    for _ in range(3):
        for question in second:
            second[question].append(other.next_seed(question))
    assert first == second


def test_reset_starts_again():
    seeder = TrialSeeder()
    first = [seeder.next_seed("q1"), seeder.next_seed("q1")]
    other = seeder.next_seed("q2")
    seeder.reset(["q1"])
    assert [seeder.next_seed("q1"), seeder.next_seed("q1")] == first
    assert seeder.next_seed("q2") != other


def test_task_seed_moves_every_draw():
    assert TrialSeeder().next_seed("q1", 0) != TrialSeeder().next_seed("q1", 1)


def test_seeds_torch():
    seeder = TrialSeeder()
    seeder.seed_torch("q1")
    first = torch.rand(3)
    torch.rand(50)
    seeder.reset(["q1"])
    seeder.seed_torch("q1")
    assert torch.equal(torch.rand(3), first)


def test_threads_never_get_the_same_trial():
    seeder, seeds = TrialSeeder(), []
    workers = [threading.Thread(target=lambda: seeds.append(seeder.next_seed("q"))) for _ in range(32)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(set(seeds)) == 32


def test_parameters_of_a_question_in_the_order_of_its_pictures():
    rendered = RenderedParameters()
    rendered.put("q", 1, {"sigma": 2})
    rendered.put("q", 0, {"sigma": 1})
    rendered.put("q", 0, {"sigma": 1})
    assert rendered.get("q") == [{"sigma": 1}, {"sigma": 2}]
    assert rendered.get("other") == []
    rendered.reset(["q", "other"])
    assert rendered.get("q") == []


def test_tasks_of_a_run_that_degrade_a_question_differently_keep_their_parameters_apart():
    rendered = RenderedParameters()
    rendered.put("q", 0, {"sigma": 1}, "noise 1")
    rendered.put("q", 0, {"factor": 2}, "blur 2")
    assert rendered.get("q", "noise 1") == [{"sigma": 1}] and rendered.get("q", "blur 2") == [{"factor": 2}]
    assert rendered.get("q") == [{"factor": 2}] and rendered.get("q", "exposure 1") == []
    rendered.put("q", 1, {"sigma": 3}, "noise 1")
    assert rendered.numbered("q") == {0: {"sigma": 1}, 1: {"sigma": 3}}
