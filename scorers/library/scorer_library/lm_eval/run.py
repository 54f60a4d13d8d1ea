"""Runs unchanged tasks of lm-eval, and returns every likelihood and the credit of every choice."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlrb_kit.submission import Submission
from scorer_library.lm_eval.data import HubData, Row, at_fault, write_card
from scorer_library.lm_eval.templates import templates_compiled_once

Outcome = dict[str, Any]  # lm-eval's metrics of one item, e.g. {"acc": 1.0}


@dataclass(frozen=True)
class Answer:
    """How a submission answered one item of multiple choice."""

    likelihoods: list[float]  # of each choice, in nats, summed over its tokens
    outcomes: list[Outcome]  # lm-eval's metrics if this choice were the likeliest


@dataclass(frozen=True)
class Run:
    answers: dict[str, list[Answer]]  # by config, in the order of its rows
    truncated: int  # requests whose context did not fit the model and lost its beginning


def run_lm_eval(
    submission: Submission,
    data: HubData,
    rows: dict[str, list[Row]],
    *,
    shipped: str,
    task_of: Callable[[str], str],
) -> Run:
    """`shipped`: the folder of lm-eval's task files, under its `tasks`; `task_of`: a config's task.

    Call it inside local_hub(data, rows). Each config is a separate run, so its numbers do not depend on the
    other configs.
    """
    import lm_eval
    from lm_eval.tasks import TaskManager

    from scorer_library.lm_eval.model import GuardedLM

    folder = Path(lm_eval.__file__).parent / "tasks" / shipped  # one folder only: indexing all takes 8 s
    manager = TaskManager(include_path=str(folder), include_defaults=False)
    if unknown := sorted(config for config in rows if task_of(config) not in manager.all_subtasks):
        raise at_fault(f"{data.folder}/{unknown[0]}", "lm-eval ships no task for it")
    model = GuardedLM(submission)
    answers = {}
    with templates_compiled_once():
        for config in rows:
            write_card(Path(), data, [config])
            answers[config] = evaluate(model, manager, task_of(config))
            if len(answers[config]) != len(rows[config]):
                raise RuntimeError(
                    f"bug: {config} has {len(rows[config])} rows, {len(answers[config])} answers"
                )
    return Run(answers, model.truncated)


def evaluate(model: Any, manager: Any, name: str) -> list[Answer]:
    """Like simple_evaluate, but without its queries of git, pip and gcc, which take 0.5 s each time."""
    from lm_eval import evaluate as run

    loaded = manager.load([name])
    task = loaded["tasks"][name]
    if task.get_config("num_fewshot") is None:
        task.set_config(key="num_fewshot", value=0)
    task.set_fewshot_seed(seed=0)
    found = run(lm=model, task_dict=loaded, bootstrap_iters=0, log_samples=True)
    return [
        answer(task, sample) for sample in sorted(found["samples"][name], key=lambda sample: sample["doc_id"])
    ]


def answer(task: Any, sample: dict[str, Any]) -> Answer:
    likelihoods = [float(likelihood) for likelihood, _ in sample["filtered_resps"]]
    outcomes = [
        task.process_results(
            sample["doc"], [(0.0 if at == chosen else -1.0, False) for at in range(len(likelihoods))]
        )
        for chosen in range(len(likelihoods))
    ]
    if not any(math.isnan(likelihood) for likelihood in likelihoods):
        chosen = likelihoods.index(max(likelihoods))  # the first of equals, as in lm-eval
        for metric, value in outcomes[chosen].items():
            by_sum = not metric.endswith("_norm")  # those choose by another criterion
            if by_sum and isinstance(value, (int, float)) and sample[metric] != value:
                raise RuntimeError(f"bug: lm-eval says {metric} {sample[metric]}, we {value}")
    return Answer(likelihoods, outcomes)
