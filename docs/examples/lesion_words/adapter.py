from lmms_medtasks.adapter import from_columns

documents = from_columns(image="photo", answer="reference")
