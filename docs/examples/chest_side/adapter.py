from lmms_medtasks.data.adapter import from_columns

documents = from_columns(image="img", question="q", options=["a", "b"], answer="label", tags=["unit"])
