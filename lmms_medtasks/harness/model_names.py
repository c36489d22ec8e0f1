"""The names of our models, as ``--model`` has them."""

MOST_FREQUENT = "medtasks_most_frequent"
BASELINES = {
    "medtasks_random": "baseline_models.RandomModel",
    MOST_FREQUENT: "learned_model.MostFrequentModel",
    "medtasks_observer": "picture_models.ObserverModel",
    "medtasks_pixel_outlier": "picture_models.PixelOutlierModel",
}
"""The baselines, and their classes in :mod:`lmms_medtasks.harness`."""

ADAPTED = "medtasks_peft"
SERVER = "medtasks_server"
MODELS = (*BASELINES, ADAPTED, SERVER)
