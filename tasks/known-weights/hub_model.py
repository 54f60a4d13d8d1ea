"""Reads the tensors of a model on a hub one at a time, by range requests: the whole model is never stored."""

import json
import os
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

import torch
from torch import Tensor

HUB = "https://huggingface.co"
HEADER_MAX = 100_000_000  # bytes, the limit of the safetensors format
SECONDS = 60  # without an answer
SINGLE, INDEX = "model.safetensors", "model.safetensors.index.json"
TYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}


class HubModel:
    """Of `repository` (owner/name) at `revision`. HF_ENDPOINT names another hub; HF_TOKEN opens closed ones.

    Ends the program with the address and the cause where the hub does not give what a model needs.
    """

    def __init__(self, repository: str, revision: str = "main") -> None:
        endpoint = os.environ.get("HF_ENDPOINT", HUB).rstrip("/")
        self._at = f"{endpoint}/{quote(repository)}/resolve/{quote(revision, safe='')}"
        self._tensors: dict[str, tuple[str, int, dict[str, Any]]] = {}
        for file in self._files():
            length = int.from_bytes(self._range(file, 0, 8), "little")
            if length > HEADER_MAX:
                raise SystemExit(f"{self._at}/{file}: a header of {length} bytes; at most {HEADER_MAX}")
            header = json.loads(self._range(file, 8, length))
            header.pop("__metadata__", None)
            self._tensors |= {name: (file, 8 + length, entry) for name, entry in header.items()}

    def __enter__(self) -> "HubModel":
        return self

    def __exit__(self, *_: object) -> None:
        pass  # no connection is kept

    def names(self) -> list[str]:
        """Of tensors of plain floats: packed integers have no values to compare."""
        return sorted(name for name, (_, _, entry) in self._tensors.items() if entry["dtype"] in TYPES)

    def shape(self, name: str) -> tuple[int, ...]:
        return tuple(self._tensors[name][2]["shape"])

    def read(self, name: str) -> Tensor:
        """In single precision."""
        file, start, entry = self._tensors[name]
        begin, end = entry["data_offsets"]
        content = bytearray(self._range(file, start + begin, end - begin))
        return torch.frombuffer(content, dtype=TYPES[entry["dtype"]]).reshape(entry["shape"]).float()

    def _files(self) -> list[str]:
        index = self._get(INDEX, optional=True)
        return sorted(set(json.loads(index)["weight_map"].values())) if index is not None else [SINGLE]

    def _range(self, file: str, start: int, length: int) -> bytes:
        content = self._get(file, (start, start + length - 1))
        if content is None or len(content) != length:
            raise SystemExit(
                f"{self._at}/{file}: {len(content or b'')} bytes came, not {length} from {start}"
            )
        return content

    def _get(self, file: str, part: tuple[int, int] | None = None, *, optional: bool = False) -> bytes | None:
        url = f"{self._at}/{quote(file)}"
        request = Request(url, headers={"Range": f"bytes={part[0]}-{part[1]}"} if part else {})
        if token := os.environ.get("HF_TOKEN"):
            request.add_unredirected_header("Authorization", f"Bearer {token}")  # not for the hub's stores
        try:
            with urlopen(request, timeout=SECONDS) as answer:
                if part and answer.status != 206:
                    raise SystemExit(
                        f"{url}: the server sends whole files only, no ranges; download the model"
                    )
                return answer.read()
        except HTTPError as error:
            if optional and error.code == 404:
                return None
            way = "; set HF_TOKEN to a token that may read it" if error.code in (401, 403) else ""
            raise SystemExit(f"{url}: {error.code} {error.reason}{way}") from error
        except (OSError, HTTPException) as error:  # URLError, a timeout, a connection that was cut
            reason = getattr(error, "reason", None) or error or type(error).__name__
            raise SystemExit(f"{url}: {reason}; is the hub reachable from here?") from error
