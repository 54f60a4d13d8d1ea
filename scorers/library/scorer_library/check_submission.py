"""The checks of an agent's own submission that need Python: one load, the model, look-ahead on public text.

Runs in the agent's workspace, on a clean folder that admission wrote, and sees no private data and no secret.
    python -P -m scorer_library.check_submission CLEAN_FOLDER PUBLIC_DATA ANSWERS SECONDS [MEMORY_BYTES]
Appends a line of JSON to ANSWERS after each check: {"check", "answer", "detail"}.
Ends with its parent, and after SECONDS. MEMORY_BYTES: what the checks may take.
"""

import json
import signal
import sys
from pathlib import Path

from mlrb_kit.end_with_parent import end_with_parent


def main() -> None:
    end_with_parent()
    signal.alarm(int(sys.argv[4]) + 5)  # the parent ends it in time, unless it was killed before this began
    folder, public, answers = (Path(argument) for argument in sys.argv[1:4])
    memory = float("".join(sys.argv[5:]) or "inf")
    with answers.open("a", encoding="utf-8") as file:

        def answer(check: str, given: str, detail: str) -> None:
            file.write(json.dumps({"check": check, "answer": given, "detail": detail}) + "\n")
            file.flush()

        try:
            from scorer_library.trial_load import import_libraries

            import_libraries()
            from scorer_library.check_model import check_model, limit_memory
        except ImportError as error:
            answer("load", "undecided", f"this Python has no {error.name or error}; nothing was loaded")
            return
        limit_memory(memory)
        try:
            check_model(folder, public, answer, memory)
        except Exception as error:  # most are the machine's: those of the submission are Rejected
            words = " ".join(str(error).split())[:200]
            answer("later checks", "undecided", f"{type(error).__name__}: {words}")


if __name__ == "__main__":
    main()
