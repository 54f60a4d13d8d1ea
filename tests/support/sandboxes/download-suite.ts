// The suite of the download gateway in every sandbox: unchanged huggingface_hub and pip without a network, with a
// hub and an index on this machine behind the gateway.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { gzipSync } from "node:zlib";
import { agentDownloads } from "@mlrb/agents/hub/agent-downloads";
import { withheldRows } from "@mlrb/agents/hub/contents/withheld-rows";
import type { DownloadEvent } from "@mlrb/agents/hub/download-gateway";
import { type WalledSandboxOptions, walledSandbox } from "@mlrb/agents/sandbox/walled-sandbox";
import type { Withheld } from "@mlrb/formats/stage/withheld";
import { parquetWriteBuffer } from "hyparquet-writer";
import { testPython } from "../../../scorers/testing/submissions.ts";
import { LoopbackHub } from "../servers/loopback-hub.ts";
import { LoopbackIndex } from "../servers/loopback-index.ts";
import { storedZip, wheel } from "../servers/wheel.ts";

const python = testPython();
const environment = dirname(dirname(python));
const hub = await new LoopbackHub().start();
const index = await new LoopbackIndex().start();
const base = mkdtempSync(join(tmpdir(), "mlrb-download-gateway-"));
after(() => {
  hub.close();
  index.close();
  rmSync(base, { recursive: true, force: true });
});

const secret = "Which of the nine invented moons of Quell is the only one that turns backwards";
const weights = Buffer.alloc(3 << 20, "weights ");
hub.commit("model", "lab/small", {
  "config.json": '{"model_type":"gpt2"}',
  "sub/model.safetensors": weights,
});
hub.commit("dataset", "lab/open", { "train.jsonl": '{"text":"A text that everyone may read."}\n' });
hub.commit("dataset", "lab/exam", {
  "validation-0.jsonl": '{"q":"A question for choosing."}\n',
  "test-0.jsonl": "{}\n",
});
hub.commit("dataset", "someone/mirror", { "train.csv": `id,question\n1,"${secret.toUpperCase()}?"\n` });
hub.commit("dataset", "someone/packed", {
  "rows.jsonl.gz": gzipSync(`${JSON.stringify({ prompt: [{ role: "user", content: `${secret}?` }] })}\n`),
  "rows.zip": storedZip({ "a/rows.tsv": `${secret.toLowerCase()}\t3\n` }),
  "train.parquet": Buffer.from(parquetWriteBuffer({ columnData: [{ name: "asked", data: [secret] }] })),
  "rows.xz": Buffer.from("\xfd7zXZ\0rest", "latin1"),
});
index.packages.set("tiny-thing", [wheel("tiny_thing", "answer = 42\n")]);

type Walled = Pick<WalledSandboxOptions, "kind" | "open">;

async function sandboxed(t: TestContext, walled: Walled, cacheFolder = mkdtempSync(join(base, "cache-"))) {
  const own = mkdtempSync(join(base, "attempt-"));
  mkdirSync(join(own, "scratch"));
  const withheld: Withheld = {
    formatVersion: 1,
    sources: [{ name: "exam", type: "dataset", repository: "lab/exam", serves: ["validation-*"] }],
    digests: [],
    ...withheldRows([[secret]]),
  };
  writeFileSync(join(own, "withheld.json"), JSON.stringify(withheld));
  const sandbox = await walledSandbox({
    ...{ under: join(own, "state"), agent: "test", ...walled },
    ...{ reads: [environment, dirname(dirname(realpathSync(python)))], network: "hub", gpus: [] },
    token: `downloads${process.pid}`,
    limits: { memoryBytes: 2 ** 30, processes: 128, diskBytes: 2 ** 28, cpus: 1 },
  });
  const events: DownloadEvent[] = [];
  mkdirSync(join(own, "workspace"));
  await sandbox.put(join(own, "workspace"), "workspace");
  const path = `${dirname(python)}:/usr/bin:/bin`;
  const downloads = await agentDownloads(
    sandbox,
    {
      servers: { hub: hub.endpoint, packages: index.address, code: hub.endpoint },
      codeAllowed: [],
      cacheFolder,
      withheld: join(own, "withheld.json"),
      limits: { fileBytesMax: 2 ** 30, freeBytesMin: 0 },
      bytesMax: 2 ** 30,
    },
    { agent: "test", scratch: join(own, "scratch"), path, write: (event) => events.push(event) },
  );
  t.after(async () => {
    await downloads.close();
    await sandbox.close();
  });
  const run = async (program: string) => {
    let said = "";
    const result = await sandbox.exec({
      argv: ["sh", "-c", program],
      cwd: sandbox.seenAs("workspace"),
      env: { PATH: path, LANG: "C.UTF-8", ...downloads.env },
      onOutput(_, bytes) {
        said += Buffer.from(bytes);
      },
    });
    return { said, code: result.kind === "exited" ? result.code : result };
  };
  return { events, run, cacheFolder, python: (text: string) => run(`python - <<'END'\n${text}\nEND`) };
}

