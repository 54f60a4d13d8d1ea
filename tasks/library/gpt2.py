"""A small GPT-2, written out in PyTorch, with the tensor names and layouts that transformers reads.

Written out because importing transformers takes longer than a fifth of the whole training.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Linear(nn.Module):
    """GPT-2 stores the weight as (inputs, outputs), the transpose of nn.Linear."""

    def __init__(self, inputs: int, outputs: int, std: float = 0.02) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, outputs) * std)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight + self.bias


class Attention(nn.Module):
    def __init__(self, width: int, heads: int, std_out: float) -> None:
        super().__init__()
        self.heads = heads
        self.c_attn = Linear(width, 3 * width)
        self.c_proj = Linear(width, width, std_out)

    def forward(self, x: Tensor) -> Tensor:  # (rows, tokens, width) in and out
        rows, tokens, width = x.shape
        split = self.c_attn(x).view(rows, tokens, 3, self.heads, width // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        seen = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.c_proj(seen.transpose(1, 2).reshape(rows, tokens, width))


class Mlp(nn.Module):
    def __init__(self, width: int, std_out: float) -> None:
        super().__init__()
        self.c_fc = Linear(width, 4 * width)
        self.c_proj = Linear(4 * width, width, std_out)

    def forward(self, x: Tensor) -> Tensor:
        return self.c_proj(F.gelu(self.c_fc(x), approximate="tanh"))


class Block(nn.Module):
    def __init__(self, width: int, heads: int, std_out: float) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(width)
        self.attn = Attention(width, heads, std_out)
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = Mlp(width, std_out)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Gpt2(nn.Module):
    """Token ids (rows, tokens) in, logits (rows, tokens, vocabulary) out; output tied or not."""

    def __init__(
        self, vocabulary: int, context: int, width: int, layers: int, heads: int, tied: bool = True
    ) -> None:
        super().__init__()
        std_out = 0.02 / math.sqrt(2 * layers)
        self.wte = nn.Embedding(vocabulary, width)
        self.wpe = nn.Embedding(context, width)
        nn.init.normal_(self.wte.weight, std=0.02)
        nn.init.normal_(self.wpe.weight, std=0.02)
        self.h = nn.ModuleList(Block(width, heads, std_out) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)
        self.tied = tied
        if not tied:
            self.lm_head = nn.Embedding(vocabulary, width)
            nn.init.normal_(self.lm_head.weight, std=0.02)
        self.config = {
            "architectures": ["GPT2LMHeadModel"],
            "model_type": "gpt2",
            "activation_function": "gelu_new",
            "attn_pdrop": 0.0,
            "embd_pdrop": 0.0,
            "resid_pdrop": 0.0,
            "layer_norm_epsilon": 1e-5,
            "n_ctx": context,
            "n_embd": width,
            "n_head": heads,
            "n_layer": layers,
            "n_positions": context,
            "tie_word_embeddings": tied,
            "torch_dtype": "float32",
            "vocab_size": vocabulary,
        }

    def forward(self, ids: Tensor) -> Tensor:
        x = self.wte(ids) + self.wpe.weight[: ids.shape[1]]
        for block in self.h:
            x = block(x)
        head = self.wte if self.tied else self.lm_head
        return self.ln_f(x) @ head.weight.T
