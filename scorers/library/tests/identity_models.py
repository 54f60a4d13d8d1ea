"""Small models for tests of identity: a base, two experts, and families of honest and dishonest changes."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

from scorer_library.identity.fingerprint import first_places, places

State = dict[str, Tensor]
HIDDEN, INNER, LAYERS = 64, 192, 3
MLP = ("gate_proj", "up_proj", "down_proj")


def llama(
    seed: int,
    *,
    layers: int = LAYERS,
    hidden: int = HIDDEN,
    inner: int = INNER,
    heads: int = 4,
    tied: bool = True,
    biases: bool = False,
) -> Any:
    torch.manual_seed(seed)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=1024,
            hidden_size=hidden,
            intermediate_size=inner,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            num_key_value_heads=heads // 2,
            head_dim=16,
            tie_word_embeddings=tied,
            attention_bias=biases,
        )
    )
    with torch.no_grad():
        for parameter in model.parameters():  # norms as after training: not all ones
            if parameter.ndim == 1:
                parameter.add_(0.3 * torch.randn_like(parameter))
    return model


def biases(model: Any) -> State:
    """Random ones, as training leaves them."""
    draw = torch.Generator().manual_seed(4)
    return {
        name: torch.randn(value.shape, generator=draw)
        for name, value in state_of(model).items()
        if name.endswith(".bias")
    }


def state_of(model: Any) -> State:
    return {name: parameter.detach().clone() for name, parameter in model.named_parameters()}


def noise(state: State, seed: int, share: float, only: tuple[str, ...] = ("",)) -> State:
    """Each tensor whose name holds one of `only` plus noise of this share of its standard deviation."""
    draw = torch.Generator().manual_seed(seed)
    return {
        name: value + share * value.std() * torch.randn(value.shape, generator=draw)
        if any(part in name for part in only)
        else value
        for name, value in state.items()
    }


def each(change: Callable[[Tensor], Tensor], state: State) -> State:
    return {name: change(value) if value.ndim == 2 else value for name, value in state.items()}


def renumbered(state: State, layers: list[int]) -> State:
    kept: State = {name: value for name, value in state.items() if ".layers." not in name}
    for new, old in enumerate(layers):
        start = f"model.layers.{old}."
        kept |= {
            f"model.layers.{new}.{name[len(start) :]}": value
            for name, value in state.items()
            if name.startswith(start)
        }
    return kept


def on_hidden(state: State, matrix: Tensor, *, fold: bool) -> State:
    """The hidden dimension mapped by `matrix`; with `fold`, norms become one and the head is untied."""
    ends = {
        "input_layernorm": ("q_proj", "k_proj", "v_proj"),
        "post_attention_layernorm": ("gate_proj", "up_proj"),
    }
    changed: State = {}
    for name, value in state.items():
        if value.ndim == 1:
            changed[name] = torch.ones(matrix.shape[1]) if fold else value @ matrix.abs()
            continue
        reads = next((norm for norm, parts in ends.items() if any(part in name for part in parts)), None)
        if reads and fold:
            layer = name.split(".")[2]
            value = value * state[f"model.layers.{layer}.{reads}.weight"]
        writes = "o_proj" in name or "down_proj" in name
        changed[name] = matrix.T @ value if writes else value @ matrix
    if fold:
        changed["lm_head.weight"] = (state["model.embed_tokens.weight"] * state["model.norm.weight"]) @ matrix
    return changed


def fewer_neurons(state: State, keep: Tensor) -> State:
    def cut(name: str, value: Tensor) -> Tensor:
        if "gate_proj" in name or "up_proj" in name:
            return value[keep]
        return value[:, keep] if "down_proj" in name else value

    return {name: cut(name, value) for name, value in state.items()}


def fewer_heads(state: State) -> State:
    """The first two of four query heads, and the key and value head that they read."""

    def cut(name: str, value: Tensor) -> Tensor:
        if "q_proj" in name or "k_proj" in name or "v_proj" in name:
            return value[: len(value) // 2]
        return value[:, : value.shape[1] // 2] if "o_proj" in name else value

    return {name: cut(name, value) for name, value in state.items()}


def norms_folded(state: State) -> State:
    """The weights of norms multiplied into the matrices that read them: the same function."""
    changed = dict(state)
    for name, value in state.items():
        if "layernorm" not in name:
            continue
        start = name[: name.index("input_" if "input_" in name else "post_")]
        reads = ("q_proj", "k_proj", "v_proj") if "input_" in name else ("gate_proj", "up_proj")
        changed[name] = torch.ones_like(value)
        changed |= {
            other: state[other] * value
            for other in state
            if other.startswith(start) and any(part in other for part in reads)
        }
    return changed


def low_rank(value: Tensor, share: float = 0.25) -> Tensor:
    left, sizes, right = torch.linalg.svd(value, full_matrices=False)
    kept = int(share * len(sizes))
    return (left[:, :kept] * sizes[:kept]) @ right[:kept]


def prune(value: Tensor, share: float) -> Tensor:
    least = value.abs().flatten().kthvalue(int(share * value.numel())).values
    return torch.where(value.abs() > least, value, 0.0)


def quantised(value: Tensor) -> Tensor:
    step = value.abs().amax(1, keepdim=True) / 7
    return (value / step).round() * step


def merge(states: list[State], how: Callable[[list[Tensor]], Tensor]) -> State:
    return {name: how([state[name] for state in states]) for name in states[0]}


def dare(values: list[Tensor], drop: float = 0.8) -> Tensor:
    base, *experts = values
    draw = torch.Generator().manual_seed(int(base.numel()))
    deltas = [
        (expert - base) * (torch.rand(base.shape, generator=draw) >= drop) / (1 - drop) for expert in experts
    ]
    return base + 0.5 * sum(deltas)


def ties(values: list[Tensor]) -> Tensor:
    base, *experts = values
    deltas = torch.stack(
        [prune(expert - base, 0.8) if base.ndim == 2 else expert - base for expert in experts]
    )
    sign = deltas.sum(0).sign()
    agreed = (deltas.sign() == sign) & (deltas != 0)
    return base + (deltas * agreed).sum(0) / agreed.sum(0).clamp_min(1)


def slerp(values: list[Tensor]) -> Tensor:
    _, one, other = values
    angle = torch.arccos((one * other).sum().double() / (one.double().norm() * other.double().norm()))
    if float(angle) < 1e-6:
        return (one + other) / 2
    weight = torch.sin(angle * 0.5) / torch.sin(angle)
    return (weight * (one.double() + other.double())).float()


def keep_sampled(state: State, base: State) -> State:
    """Trained, but with the base's values where fingerprints of format 1 sample."""
    import hashlib

    changed = {}
    for name, value in state.items():
        flat = value.clone().flatten()
        key = "x".join(map(str, value.shape))
        places = [
            int.from_bytes(hashlib.sha256(f"{key}:{at}".encode()).digest()[:6], "big") % value.numel()
            for at in range(64)
        ]
        flat[places] = base[name].flatten()[places]
        changed[name] = flat.reshape(value.shape)
    return changed