export function downloadSuite(walled: Walled, skip: string | undefined): void {
  const options = { timeout: 120_000, ...(skip !== undefined && { skip }) };
  test(
    "huggingface_hub downloads a model and a data set, each file on record, and a second attempt gets them from the cache",
    options,
    async (t) => {
      const at = await sandboxed(t, walled);
      const program = `
from huggingface_hub import hf_hub_download, snapshot_download, list_repo_files, HfApi
import os
folder = snapshot_download("lab/small")
print(sorted(os.listdir(folder)), os.path.getsize(os.path.join(folder, "sub/model.safetensors")))
print(open(hf_hub_download("lab/open", "train.jsonl", repo_type="dataset")).read())
print(list_repo_files("lab/small"))`;
      const { said, code } = await at.python(program);
      assert.equal(code, 0, said);
      assert.match(said, new RegExp(`'sub'\\] ${weights.length}\\n`));
      assert.match(said, /A text that everyone may read/);
      const files = at.events.map((event) =>
        event.event === "download" ? [event.from, event.id, event.path, event.bytes] : event,
      );
      assert.deepEqual(files.sort(), [
        ["dataset", "lab/open", "train.jsonl", 42],
        ["model", "lab/small", "config.json", 21],
        ["model", "lab/small", "sub/model.safetensors", weights.length],
      ]);
      hub.requests.length = 0;
      const again = await sandboxed(t, walled, at.cacheFolder);
      assert.equal((await again.python(program)).code, 0);
      assert.ok(again.events.every((event) => event.event === "download" && event.cached));
      assert.deepEqual(
        hub.requests.filter(({ method, path }) => method === "GET" && /resolve|lfs/.test(path)),
        [],
      );
    },
  );

  test(
    "pip installs a package of an index, and the wheel and its metadata are on record",
    options,
    async (t) => {
      index.json = walled.kind === "docker"; // each form of a page once
      const at = await sandboxed(t, walled);
      const { said, code } = await at.run(
        "python -m pip install --no-cache-dir --target here Tiny.Thing && PYTHONPATH=here python -c 'import tiny_thing; print(tiny_thing.answer)'",
      );
      assert.equal(code, 0, said);
      assert.match(said, /\n42\n$/);
      const entered = at.events.map(
        (event) => event.event === "download" && [event.from, event.id, event.path],
      );
      assert.deepEqual(entered, [
        ["package", "tiny-thing", "tiny_thing-1.0-py3-none-any.whl.metadata"],
        ["package", "tiny-thing", "tiny_thing-1.0-py3-none-any.whl"],
      ]);
    },
  );

  test(
    "of an evaluation set only the named files are served, and no copy of its rows in any container",
    options,
    async (t) => {
      const at = await sandboxed(t, walled);
      hub.faults.push({
        path: /^\/api\/datasets\/old\/name\//,
        times: 1,
        as: { status: 307, headers: { location: "/api/datasets/lab/exam/revision/main" } },
      });
      const { said, code } = await at.python(`
from huggingface_hub import hf_hub_download
for name, path in [("lab/exam", "validation-0.jsonl"), ("lab/exam", "test-0.jsonl"), ("LAB/Exam", "test-0.jsonl"),
                   ("old/name", "test-0.jsonl"), ("someone/mirror", "train.csv"), ("someone/packed", "rows.jsonl.gz"),
                   ("someone/packed", "rows.zip"), ("someone/packed", "train.parquet"), ("someone/packed", "rows.xz")]:
    try:
        print(path, open(hf_hub_download(name, path, repo_type="dataset")).read().strip())
    except Exception as error:
        print(name, path, "refused", "not served" in str(error))
`);
      assert.equal(code, 0, said);
      assert.equal(
        said,
        [
          'validation-0.jsonl {"q":"A question for choosing."}',
          "lab/exam test-0.jsonl refused True",
          "LAB/Exam test-0.jsonl refused True",
          "old/name test-0.jsonl refused True",
          "someone/mirror train.csv refused True",
          "someone/packed rows.jsonl.gz refused True",
          "someone/packed rows.zip refused True",
          "someone/packed train.parquet refused True",
          "someone/packed rows.xz refused True",
          "",
        ].join("\n"),
      );
      const causes = at.events.map((event) =>
        event.event === "download-refused" ? event.cause : event.path,
      );
      assert.deepEqual(causes, ["validation-0.jsonl", ...Array(7).fill("withheld"), "unreadable"]);
      assert.ok(!JSON.stringify(at.events).includes("moons"));
    },
  );

  test(
    "no program in the sandbox reaches an address, a name or another server, by any request to the gateway",
    options,
    async (t) => {
      const at = await sandboxed(t, walled);
      const outside = new URL(hub.endpoint);
      hub.requests.length = 0;
      const { said, code } = await at.python(`
import os, socket, urllib.parse
gate = urllib.parse.urlsplit(os.environ["HF_ENDPOINT"])
for name, call in [("address", lambda: socket.create_connection(("127.0.0.1", ${outside.port}), 2)),
                   ("raw", lambda: socket.create_connection(("1.1.1.1", 443), 2)),
                   ("dns", lambda: socket.getaddrinfo("huggingface.co", 443))]:
    try:
        call(); print(name, "reached")
    except OSError:
        print(name, "refused")
for line in ["CONNECT ${outside.host} HTTP/1.1", "GET ${hub.endpoint}/lab/small/resolve/main/config.json HTTP/1.1",
             "GET //${outside.host}/x HTTP/1.1", "GET /lab/small/resolve/main/../../../../etc/passwd HTTP/1.1",
             "GET /lab/small/resolve/main/%2e%2e/x HTTP/1.1", "GET /lab/small/resolve/main/a%2f..%2fx HTTP/1.1",
             "GET /lab/exam/resolve/main/x%00 HTTP/1.1", "PUT /lab/small/resolve/main/config.json HTTP/1.1",
             "POST /api/repos/create HTTP/1.1", "GET /api/whoami-v2 HTTP/1.1",
             "GET /-/packages/tiny-thing/..%2f..%2fsecret HTTP/1.1", "GET /-/github/any/thing/tar.gz/main HTTP/1.1"]:
    made = socket.create_connection((gate.hostname, gate.port))
    made.sendall((line + "\\r\\nhost: x\\r\\ncontent-length: 0\\r\\n\\r\\n").encode())
    print(made.recv(20).split(b" ")[1:2] or "closed")
    made.close()
`);
      assert.equal(code, 0, said);
      assert.deepEqual(said.trim().split("\n"), [
        "address refused",
        "raw refused",
        "dns refused",
        "closed",
        ...Array(11).fill("[b'403']"),
      ]);
      assert.deepEqual(hub.requests, []);
    },
  );
}
