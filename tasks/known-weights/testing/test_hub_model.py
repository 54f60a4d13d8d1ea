"""Reads a model from a local hub that answers range requests."""

import os
import re
import tempfile
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from unittest import mock

import torch
from hub_model import HubModel
from safetensors.torch import save_file

from scorer_library.identity.fingerprint import fingerprint


class Hub:
    """Serves a folder as owner/name. Notes the ranges and tokens of requests; `whole` ignores ranges."""

    def __init__(self, folder: Path, *, token: str = "", whole: bool = False) -> None:
        self.asked: list[tuple[str, int]] = []
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = folder / self.path.removeprefix("/owner/name/resolve/main/")
                given = self.headers.get("Authorization", "")
                if token and given != f"Bearer {token}":
                    return self.send_error(401)
                if not path.is_file():
                    return self.send_error(404)
                content = path.read_bytes()
                asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
                if asked and not whole:
                    content = content[int(asked[1]) : int(asked[2]) + 1]
                hub.asked.append((path.name, len(content)))
                self.send_response(206 if asked and not whole else 200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
                return None

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=self.server.serve_forever, daemon=True).start()

    def environment(self, **more: str) -> dict[str, str]:
        return {"HF_ENDPOINT": f"http://127.0.0.1:{self.server.server_port}", "HF_TOKEN": "", **more}


class Ranges(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        draw = torch.Generator().manual_seed(0)
        self.tensors = {
            "a": torch.randn(64, 48, generator=draw),
            "b": torch.randn(48, 64, generator=draw).bfloat16(),
            "packed": torch.zeros(64, dtype=torch.int8),
        }

    def hub(self, *, token: str = "", whole: bool = False) -> Hub:
        hub = Hub(self.folder, token=token, whole=whole)
        self.addCleanup(hub.server.server_close)
        self.addCleanup(hub.server.shutdown)
        return hub

    def test_tensors_are_read_one_at_a_time_and_give_the_fingerprints_of_the_file(self) -> None:
        save_file(self.tensors, self.folder / "model.safetensors")
        hub = self.hub()
        with mock.patch.dict(os.environ, hub.environment()), HubModel("owner/name") as model:
            self.assertEqual(model.names(), ["a", "b"])
            for name in model.names():
                self.assertEqual(
                    fingerprint(name, model.read(name)), fingerprint(name, self.tensors[name].float())
                )
        size = (self.folder / "model.safetensors").stat().st_size
        self.assertTrue(all(length < size for _, length in hub.asked), hub.asked)

    def test_shards_are_found_by_the_index(self) -> None:
        save_file({"a": self.tensors["a"]}, self.folder / "one.safetensors")
        save_file({"b": self.tensors["b"]}, self.folder / "two.safetensors")
        index = '{"weight_map": {"a": "one.safetensors", "b": "two.safetensors"}}'
        (self.folder / "model.safetensors.index.json").write_text(index)
        with mock.patch.dict(os.environ, self.hub().environment()), HubModel("owner/name") as model:
            self.assertTrue(torch.equal(model.read("b"), self.tensors["b"].float()))

    def test_a_closed_model_needs_the_token_and_a_hub_without_ranges_is_refused(self) -> None:
        save_file(self.tensors, self.folder / "model.safetensors")
        closed = self.hub(token="t")
        with (
            mock.patch.dict(os.environ, closed.environment()),
            self.assertRaisesRegex(SystemExit, "401.*HF_TOKEN"),
        ):
            HubModel("owner/name")
        with mock.patch.dict(os.environ, closed.environment(HF_TOKEN="t")):
            self.assertEqual(HubModel("owner/name").shape("a"), (64, 48))
        whole = self.hub(whole=True)
        with (
            mock.patch.dict(os.environ, whole.environment()),
            self.assertRaisesRegex(SystemExit, "no ranges"),
        ):
            HubModel("owner/name")


if __name__ == "__main__":
    unittest.main()
