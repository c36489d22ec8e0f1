"""``python -m lmms_medtasks`` is ``lmms-medtasks``."""

from lmms_medtasks.cli import main

if __name__ == "__main__":
    main()
