"""What becomes of a release's records."""

import pyarrow.parquet as pq

from lmms_medtasks.data import store
from lmms_medtasks.data.prepare import prepare_splits


def prepared(suite, folder, split="test"):
    prepare_splits(suite, source=folder, splits=[split], sample=True)
    return pq.read_table(store.prepared_data_folder(suite, "sample") / f"{split}.parquet").to_pylist()


def rejected(suite):
    return store.read_rejected(store.prepared_data_folder(suite, "sample") / store.REJECTED)
