"""Loads a submission like the official command, and refuses defects that transformers silently repairs.

transformers replaces missing or misshapen tensors by random ones; their score would be that of a model that
was not submitted.
"""

import copy
import json
import os
import re
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from tokenizers import Tokenizer

from mlrb_kit.admitted import Undecided
from mlrb_kit.device import NoGpu, device
from mlrb_kit.rejected import Rejected
from mlrb_kit.stored import AnyFormat, Stored, read_stored
from mlrb_kit.tied import check_tied, restore_tied

BUFFER_BYTES_MAX = 2**31  # e.g. GPT-2 keeps a mask of positions x positions in every layer
CONTEXT_NAMES = ("n_positions", "max_position_embeddings", "n_ctx")  # the names that lm-eval reads

# messages of a machine that is too small or defective, which are not the submission's fault
OURS = re.compile(r"allocate memory|out of memory|CUDA error|cuBLAS|CUBLAS_|CUDNN_|NVML")

SAVE_TOKENIZER = "name them: PreTrainedTokenizerFast(tokenizer_file=…, eos_token=…).save_pretrained(…)"
# what a wrapper puts into the names of weights, with what to save instead
WRAPPERS = {
    "_orig_mod.": "; _orig_mod. in the stored names is of torch.compile: save model._orig_mod",
    "base_model.model.": "; the stored names are those of PEFT: save merge_and_unload()",
}

WORDS_MAX = 200  # of a library's message; installation advice follows

T = TypeVar("T")


@dataclass(frozen=True)
class Submission:
    model: Any  # transformers.PreTrainedModel, in eval mode, on the GPU that this stage holds or on the CPU
    tokenizer: Any  # transformers.PreTrainedTokenizerBase: fast where the class has a fast one
    start_id: int  # the token before every scored text: BOS, else EOS, as in lm-eval
    vocabulary: int  # rows of the input embedding; of the smaller one, where a decoder has its own
    context: int | None  # maximum tokens of one forward pass; None if the model has no limit
    encoder_decoder: bool = False  # as lm-eval decides it

    def encode(self, text: str) -> list[int]:
        """Ids of `text` alone; raises Rejected if the tokenizer does not fit the model or the text."""
        ids = self.tokens(text)
        unknown = self.tokenizer.unk_token_id
        if not ids or (unknown is not None and unknown in ids and self.tokenizer.unk_token not in text):
            raise Rejected("the tokenizer has no tokens for some of the text")
        return ids

    def tokens(self, text: str, *, special: bool = False) -> list[int]:
        """Ids of `text`, which may hold unknown words. `special`: with what the tokenizer adds to a text."""
        ids = loaded(
            "the tokenizer fails on text", lambda: self.tokenizer.encode(text, add_special_tokens=special)
        )
        if any(not 0 <= token < self.vocabulary for token in ids):
            raise Rejected(
                f"the tokenizer gives ids of {max(ids)}; the model has {self.vocabulary} embeddings"
            )
        return ids

    def next_logits(self, rows: list[list[int]], given: list[int] | None = None) -> Any:
        """Predictions of the token after each one of `rows`, of shape (rows, tokens, outputs).

        The encoder of an encoder-decoder reads `given`, by default each row's first token: a text without
        context is scored from the start token. Its decoder reads the rows with its own start token in place
        of their first one. lm-eval gives it them as labels too, and the model shifts labels by one place.
        """
        import torch

        batch = torch.tensor(rows, device=device())
        if not self.encoder_decoder:
            return self.model(input_ids=batch).logits
        context = batch[:, :1] if given is None else torch.tensor([given] * len(rows), device=device())
        unread = torch.zeros_like(batch[:, :1])  # the last label is predicted only
        labels = torch.cat([batch[:, 1:], unread], dim=1)
        return self.model(input_ids=context, attention_mask=torch.ones_like(context), labels=labels).logits


def load_submission(folder: Path) -> Submission:
    """The model in its stored dtype; raises Rejected with the reason if it cannot be loaded."""
    stored = check_files(folder)
    tokenizer, start_id = load_tokenizer(folder)
    return fitting(load_model(folder, stored), tokenizer, start_id)


