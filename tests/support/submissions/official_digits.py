"""What `lm_eval --model hf` makes of folders of models, and what scorers make of their clean folders.

python official_digits.py ORIGINAL CLEAN…     pairs of folders; CLEAN is a dash if there is none
"""

import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="critical", TOKENIZERS_PARALLELISM="false")
os.environ.update(LMEVAL_LOG_LEVEL="CRITICAL", TQDM_DISABLE="1")
warnings.filterwarnings("ignore")
BLIMP = Path(__file__).parents[3] / "scorers/blimp/fixtures/private/blimp"
CONFIG = "anaphor_gender_agreement"


def main() -> None:
    """Prints for each pair both lists of likelihoods, or why there are none."""
    import lm_eval
    import torch
    from lm_eval.models.huggingface import HFLM
    from lm_eval.tasks import TaskManager

    from mlrb_kit.admitted import Undecided
    from mlrb_kit.rejected import Rejected
    from mlrb_kit.submission import load_submission
    from scorer_library.lm_eval.data import HubData, local_hub
    from scorer_library.lm_eval.model import BATCH, GuardedLM
    from scorer_library.lm_eval.run import evaluate

    torch.set_num_threads(1)
    tasks = Path(lm_eval.__file__).parent / "tasks/blimp"
    manager = TaskManager(include_path=str(tasks), include_defaults=False)

    def answers(model: Any) -> list[list[float]]:
        return [answer.likelihoods for answer in evaluate(model, manager, f"blimp_{CONFIG}")]

    def official(folder: str, dtype: str = "auto") -> Any:
        try:
            return answers(
                HFLM(pretrained=folder, device="cpu", batch_size=BATCH, dtype=dtype, softmax_dtype="float32")
            )
        except Exception as error:
            return f"{type(error).__name__}: {error}"[:300]

    def ours(folder: str) -> Any:
        try:
            return answers(GuardedLM(load_submission(Path(folder))))
        except (Rejected, Undecided) as reason:
            return str(reason)

    file = BLIMP / CONFIG / "train.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    columns: Any = {"sentence_good": "text", "sentence_bad": "text"}
    data = HubData("blimp", "nyu-mll/blimp", "train", None, lambda _: columns, lambda *_: None)
    found: dict[str, dict[str, Any]] = {}
    with local_hub(data, {CONFIG: rows}):
        for original, clean in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
            name = Path(original).name
            found[name] = {"official": official(original), "ours": None if clean == "-" else ours(clean)}
            if name.endswith("-in-settings-only"):
                found[name]["inFp32"] = official(original, "float32")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
