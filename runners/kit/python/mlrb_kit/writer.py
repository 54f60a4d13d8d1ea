"""Lets a model continue a prompt, one forward pass for each token, with the model's own cache."""

from typing import Any

from mlrb_kit.device import device
from mlrb_kit.rejected import Rejected


class Writer:
    """A causal model reads the prompt and what it wrote. The encoder of an encoder-decoder reads the prompt,
    once; the decoder reads its own start token and what it wrote."""

    def __init__(self, model: Any, prompt: list[int], *, encoder_decoder: bool) -> None:
        self.model = model
        self.cache: Any = None
        self.given = prompt
        self.encoder: dict[str, Any] = {}
        if encoder_decoder:
            self.given = [decoder_start(model)]
            self.encoder = encoded(model, prompt)

    def next_logits(self, new: list[int]) -> Any:
        """Predictions of the token after the prompt and the written tokens `new`, of shape (outputs,)."""
        import torch

        ids = [*self.given, *new]
        fresh = torch.tensor([ids if self.cache is None else ids[-1:]], device=device())
        name = "decoder_input_ids" if self.encoder else "input_ids"
        output = self.model(
            **{name: fresh},
            **self.encoder,
            past_key_values=self.cache,
            use_cache=True,
            return_dict=True,
        )
        self.cache = getattr(output, "past_key_values", None)  # None: the next pass reads all again
        return output.logits[0, -1].float()


def encoded(model: Any, prompt: list[int]) -> dict[str, Any]:
    import torch

    ids = torch.tensor([prompt], device=device())
    mask = torch.ones_like(ids)
    outputs = model.get_encoder()(input_ids=ids, attention_mask=mask, return_dict=True)
    return {"encoder_outputs": outputs, "attention_mask": mask}


def decoder_start(model: Any) -> int:
    """The token that a decoder starts with, as transformers' generate() chooses it."""
    generation = getattr(model, "generation_config", None)
    given = [
        getattr(generation, "decoder_start_token_id", None),
        getattr(model.config, "decoder_start_token_id", None),
        getattr(generation, "bos_token_id", None),
    ]
    start = next((token for token in given if token is not None), None)
    if type(start) is not int or start < 0:
        raise Rejected(f"config.json: decoder_start_token_id is {start}, no token to start a decoder with")
    return start