def check_files(folder: Path) -> Stored:
    """The header of the weights; refuses an incomplete folder without importing transformers."""
    if not (folder / "config.json").is_file():
        raise Rejected("no config.json")
    if (folder / "adapter_config.json").exists():
        raise Rejected("adapter_config.json: an adapter is not a whole model; submit the merged weights")
    read_model_type(folder)
    stored = read_stored(folder)
    check_tokenizer_file(folder)
    return stored


def read_model_type(folder: Path) -> str:
    """The type in config.json. Raises Rejected without one; transformers would take one from the path."""
    path = folder / "config.json"
    config = loaded(
        "config.json cannot be read", lambda: json.loads(path.read_text(encoding="utf-8")), folder
    )
    model_type = config.get("model_type") if isinstance(config, dict) else None
    if not isinstance(model_type, str):
        raise Rejected("config.json has no model_type")
    return model_type


def load_tokenizer(folder: Path) -> tuple[Any, int]:
    """The tokenizer, and the token before every scored text."""
    os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", TRANSFORMERS_VERBOSITY="error")
    from transformers import AutoTokenizer  # imported late, so that a truncated file is refused at once

    named = (folder / "tokenizer_config.json").is_file()
    tokenizer = loaded(
        "the tokenizer cannot be loaded"
        + ("" if named else f" without its special tokens ({SAVE_TOKENIZER})"),
        lambda: AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False),
        folder,
    )
    # BPE dropout is for training: text would be encoded in another way each time
    model = getattr(getattr(tokenizer, "backend_tokenizer", None), "model", None)
    if getattr(model, "dropout", None) is not None:
        model.dropout = None
    start_id = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
    if start_id is None:
        raise Rejected(
            "the tokenizer has neither a BOS nor an EOS token, so a text's first token cannot be scored; "
            + SAVE_TOKENIZER
        )
    return tokenizer, start_id


def fitting(model: Any, tokenizer: Any, start_id: int) -> Submission:
    """Raises Rejected if the model has no embedding of the tokenizer's start token."""
    both = is_encoder_decoder(model.config)
    vocabulary = vocabulary_of(model)
    if not 0 <= start_id < vocabulary:
        raise Rejected(
            f"BOS or EOS has id {start_id}; the model has {vocabulary} embeddings. Without a "
            f"tokenizer_config.json the model's type decides what they are; {SAVE_TOKENIZER}"
        )
    return Submission(model, tokenizer, start_id, vocabulary, context_of(model), both)


def vocabulary_of(model: Any) -> int:
    """The number of ids that every part of the model can read."""
    size = loaded(
        "the model has no table of input embeddings", lambda: model.get_input_embeddings().weight.shape[0]
    )
    if not is_encoder_decoder(model.config):
        return size
    decoder = loaded(
        "the decoder has no table of input embeddings",
        lambda: model.get_decoder().get_input_embeddings().weight.shape[0],
    )
    return min(size, decoder)


def check_tokenizer_file(folder: Path) -> None:
    """Reports a bad tokenizer file, and one whose library is not installed."""
    path = folder / "tokenizer.json"
    if path.is_file():
        loaded("tokenizer.json cannot be read", lambda: Tokenizer.from_file(str(path)), folder)
    elif not any((folder / name).is_file() for name in ("vocab.json", "vocab.txt")):
        model = min(folder.glob("*.model"), default=None)
        if model is not None:
            raise Rejected(
                f"no tokenizer.json: {model.name} needs a library that is not installed; load the tokenizer "
                "with use_fast=True where sentencepiece is installed and save it with save_pretrained"
            )


def without_compiler() -> None:
    """Lets transformers build an RWKV without looking for ninja: no stage may start a program. Only a CUDA
    kernel would be compiled, which computes what the code without it does."""
    import transformers.utils

    transformers.utils.is_ninja_available = lambda: False


def is_encoder_decoder(config: Any) -> bool:
    """Whether lm-eval takes a model of this type for an encoder-decoder. Some types are of both kinds."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES

    return getattr(config, "model_type", None) in MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES


def loader_of(config: Any) -> Any:
    from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM

    return AutoModelForSeq2SeqLM if is_encoder_decoder(config) else AutoModelForCausalLM


def sketch_model(folder: Path) -> Any:
    """The model's shapes without weights, and without a check of its settings."""
    from transformers import AutoConfig

    without_compiler()
    with blame("config.json describes no model that can be built", folder):
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        return shapes_of(config)


