"""Runs lm-eval over minimal pairs, with a task file for each paradigm like those of lm-eval's BLiMP."""

import os
import tempfile
from pathlib import Path
from typing import Any

from mlrb_kit.rejected import Rejected
from mlrb_kit.results import write_json, write_jsonl
from mlrb_kit.submission import Submission, blame

BATCH = 32


def run_lm_eval(submission: Submission, pairs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One sample for each pair, in the order of `pairs`, with both log-likelihoods in nats."""
    with tempfile.TemporaryDirectory() as folder:
        # datasets reads these variables on import
        os.environ.update(HF_HOME=folder, HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", LOGLEVEL="ERROR")
        os.environ.update(HF_DATASETS_DISABLE_PROGRESS_BARS="1", TQDM_DISABLE="1")
        paradigms = sorted({pair["UID"] for pair in pairs})
        members = {name: [at for at, pair in enumerate(pairs) if pair["UID"] == name] for name in paradigms}
        for name in paradigms:
            write_jsonl(Path(folder, f"{name}.jsonl"), [pairs[at] for at in members[name]])
            write_json(Path(folder, f"{name}.yaml"), task(Path(folder), name))  # JSON is YAML
        results = evaluate(submission, Path(folder), [f"house-pairs-{name}" for name in paradigms])

    samples: dict[int, dict[str, Any]] = {}
    for name in paradigms:
        logged = sorted(results["samples"][f"house-pairs-{name}"], key=lambda sample: sample["doc_id"])
        for at, sample in zip(members[name], logged, strict=True):
            (good, _), (bad, _) = sample["filtered_resps"]
            samples[at] = {
                "id": f"{name}/{pairs[at]['pair_id']}",
                "group": name,
                "phenomenon": pairs[at]["linguistics_term"],
                "value": float(sample["acc"]),  # lm-eval's decision
                "weight": 1,
                "good": float(good),
                "bad": float(bad),
            }
    return [samples[at] for at in range(len(pairs))]


def task(folder: Path, paradigm: str) -> dict[str, Any]:
    """A task file with the settings of lm-eval's BLiMP tasks (0.4.13), for this scorer's rows and name."""
    return {
        "task": f"house-pairs-{paradigm}",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"train": str(folder / f"{paradigm}.jsonl")}},
        "validation_split": "train",
        "output_type": "multiple_choice",
        "doc_to_text": "",
        "doc_to_target": 0,
        "doc_to_choice": "{{[sentence_good, sentence_bad]}}",
        "num_fewshot": 0,
        "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
    }


def evaluate(submission: Submission, tasks: Path, names: list[str]) -> dict[str, Any]:
    from lm_eval import evaluator
    from lm_eval.models.huggingface import HFLM
    from lm_eval.tasks import TaskManager

    manager = TaskManager(include_path=str(tasks), include_defaults=False)
    with blame("lm-eval cannot use the model"):
        model = HFLM(
            pretrained=submission.model,
            tokenizer=submission.tokenizer,
            batch_size=BATCH,
            backend="seq2seq" if submission.encoder_decoder else "causal",
            softmax_dtype="float32",  # sums in BF16 would tie
        )
    if model.prefix_token_id != submission.start_id:
        raise Rejected("lm-eval starts texts with another token than BOS or EOS")
    # these query pip, gcc and git: a second and undeclared reads, for unused facts
    evaluator.add_env_info = lambda results: None
    evaluator.get_git_commit_hash = lambda: None
    with blame("lm-eval fails on the model"):
        return evaluator.simple_evaluate(
            model=model,
            tasks=names,
            task_manager=manager,
            bootstrap_iters=0,
            log_samples=True,
        )