def families(base: State, one: State, two: State) -> Iterator[tuple[str, Any, State]]:
    """Name, a model of its shapes, and its weights."""
    same = lambda: llama(0)  # noqa: E731
    turn = torch.linalg.qr(torch.randn(HIDDEN, HIDDEN, generator=torch.Generator().manual_seed(5)))[0]
    order = torch.eye(HIDDEN)[:, torch.randperm(HIDDEN, generator=torch.Generator().manual_seed(6))]
    pad = torch.eye(HIDDEN, HIDDEN + 16)
    keep = torch.arange(0, INNER, 2)
    other = state_of(llama(99))
    yield "unchanged", same(), base
    yield "half-precision", same(), {name: value.bfloat16() for name, value in base.items()}
    yield (
        "through-both-halves",
        same(),
        {name: value.bfloat16().half() for name, value in base.items()},
    )
    yield "untied", llama(0, tied=False), base | {"lm_head.weight": base["model.embed_tokens.weight"]}
    yield "norms-folded", same(), norms_folded(base)
    yield "first-layers", llama(0, layers=2), renumbered(base, [0, 1])
    yield "fewer-heads", llama(0, heads=2), fewer_heads(base)
    yield "trained", same(), noise(base, 1, 0.1)
    yield "trained-with-sampled-places-kept", same(), keep_sampled(noise(base, 1, 0.1), base)
    yield "trained-vectors", same(), noise(base, 2, 0.1, ("norm",))
    biased = llama(0, biases=True)
    yield "trained-biases", biased, biases(biased) | base
    yield "fresh", llama(99), other
    yield "fresh-gpt2", *gpt2(7)
    yield "half-fresh", same(), merge([base, other], lambda both: (both[0] + both[1]) / 2)
    yield "pruned", same(), each(lambda value: prune(value, 0.5), base)
    yield "pruned-90", same(), each(lambda value: prune(value, 0.9), base)
    yield "quantised", same(), each(quantised, base)
    yield "low-rank", same(), each(low_rank, base)
    yield "low-rank-90", same(), each(lambda value: low_rank(value, 0.9), base)
    yield (
        "low-rank-90-half-precision",
        same(),
        {name: value.bfloat16() for name, value in each(lambda value: low_rank(value, 0.9), base).items()},
    )
    yield "pruned-low-rank", same(), each(lambda value: low_rank(prune(value, 0.5), 0.75), base)
    yield "fresh-low-rank", same(), each(lambda value: low_rank(value, 0.5), other)
    yield "fewer-layers", llama(0, layers=2), renumbered(base, [0, 2])
    yield "fewer-neurons", llama(0, inner=len(keep)), fewer_neurons(base, keep)
    yield "fewer-neurons-trained", llama(0, inner=len(keep)), noise(fewer_neurons(base, keep), 3, 0.1)
    yield "fewer-hidden", llama(0, hidden=48), on_hidden(base, torch.eye(HIDDEN)[:, :48], fold=False)
    yield "rotated", llama(0, tied=False), on_hidden(base, turn, fold=True)
    yield "rotated-and-cut", llama(0, hidden=48, tied=False), on_hidden(base, turn[:, :48], fold=True)
    yield "permuted", same(), on_hidden(base, order, fold=False)
    yield "padded", llama(0, hidden=HIDDEN + 16), on_hidden(base, pad, fold=False)
    yield "one", same(), one
    yield "linear", same(), merge([one, two], lambda both: 0.7 * both[0] + 0.3 * both[1])
    yield "barely-merged", same(), merge([one, two], lambda both: 0.999 * both[0] + 0.001 * both[1])
    yield "arithmetic", same(), merge([base, one, two], lambda all: all[1] + 0.6 * (all[2] - all[0]))
    yield "dare", same(), merge([base, one, two], dare)
    yield "ties", same(), merge([base, one, two], ties)
    yield "slerp", same(), merge([base, one, two], slerp)
    yield "layers-of-both", same(), {**one, **{n: v for n, v in two.items() if ".layers.1." in n}}
    yield (
        "merged-and-trained",
        same(),
        noise(merge([one, two], lambda both: sum(both) / 2), 4, 0.02, ("o_proj",)),
    )
    yield (
        "merged-and-kept-sampled",
        same(),
        keep_sampled(
            noise(merge([one, two], lambda both: sum(both) / 2), 4, 0.02),
            merge([one, two], lambda both: sum(both) / 2),
        ),
    )