def shapes_of(config: Any) -> Any:
    """The model without weights. Heads are pruned afterwards: transformers needs values to choose by."""
    import torch

    config = copy.deepcopy(config)
    pruned, config.pruned_heads = getattr(config, "pruned_heads", None), {}
    with torch.device("meta"):  # shapes only; the load check bounds what a huge config takes
        model = loader_of(config).from_config(config, trust_remote_code=False)
    if pruned:
        model.prune_heads(pruned)
    return model


def load_model(folder: Path, stored: Stored) -> Any:
    import torch
    from transformers import AutoConfig, modeling_utils

    torch.set_num_threads(1)
    without_compiler()
    modeling_utils.safe_open = AnyFormat
    offline: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    config = loaded(
        "config.json cannot be read", lambda: AutoConfig.from_pretrained(folder, **offline), folder
    )
    layers = getattr(config, "num_hidden_layers", None)
    if isinstance(layers, int) and layers > len(stored.files):
        raise Rejected(f"config.json asks for {layers} layers; the file holds {len(stored.files)} tensors")

    plan = loaded("config.json describes no model that can be built", lambda: shapes_of(config), folder)
    computed = set(getattr(plan, "_keys_to_ignore_on_save", None) or ())  # Marian's table of positions
    described = sum(values.numel() for name, values in plan.named_parameters() if name not in computed)
    if described > stored.parameters:
        raise Rejected(f"config.json describes {described} parameters; the file holds {stored.parameters}")
    tables = [*plan.buffers(), *(values for name, values in plan.named_parameters() if name in computed)]
    if sum(table.numel() * table.element_size() for table in tables) > BUFFER_BYTES_MAX:
        raise Rejected("config.json describes masks or tables of over 2 GiB")

    def read() -> tuple[Any, dict[str, Any]]:
        check_tied(plan, stored)
        return loader_of(config).from_pretrained(
            folder,
            config=config,
            dtype=getattr(torch, stored.dtype),
            use_safetensors=True,
            ignore_mismatched_sizes=True,  # they are listed, and refused below
            output_loading_info=True,
            **offline,
        )

    model, info = loaded("the weights cannot be loaded", read, folder)
    for key, trouble in (("missing_keys", "lack"), ("mismatched_keys", "have another shape for")):
        if names := sorted(entry if isinstance(entry, str) else entry[0] for entry in info[key]):
            wrapped = [
                advice for part, advice in WRAPPERS.items() if any(part in name for name in stored.files)
            ]
            trouble = f"{trouble} {len(names)} of the model's tensors, e.g. {names[0]}"
            raise Rejected("".join([f"the weights {trouble}", *wrapped]))
    loaded("the weights cannot be loaded", lambda: restore_tied(model, stored), folder)
    # extra tensors are ignored, as by the official command: the loaded model is complete
    return model.eval().to(device())


def context_of(model: Any) -> int | None:
    for name in CONTEXT_NAMES:
        tokens = getattr(model.config, name, None)
        if tokens is not None:
            if not isinstance(tokens, int) or (read := tokens - unread_positions(model)) < 2:
                raise Rejected(f"config.json: {name} is {tokens}, no number of tokens to read text with")
            return read
    return None


def unread_positions(model: Any) -> int:
    """RoBERTa and its relatives count positions from the one after that of padding."""
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            return module.padding_idx + 1
    return 0


def loaded(trouble: str, action: Callable[[], T], folder: Path | None = None) -> T:
    """The result of `action`; its exceptions become Rejected, except those that the machine explains."""
    with blame(trouble, folder):
        return action()


@contextmanager
def blame(trouble: str, folder: Path | None = None):  # noqa: ANN201 (a generator behind a decorator)
    try:
        yield
    except (Rejected, Undecided, MemoryError, NoGpu):
        raise
    # transformers and tokenizers raise anything (a Rust panic is not an Exception)
    except BaseException as error:
        words = " ".join(str(error).split())
        if isinstance(error, (KeyboardInterrupt, SystemExit, GeneratorExit)) or OURS.search(words):
            raise
        if folder is not None:
            words = words.replace(str(folder), "submission")
        raise Rejected(f"{trouble}: {type(error).__name__}: {words[:WORDS_MAX]}") from error
