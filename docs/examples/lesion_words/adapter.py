from lmms_medtasks.contribute.adapter import from_columns

documents = from_columns(image="photo", answer="reference")
