// Model servers that others wrote: LiteLLM's proxy, whose errors differ from OpenAI's, and `transformers serve`
// with a real small model, which counts no tokens.
import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { causeOf } from "@mlrb/agents/model/cause-of";
import { bubblewrapMissing } from "@mlrb/agents/sandbox/bubblewrap-abilities";
import { pythonPath } from "@mlrb/kit/python-path";
import { ensureEnvironment } from "../../scripts/ensure-environment.ts";
import { defineLlmAttempt, keyEnv, recorded } from "../support/attempts/llm-attempts.ts";
import { type Lab, lab } from "../support/lab.ts";
import { foreignPython } from "../support/machines/foreign-software.ts";
import { type AimockAnswer, aimockSoftware, startAimock } from "../support/providers/aimock.ts";
import { LOOPBACK_KEY } from "../support/providers/loopback-provider.ts";
import { throwAwayRepository } from "../support/throw-away-repository.ts";

const checkout = join(import.meta.dirname, "../..");
const repository = throwAwayRepository();
const folder = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-servers-")));
after(() => {
  repository.remove();
  rmSync(folder, { recursive: true, force: true });
});
const missing = (await bubblewrapMissing()) ?? false;
const aimock = await aimockSoftware();
const litellm = await foreignPython(["litellm[proxy]==1.100.0"]);
const ml = await ensureEnvironment("pipelines/environments/ml.lock");
const packages = spawnSync(ml, ["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"])
  .stdout.toString()
  .trim();
const serving = await foreignPython(
  ["fastapi==0.165.0", "uvicorn==0.54.0", "openai==3.54.0", "rich==15.0.0"],
  {
    like: { python: ml, packages },
  },
);

type Program = { python: string; args: string[]; env?: NodeJS.ProcessEnv; ready: string; port: number };

/** Resolves when `ready`, a path, is answered. */
async function started(t: TestContext, { python, args, env, ready, port }: Program): Promise<ChildProcess> {
  const child = spawn(python, args, {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout!, child.stderr!]) stream.on("data", (bytes) => (said += bytes));
  t.after(() => child.kill("SIGKILL"));
  while (child.exitCode === null) {
    const answer = await fetch(`http://127.0.0.1:${port}${ready}`).catch(() => undefined);
    if (answer?.ok) return child;
    await sleep(200);
  }
  throw new Error(said.slice(-2000));
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const run = (at: Lab) => at.pipeline(["run", at.name, "--json", "--yes", "--root", at.root], { env: keyEnv });

const call = (name: string, input: object): AimockAnswer => ({ toolCalls: [{ name, arguments: input }] });

test("an agent works through LiteLLM's proxy, and a model that the proxy does not know is the operator's", {
  skip: litellm.skip || aimock.skip || missing,
}, async (t) => {
  const script = [call("shell", { command: "mkdir -p submission && echo trained > submission/model" })];
  const mock = await startAimock(aimock.path!, [...script, call("submit", {})]);
  t.after(() => mock.stop());
  const port = await freePort();
  const config = join(folder, "litellm.yaml");
  const model = { model: "openai/scripted-1", api_base: `${mock.url}/v1`, api_key: LOOPBACK_KEY };
  writeFileSync(
    config,
    JSON.stringify({ model_list: [{ model_name: "scripted-1", litellm_params: model }] }),
  );
  await started(t, {
    python: litellm.path!,
    args: [
      ...["-c", "from litellm import run_server; run_server()"],
      ...["--config", config, "--host", "127.0.0.1", "--port", String(port)],
    ],
    env: { LITELLM_LOCAL_MODEL_COST_MAP: "True", LITELLM_TELEMETRY: "False" },
    ready: "/health/liveliness",
    port,
  });
  const baseUrl = `http://127.0.0.1:${port}/v1`;

  const knows = lab(t, repository);
  defineLlmAttempt(knows, { baseUrl }, { free: true, budget: { time: "120s" } });
  const said = await run(knows);
  assert.equal(said.code, 0, said.stdout + said.stderr);
  const { read, ledger } = recorded(knows);
  assert.equal(read("submission/model"), "trained\n");
  assert.deepEqual([ledger.usage?.calls, ledger.usage?.inputTokens], [2, 200]);

  const answer = await fetch(`${baseUrl}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "unheard-of", messages: [{ role: "user", content: "hi" }] }),
  });
  const { whose, cause } = causeOf({
    statusCode: answer.status,
    responseHeaders: {},
    responseBody: await answer.text(),
  });
  assert.deepEqual([whose, cause], ["operator", "unknown-model"]);
});

test("a real model behind transformers serve as a service is measured, and its tokens are unknown", {
  skip: serving.skip || missing,
}, async (t) => {
  const model = join(folder, "smollm2");
  const made = spawnSync(ml, ["pipelines/steps/base_model.py", "--output", `model=${model}`], {
    cwd: checkout,
    env: { ...process.env, PYTHONPATH: pythonPath(checkout) },
    encoding: "utf8",
  });
  assert.equal(made.status, 0, made.stderr);
  const serve = ["-m", "transformers.commands.transformers_cli", "serve", "--device", "cpu"];
  const service = {
    service: { for: ["attempt"], ready: "5m" },
    command: [serving.path!, ...serve, "--host", "127.0.0.1", "--port", "{port}"],
    env: { HF_HUB_OFFLINE: "1", HF_HOME: join(folder, "hf") },
  };
  const at = lab(t, repository);
  const baseUrl = "{services.served.url}/v1";
  const served = { id: model, baseUrl, contextTokens: 8000, maxOutputTokens: 24, free: true };
  const budget = { time: "300s" };
  const stages = { served: service };
  defineLlmAttempt(at, { baseUrl }, { budget, turnsMax: 1, params: { model: served }, stages });
  const said = await run(at);
  assert.equal(said.code, 0, said.stdout + said.stderr);
  const { ledger, events } = recorded(at);
  const calls = events.filter(({ event }) => event === "model-call");
  assert.ok(calls.length >= 1, JSON.stringify(events.slice(-5)));
  assert.deepEqual([ledger.usage?.uncounted, ledger.tokens], [calls.length, null]);
});
