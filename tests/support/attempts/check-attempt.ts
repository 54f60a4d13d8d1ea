// Attempts whose agent runs `check-submission` on folders, in a sandbox of the given kind.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { TestContext } from "node:test";
import { runAttempt } from "@mlrb/agents/attempt/run-attempt";
import { submissionCheck } from "@mlrb/agents/attempt/submission-check";
import { chooseSandbox } from "@mlrb/agents/sandbox/choose-sandbox";
import { dockerWalls } from "@mlrb/docker/docker-walls";
import { removeDiskImages } from "@mlrb/kit/files/disk-image";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { pythonFolders, pythonPath } from "@mlrb/kit/python-path";
import { testPython } from "../../../scorers/testing/submissions.ts";

const repository = resolve(import.meta.dirname, "../../..");
const python = testPython();
/** The environment's folder and its interpreter's. */
export const environment = execFileSync(
  python,
  ["-c", "import sys; print(sys.prefix, sys.base_prefix, sep='\\n')"],
  {
    encoding: "utf8",
  },
)
  .trim()
  .split("\n");
const env = { ...process.env, PYTHONPATH: pythonPath(repository), PYTHONDONTWRITEBYTECODE: "1" };

type Check = { check: string; answer: string; detail: string };
export type Answer = { rc: number; checks: Check[] };

/** How an agent spoils the good folder `bad`, as shell commands. */
export const spoiled = {
  good: "touch bad/training_args.bin; mkdir bad/checkpoint-5; touch bad/checkpoint-5/optimizer.pt",
  "broken-json": `printf '{"a":' > bad/config.json`,
  "no-tokenizer": "rm bad/tokenizer.json",
  "masked-model": `sed -i 's/"model_type": *"gpt2"/"model_type": "bert"/' bad/config.json`,
  link: "mv bad/model.safetensors kept; ln -s ../kept bad/model.safetensors",
  pipe: "rm bad/config.json; mkfifo bad/config.json",
  empty: "rm -r bad; mkdir bad",
  "missing-layers": `sed -i 's/"n_layer": *1/"n_layer": 2/' bad/config.json`,
};

/** The outcome of each of them. */
export const outcomes: Record<keyof typeof spoiled, string> = {
  ...{ good: "pass", "broken-json": "admission", "no-tokenizer": "admission", empty: "admission" },
  ...{ "masked-model": "admission", link: "admission", pipe: "admission" },
  ...{ "missing-layers": "model" },
};

/** Runs `script` as an agent's program; its output. `data/good` is a small model, if the script names it. */
export async function attempt(
  t: TestContext,
  script: string,
  { executor = "local", env: engine = {} }: { executor?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "check-submission-"));
  t.after(async () => {
    await removeDiskImages(folder);
    removeFolder(folder);
  });
  const at = (name: string) => join(folder, name);
  for (const name of ["data", "program", "scratch", "submission"]) mkdirSync(at(name));
  const texts = Array.from(
    { length: 40 },
    (_, n) => `The ferry ${n} left the harbour at seven, and it rained.`,
  );
  writeFileSync(at("data/train.jsonl"), texts.map((text) => `${JSON.stringify({ text })}\n`).join(""));
  const make =
    "import sys; from pathlib import Path; from mlrb_kit.random_gpt2 import write_random_gpt2 as w; " +
    "from scorer_library.ngram import train_bpe as b; " +
    "w(Path(sys.argv[1]), b(Path(sys.argv[2]).read_text().split('\\n')), seed=0, width=32, layers=1)";
  if (script.includes("data/good"))
    execFileSync(python, ["-c", make, at("data/good"), at("data/train.jsonl")], { env });
  writeFileSync(at("program/agent.sh"), script);
  const memoryBytes = 4 * 2 ** 30;
  const check = submissionCheck(repository, "scorer_library.check_submission", {
    ...{ folders: pythonFolders(repository), memoryBytes },
  });
  const sandbox = await chooseSandbox(
    {
      ...{ executor, network: "none", gpus: [], token: `check${process.pid}` },
      ...{ reads: environment, weakLimits: true, unsafe: false },
      limits: { memoryBytes, processes: 128, diskBytes: 2 ** 28, cpus: 1 },
    },
    {
      ...{ under: at("work"), agent: "test", trusted: false, alsoReads: check.reads },
      containers: (request) => dockerWalls(request, { env: { ...process.env, ...engine } }),
    },
  );
  t.after(() => sandbox.close());
  await runAttempt(sandbox, {
    ...{ task: "t", agent: "test", seed: 1, kind: "command", command: ["sh", "./agent.sh"], python, check },
    ...{ program: at("program"), prompt: "", publicData: at("data"), budget: { timeMs: 400_000 } },
    outputs: {
      ...{ submission: at("submission"), trajectory: at("trajectory.jsonl") },
      ...{ ledger: at("ledger.json"), snapshots: at("snapshots") },
    },
    ...{ scratch: at("scratch"), limits: { bytesMax: 1 << 28, filesMax: 100 } },
  });
  const events = readFileSync(at("trajectory.jsonl"), "utf8").trimEnd().split("\n");
  const said = events.map((line) => JSON.parse(line)).filter(({ event }) => event === "output");
  return said.map(({ text }) => text).join("");
}

/** What the program answers in such an attempt about each of these spoiled folders. */
export async function answersOf(
  t: TestContext,
  names: (keyof typeof spoiled)[],
  where: Parameters<typeof attempt>[2] = {},
): Promise<Map<string, Answer>> {
  const each = names.map(
    (name) =>
      `rm -rf bad kept; cp -r data/good bad; chmod -R u+w bad; ${spoiled[name]}; echo "@${name}"; ` +
      './check-submission bad --json; echo "rc=$?"',
  );
  const said = await attempt(t, each.join("\n"), where);
  return new Map(
    said
      .split("@")
      .slice(1)
      .map((part): [string, Answer] => {
        const [name, json, rc] = part.split("\n");
        assert.match(json ?? "", /^\{/, said);
        return [name!, { ...(JSON.parse(json!) as Answer), rc: Number(rc!.slice(3)) }];
      }),
  );
}

/** The first check that does not pass, or "pass". */
export function outcome({ rc, checks }: Answer): string {
  assert.equal(rc, checks.some(({ answer }) => answer === "fail") ? 1 : 0);
  return checks.find(({ answer }) => answer !== "pass")?.check ?? "pass";
}
