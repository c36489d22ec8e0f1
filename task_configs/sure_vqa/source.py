"""The three data sets of SURE-VQA: SLAKE, OVQA and MIMIC-CXR-VQA, a chapter each."""

from lmms_medtasks.task_configs.sure_vqa.source_mimic import MIMIC
from lmms_medtasks.task_configs.sure_vqa.source_ovqa import OVQA
from lmms_medtasks.task_configs.sure_vqa.source_slake import SLAKE

SOURCES = (MIMIC, OVQA, SLAKE)
