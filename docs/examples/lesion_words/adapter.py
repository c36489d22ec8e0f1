from lmms_medtasks.data.adapter import from_columns

documents = from_columns(image="photo", answer="reference")
