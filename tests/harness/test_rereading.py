from lmms_medtasks.harness.rereading import folder_beside


def test_without_a_folder_runs_are_written_beside_the_first_and_over_nothing(tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    (run / "x_results.json").touch()
    assert folder_beside([run]) == folder_beside([run / "x_results.json"]) == tmp_path / "run-reread"
    (tmp_path / "run-reread").mkdir()
    assert folder_beside([run]) == tmp_path / "run-reread1"
