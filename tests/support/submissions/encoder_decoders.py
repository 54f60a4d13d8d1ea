"""Makes small encoder-decoders with the tokenizers of their families, and scores them beside lm-eval.

python encoder_decoders.py make FOLDER          a folder for each of MODELS; `NAME-tuned`: trained further
python encoder_decoders.py score ORIGINAL CLEAN PUBLIC
                                                prints scores and likelihoods of all scorers, and lm-eval's
"""

import copy
import importlib.util
import json
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="critical", TOKENIZERS_PARALLELISM="false")
os.environ.update(LMEVAL_LOG_LEVEL="CRITICAL", TQDM_DISABLE="1")
warnings.filterwarnings("ignore")
REPOSITORY = Path(__file__).parents[3]
SCORERS = REPOSITORY / "scorers"
sys.path.append(str(SCORERS / "testing"))

LIKELIHOODS = ("mmlu", "mmlu-continuation", "house-facts", "worst-domain", "blimp", "super-glue-mean")
OTHERS = ("mmlu-permuted", "house-pairs", "bits-per-byte", "bits-per-byte-mean")
COSTS = ("net-peak-bytes", "efficiency")
TEXTS = ("bleu", "rouge-l")
WORDS = 1024

T5 = {"d_model": 32, "d_ff": 64, "num_layers": 2, "num_heads": 4, "d_kv": 8, "decoder_start_token_id": 0}
LAYERS = {"encoder_layers": 2, "decoder_layers": 2, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64}
HEADS = {"encoder_attention_heads": 4, "decoder_attention_heads": 4}
BART = {"d_model": 32, **LAYERS, **HEADS, "max_position_embeddings": 1024, "init_std": 0.2}


def t5_tokenizer() -> Any:
    """SentencePiece as in T5: EOS after each text, no BOS, and unknown letters."""
    from tokenizers import SentencePieceUnigramTokenizer
    from tokenizers.processors import TemplateProcessing
    from transformers import T5TokenizerFast

    made = SentencePieceUnigramTokenizer()
    special = ["<pad>", "</s>", "<unk>"]
    made.train_from_iterator(repository_texts(), WORDS - 300, special_tokens=special, unk_token="<unk>")
    made._tokenizer.post_processor = TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    with tempfile.TemporaryDirectory() as folder:
        made.save(f"{folder}/tokenizer.json")
        return T5TokenizerFast(tokenizer_file=f"{folder}/tokenizer.json")


def bart_tokenizer() -> Any:
    from tokenizers import ByteLevelBPETokenizer
    from transformers import BartTokenizerFast

    made = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    made.train_from_iterator(repository_texts(), WORDS, special_tokens=special)
    with tempfile.TemporaryDirectory() as folder:
        made.save_model(folder)
        return BartTokenizerFast(f"{folder}/vocab.json", f"{folder}/merges.txt")


def byte_tokens() -> Any:
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    from make_submissions import END, byte_tokenizer

    made = byte_tokenizer()
    made.post_processor = TemplateProcessing(single=f"$A {END}", special_tokens=[(END, 0)])
    return PreTrainedTokenizerFast(tokenizer_object=made, eos_token=END, pad_token=END)


def repository_texts() -> list[str]:
    return [path.read_text(encoding="utf-8")[:20_000] for path in sorted(REPOSITORY.glob("docs/adr/*.md"))]


MODELS: dict[str, tuple[str, dict[str, Any], Callable[[], Any]]] = {
    "t5": ("t5", T5, t5_tokenizer),
    "t5-bytes": ("t5", T5, byte_tokens),
    "bart": ("bart", BART, bart_tokenizer),
}


def make(root: Path) -> None:
    import torch
    from transformers import AutoConfig, AutoModelForSeq2SeqLM

    for name, (kind, sizes, tokenizer_of) in MODELS.items():
        tokenizer = tokenizer_of()
        ids = {"pad_token_id": tokenizer.pad_token_id, "eos_token_id": tokenizer.eos_token_id}
        config = AutoConfig.for_model(kind, **sizes, **ids, vocab_size=WORDS)
        torch.manual_seed(1)
        model = AutoModelForSeq2SeqLM.from_config(config)
        for folder, one in ((name, model), (f"{name}-tuned", tuned(copy.deepcopy(model)))):
            one.save_pretrained(root / folder)
            tokenizer.save_pretrained(root / folder)


def tuned(model: Any) -> Any:
    import torch

    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(30):
        rows = torch.randint(5, 200, (4, 16))
        model(input_ids=rows, labels=rows).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return model


