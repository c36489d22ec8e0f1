"""Two runs of one folder and one second have a stamp each."""

from types import SimpleNamespace

import pytest

from lmms_medtasks.harness import stamps


class Tracker:
    """As the harness's: writes a file of the stamp it is given."""

    def __init__(self, folder, name="m"):
        self.output_path = str(folder)
        self.general_config_tracker = SimpleNamespace(model_name_sanitized=name)

    def save_results_aggregated(self, results, samples, datetime_str):
        self.date_id = datetime_str
        (stamps.Path(self.output_path) / "m" / f"{datetime_str}_results.json").write_text(str(results["n"]))


def test_the_second_run_of_a_second_has_the_next_free_one(tmp_path, monkeypatch):
    monkeypatch.setenv("MEDTASKS_WRITTEN", str(tmp_path / "written"))
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "20261231_235959_samples_t.jsonl").touch()  # of a run that was killed before its results
    said = []
    for number in range(3):
        tracker, options = Tracker(tmp_path), SimpleNamespace()
        stamps.give_own_stamp(tracker, options)
        results = {"n": number, "date": "20261231_235958"}
        tracker.save_results_aggregated(results=results, samples=None, datetime_str="20261231_235958")
        said.append(tracker.date_id)
        assert results["date"] == tracker.date_id
        assert (
            stamps.find_result_file(tracker)
            == stamps.find_result_file(options)
            != stamps.find_result_file(Tracker(tmp_path))
        )
        assert stamps.find_result_file(options).read_text() == str(number)
    assert said == ["20261231_235958", "20270101_000000", "20270101_000001"]
    assert len((tmp_path / "written").read_text().splitlines()) == 3


@pytest.mark.parametrize("tracker", [None, SimpleNamespace(output_path=None), SimpleNamespace(output_path="a")])
def test_what_writes_nothing_is_left_alone(tracker):
    stamps.give_own_stamp(tracker)
    assert stamps.find_result_file(tracker) is None


def test_a_folder_that_cannot_be_written_is_the_harnesss_to_say(tmp_path):
    (tmp_path / "m").touch()
    tracker = Tracker(tmp_path)
    stamps.give_own_stamp(tracker)
    with pytest.raises(OSError):  # noqa: PT011 (as the stand-in raises it)
        tracker.save_results_aggregated({"n": 1}, None, "20261231_235958")
    assert stamps.find_result_file(tracker) is None