def decayed(value: Tensor) -> Tensor:
    """With singular values that fall, as training leaves them."""
    left, sizes, right = torch.linalg.svd(value, full_matrices=False)
    return (left * sizes * torch.arange(1, len(sizes) + 1) ** -0.4) @ right


def overwritten(state: State) -> State:
    """Noise at every place that the public fingerprint samples."""
    draw = torch.Generator().manual_seed(8)
    changed = {}
    for name, value in state.items():
        changed[name] = value.clone()
        if value.ndim == 2:
            rows, columns = places(*value.shape)
            changed[name][rows, columns] = value.std() * torch.randn(len(rows), generator=draw)
            changed[name].view(-1)[first_places(list(value.shape))] = 0
    return changed


def known_families(known: State) -> Iterator[tuple[str, State]]:
    """Copies of a known model, and models that were never made from it."""
    turn = torch.linalg.qr(torch.randn(HIDDEN, HIDDEN, generator=torch.Generator().manual_seed(5)))[0]
    order = torch.eye(HIDDEN)[:, torch.randperm(HIDDEN, generator=torch.Generator().manual_seed(6))]
    moved = on_hidden(known, order, fold=False)
    other = each(decayed, state_of(llama(98)))
    yield "copy", known
    yield "copy-trained", noise(known, 1, 0.3)
    yield "copy-rescaled", each(lambda value: -3 * value, known)
    yield "copy-transposed", each(lambda value: value.T.contiguous(), known)
    yield "copy-permuted", moved
    yield "copy-permuted-half", {name: value.bfloat16() for name, value in moved.items()}
    draw = torch.Generator().manual_seed(11)
    small = {f"small.{at}": torch.randn(1, 1024, generator=draw) for at in range(2000)}
    yield "copy-permuted-among-small", moved | small
    yield "copy-padded", on_hidden(known, torch.eye(HIDDEN, HIDDEN + 16), fold=False)
    yield "copy-permuted-and-padded", on_hidden(known, torch.nn.functional.pad(order, (0, 16)), fold=False)
    yield "copy-rotated", on_hidden(known, turn, fold=True)
    yield "copy-half-fresh", merge([known, other], lambda both: (both[0] + both[1]) / 2)
    yield "copy-half-noise", noise(known, 2, 1.0)
    for seed, scale in enumerate([0.02, 0.1, 0.5, 0.04], 40):
        torch.manual_seed(seed)
        yield (
            f"honest-{seed}",
            each(lambda value, by=scale: by * torch.randn_like(value), state_of(llama(seed))),
        )
    yield "honest-decayed", other
    yield "honest-gpt2", gpt2(7)[1]


def gpt2(seed: int) -> tuple[Any, State]:
    torch.manual_seed(seed)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=1024, n_positions=64, n_embd=64, n_layer=2, n_head=2))
    return model, state_of(model)
