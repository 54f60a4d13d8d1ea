"""Compares a submission's weights with given and with known models, for the rules on identity (ADR 43).

Writes identity.json, which only the verdict reads.
By hand: PYTHONPATH=runners/kit/python:scorers/library python pipelines/steps/identity.py
    --input submission=DIR --input admission=FILE --input models=DIR --output identity=FILE --param data=smoke
    --param 'rules=[{"method": "base-approved", "with": {"models": ["base"]}}]' --secret-seed HEX
"""

import os
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from mlrb_kit.admitted import read_admission
from mlrb_kit.canonical import write_canonical
from mlrb_kit.guarded import fault_of
from mlrb_kit.rejected import Rejected
from mlrb_kit.stage import Stage, read_stage

MIXED = "merge-explained"
SCRATCH = "from-scratch"
KNOWN = "tasks/known-weights/*.json"
COMPRESSED = "compressed-base"
COMPARED = ("base-approved", "changed", COMPRESSED)


def main() -> None:
    stage = read_stage()
    admission = read_admission(stage)
    rules = [
        one for one in stage.param("rules") if stage.param("data") in one.get("on", [stage.param("data")])
    ]

    def write(found: dict[str, Any] | str) -> None:
        if isinstance(found, str):
            found = {"given": [], "tensors": [], "mixtures": [], "known": [], "detail": found}
        write_canonical(stage.output("identity"), {"formatVersion": 1, **found})

    def act(folder: Path) -> None:
        try:
            write(compare(replace(stage, inputs={**stage.inputs, "submission": folder}), rules))
        except Rejected as rejected:
            write(str(rejected))
            raise

    if not admission["admitted"] or admission.get("undecided"):
        write("the submission is not admitted")
    elif not any(rule["method"] in (*COMPARED, MIXED, SCRATCH) for rule in rules):
        write("no rule of the task compares weights")
    elif fault := fault_of(stage, act, stage.input("submission")):
        write(fault)


def compare(stage: Stage, rules: list[dict[str, Any]]) -> dict[str, Any]:
    os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", TRANSFORMERS_VERBOSITY="error")
    from mlrb_kit.submission import check_files, load_model
    from scorer_library.identity.compare import compare_model
    from scorer_library.identity.known import look_for
    from scorer_library.identity.mixture import fit_mixture
    from scorer_library.identity.tensors import GivenModel, described, embedding_name, own_tensors
    from scorer_library.identity.versions import is_vector
    from scorer_library.identity.work import Work

    if stage.secret_seed is None:
        raise SystemExit(
            "no secret seed: declare secretSeed: true in the pipeline, or give --secret-seed HEX"
        )
    folder = stage.input("submission")
    work = Work()
    model = load_model(folder, check_files(folder))
    own = own_tensors(model)
    tensors = {name: described(name, values) for name, values in sorted(own.items())}
    mixed = [rule["with"]["models"] for rule in rules if rule["method"] == MIXED]
    with ExitStack() as opened:
        given = {
            name: opened.enter_context(GivenModel(name, stage.input("models") / name, work))
            for name in dict.fromkeys([*names_in(rules), *(name for names in mixed for name in names)])
        }
        sizes = []
        for name in names_in(rules):
            comparison = compare_model(
                own,
                given[name],
                embedding_name(model),
                stage.secret_seed,
                work,
                compressed=name in names_in(rules, COMPRESSED),
            )
            # matrices first: they show which layers and which part of the hidden dimension are left
            for tensor, entry in sorted(tensors.items(), key=lambda item: is_vector(own[item[0]])):
                if entry["finite"] and (relation := comparison.relation(tensor)):
                    entry["relations"].append(relation)
            sizes.append({"model": name, "values": given[name].size(), "unmapped": comparison.unmapped})
        mixtures = [fit_mixture(own, [given[name] for name in names]) for names in mixed]
    known = []
    if any(rule["method"] == SCRATCH for rule in rules):
        files = [stage.source_file(str(path)) for path in sorted(Path().glob(KNOWN))]
        known = look_for(own, files, stage.secret_seed, work)
    return {"given": sizes, "tensors": list(tensors.values()), "mixtures": mixtures, "known": known}


def names_in(rules: list[dict[str, Any]], *methods: str) -> list[str]:
    """The given models that rules of these methods compare with, each once."""
    given = [rule["with"] for rule in rules if rule["method"] in (methods or COMPARED)]
    return list(dict.fromkeys(name for one in given for name in one.get("models", [one.get("model")])))


if __name__ == "__main__":
    main()
