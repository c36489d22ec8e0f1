"""The names of our models, as ``--model`` has them."""

MOST_FREQUENT = "medtasks_most_frequent"
BASELINES = {
    "medtasks_random": "RandomModel",
    MOST_FREQUENT: "MostFrequentModel",
    "medtasks_observer": "ObserverModel",
    "medtasks_pixel_outlier": "PixelOutlierModel",
}
"""The baselines, and their classes in :mod:`lmms_medtasks.harness.baseline_models`."""

ADAPTED = "medtasks_peft"
SERVER = "medtasks_server"
MODELS = (*BASELINES, ADAPTED, SERVER)
