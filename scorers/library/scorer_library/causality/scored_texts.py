"""The texts of a task's private data that its scorers feed to a model, as they feed them.

scorer.yaml names them (`scoredText`), for scorers where a scored token is part of the model's input.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from mlrb_kit.results import read_jsonl
from scorer_library.heldout import read_heldout
from scorer_library.lm_eval import blimp, super_glue
from scorer_library.lm_eval.continuation import DATA as QUESTIONS
from scorer_library.lm_eval.data import HubData, local_hub, read_hub_data, write_card
from scorer_library.lm_eval.templates import templates_compiled_once
from scorer_library.wikitext import read_wikitext
from scorer_library.windows import windows

WIKITEXT = "wikitext"


@dataclass(frozen=True)
class ScoredText:
    """`context` is given, `scored` is predicted. `source` says which scored text of the data it is."""

    source: str
    context: str
    scored: str
    kind: str = "documents"
    run: str | None = None  # of lm-eval, whose texts share batches; None: read alone, without context
    group: str = ""  # part of a score that is an unweighted mean over groups


def scored_texts(private: Path, kinds: Sequence[str]) -> list[ScoredText]:
    """Every scored text of the data once, in a fixed order. `kinds`: names in READERS."""
    if unknown := sorted(set(kinds) - set(READERS)):
        raise SystemExit(f"scoredText: {unknown[0]} is unknown; known are {', '.join(sorted(READERS))}")
    found: dict[tuple[str, str | None, str, str], ScoredText] = {}
    for kind in sorted(set(kinds)):
        for text in READERS[kind](private):
            found.setdefault((kind, text.run, text.context, text.scored), replace(text, kind=kind))
    return list(found.values())


def documents(private: Path) -> Iterator[ScoredText]:
    for document in read_heldout(private):
        for at, window in enumerate(windows(document["text"])):
            yield ScoredText(f"documents/{document['id']}/{at}", "", window, group=document["group"])


def sentence_pairs(private: Path) -> Iterator[ScoredText]:
    for at, pair in enumerate(read_jsonl(private / "pairs.jsonl")):
        for side in ("sentence_good", "sentence_bad"):
            # lm-eval separates every continuation from its context, here an empty one, by a space
            source, scored = f"sentence-pairs/{at}/{side}", f" {pair[side]}"
            yield ScoredText(source, "", scored, run="sentence-pairs", group=pair["UID"])


def wikitext(private: Path) -> Iterator[ScoredText]:
    """One text: its windows are cut between tokens, so each tokenizer has its own."""
    yield ScoredText(WIKITEXT, "", read_wikitext(private))


def lm_eval_requests(
    data: HubData, shipped: str, task_of: Callable[[str], str], grouped: bool, private: Path
) -> Iterator[ScoredText]:
    """The requests that lm-eval's own task files make.

    `shipped`: their folder in lm-eval. `grouped`: the score is a mean over configs.
    """
    rows = read_hub_data(private, data)
    with local_hub(data, rows), templates_compiled_once():
        import lm_eval
        from lm_eval.tasks import TaskManager

        folder = Path(lm_eval.__file__).parent / "tasks" / shipped
        manager = TaskManager(include_path=str(folder), include_defaults=False)
        for config in rows:
            name = task_of(config)
            write_card(Path(), data, [config])
            task = manager.load([name])["tasks"][name]
            task.set_config(key="num_fewshot", value=0)
            task.set_fewshot_seed(seed=0)
            task.build_all_requests(rank=0, world_size=1)
            for at, request in enumerate(task.instances):
                context, scored = request.args[:2]
                group = config if grouped else ""
                yield ScoredText(f"{config}/{at}", context, scored, run=config, group=group)


READERS: dict[str, Callable[[Path], Iterator[ScoredText]]] = {
    "documents": documents,
    "sentence-pairs": sentence_pairs,
    WIKITEXT: wikitext,
    "blimp": partial(lm_eval_requests, blimp.DATA, "blimp", blimp.task_of, True),
    "super-glue": partial(lm_eval_requests, super_glue.DATA, "super_glue", super_glue.task_of, True),
    "questions": partial(
        lm_eval_requests, QUESTIONS, "mmlu/continuation", "mmlu_{}_continuation".format, False
    ),
}