def measure_of(scorer: str) -> Any:
    """The function of the scorer's measure.py."""
    sys.path.insert(0, str(SCORERS / scorer))
    path = SCORERS / scorer / "measure.py"
    spec = importlib.util.spec_from_file_location(f"measure_{scorer}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.measure


def private(scorer: str) -> Path:
    return SCORERS / scorer / "fixtures/private"


def score(original: Path, clean: Path, public: Path) -> dict[str, Any]:
    from mlrb_kit.answers import write_answers
    from scorer_library.generation.generate import predictions
    from scorer_library.generation.items import read_math

    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as answers:
        made = predictions(clean, read_math(private("bleu")))
        write_answers(Path(answers), made)
        for scorer in (*LIKELIHOODS, *OTHERS, *COSTS, *TEXTS):
            judged = Path(answers) if scorer in TEXTS else clean
            found[scorer] = measured(scorer, judged)
    for scorer in LIKELIHOODS:
        found[scorer]["official"] = official(scorer, original)
    found["bits-per-byte"]["official"] = official_bits(original)
    found["answers"] = {"ours": [one.text for one in made], "official": generated(original)}
    found |= {"memory": memory(clean), "memorisation": memorisation(clean), "checks": checks(clean, public)}
    return found


def memory(clean: Path) -> dict[str, Any]:
    """One run of the recipe of a memory rule."""
    from scorer_library.costs.memory_limit import measure_once

    return measure_once(clean, {"limitBytes": 2**30, "forwardTokens": 64, "newTokens": 8})


def memorisation(clean: Path) -> dict[str, Any]:
    from scorer_library.heldout import read_heldout
    from scorer_library.memorisation.compared_documents import Document
    from scorer_library.memorisation.model_bits import submission_bits

    texts = read_heldout(private("bits-per-byte"))
    documents = [Document(one["id"], "private", "train.jsonl", one["text"]) for one in texts]
    return submission_bits("submission", clean, documents)


def checks(clean: Path, public: Path) -> list[str]:
    """The answers of check-submission, which an agent runs."""
    from scorer_library.check_model import check_model
    from scorer_library.trial_load import import_libraries

    found: list[str] = []
    import_libraries()
    check_model(clean, public, lambda check, answer, _: found.append(f"{answer} {check}"), float("inf"))
    return found


def measured(scorer: str, judged: Path) -> dict[str, Any]:
    from mlrb_kit.rejected import Rejected

    try:
        result, samples = measure_of(scorer)(judged, private(scorer))
    except Rejected as rejected:
        return {"rejected": str(rejected)}
    if isinstance(result, Rejected):
        return {"rejected": str(result), "likelihoods": [one.get("likelihoods") for one in samples]}
    likelihoods = [one.get("likelihoods") for one in samples]
    return {"value": result["value"], "likelihoods": likelihoods}


def official(scorer: str, folder: Path) -> list[list[float]]:
    """The likelihoods of lm-eval's own class on the original folder, by its own choice of backend."""
    from scorer_library.lm_eval import blimp, super_glue
    from scorer_library.lm_eval.continuation import DATA as QUESTIONS
    from scorer_library.lm_eval.data import local_hub, read_hub_data

    data, shipped, task_of = {
        "mmlu": (QUESTIONS, "mmlu/default", "mmlu_{}".format),
        "blimp": (blimp.DATA, "blimp", blimp.task_of),
        "super-glue-mean": (super_glue.DATA, "super_glue", super_glue.task_of),
    }.get(scorer, (QUESTIONS, "mmlu/continuation", "mmlu_{}_continuation".format))
    rows = read_hub_data(private(scorer), data)
    with local_hub(data, rows):
        import lm_eval
        from lm_eval.models.huggingface import HFLM
        from lm_eval.tasks import TaskManager

        from scorer_library.lm_eval.model import BATCH
        from scorer_library.lm_eval.run import evaluate

        manager = TaskManager(
            include_path=str(Path(lm_eval.__file__).parent / "tasks" / shipped), include_defaults=False
        )
        model: Any = HFLM(pretrained=str(folder), device="cpu", batch_size=BATCH)
        assert model.backend == "seq2seq"
        return [answer.likelihoods for config in rows for answer in evaluate(model, manager, task_of(config))]


def official_bits(folder: Path) -> float:
    """Bits per byte from lm-eval's likelihoods of the windows without context."""
    from math import log
    from types import SimpleNamespace

    from lm_eval.models.huggingface import HFLM

    from scorer_library.heldout import read_heldout
    from scorer_library.windows import windows

    texts = [
        window for document in read_heldout(private("bits-per-byte")) for window in windows(document["text"])
    ]
    model: Any = HFLM(pretrained=str(folder), device="cpu", batch_size=1)
    found = model.loglikelihood([SimpleNamespace(args=("", text)) for text in texts], disable_tqdm=True)
    nats = sum(likelihood for likelihood, _ in found)
    return -nats / log(2) / sum(len(text.encode()) for text in texts)


def generated(folder: Path) -> list[str]:
    """What generate() of transformers writes for the default prompt, without a forced token."""
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    from scorer_library.generation.items import read_math
    from scorer_library.generation.prompt import DEFAULT, prompt

    data = read_math(private("bleu"))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    model.generation_config.forced_eos_token_id = None
    texts = []
    for item in data.items:
        given = tokenizer(prompt(DEFAULT, item), return_tensors="pt", return_token_type_ids=False)
        with torch.inference_mode():
            ids = model.generate(
                **given, do_sample=False, num_beams=1, max_new_tokens=data.generation.new_tokens_max
            )
        texts.append(tokenizer.decode(ids[0], skip_special_tokens=True, clean_up_tokenization_spaces=False))
    return texts


if __name__ == "__main__":
    import torch

    torch.set_num_threads(1)
    if sys.argv[1] == "make":
        make(Path(sys.argv[2]))
    else:
        print(json.dumps(score(*map(Path, sys.argv[2:5]))))
