// Both tasks with images, on official data from a double of the hub, in the rehearsal of the paper's profile: the agent and
// the program that it submits read PNG files with the Pillow of images.lock.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { parse } from "yaml";
import { shell, submit } from "./support/attempts/llm-attempts.ts";
import { indexVariables } from "./support/demonstration/play.ts";
import { shareEnvironmentsAnd } from "./support/environments.ts";
import { leftovers, summary } from "./support/lab.ts";
import {
  LOOPBACK_KEY,
  type SeenRequest,
  startLoopbackProvider,
} from "./support/providers/loopback-provider.ts";
import { publishSources } from "./support/rehearsal/official-sources.ts";
import { type Line, startProgram } from "./support/run-program.ts";
import { LoopbackHub } from "./support/servers/loopback-hub.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
const root = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-official-images-")));
const hub = await new LoopbackHub().start();
const provider = await startLoopbackProvider({ script: play });
after(async () => {
  hub.close();
  await provider.close();
  repository.remove();
  removeFolder(root);
});

const agent = readFileSync(join(import.meta.dirname, "support/rehearsal/image_agent.py"), "utf8");
const columns = { "budget-model-training": "class", "budget-model-inference": "digit_sum" };

/** Writes the program, runs it, and submits what it wrote. */
function play({ messages }: SeenRequest) {
  if (messages.some(({ role }) => role === "tool")) return submit();
  const isTraining = messages.some(({ text }) => text.includes("budget_model_training/"));
  const column = columns[isTraining ? "budget-model-training" : "budget-model-inference"];
  return shell(`cat > agent.py <<'END'\n${agent}\nEND\npython agent.py ${column}`);
}

const preset = `formatVersion: 1
name: scripted-model
title: A scripted model (loopback)
kind: llm
provider: loopback
model: { id: scripted-1, baseUrl: "${provider.baseUrl}", key: LOOPBACK_API_KEY, contextTokens: 64000, free: true }
scaffold: react
scaffoldVersion: 1
secrets: [LOOPBACK_API_KEY]
environment: pipelines/environments/ml.lock
`;

test("programs that read PNG files with Pillow are scored on official images, each attempt in the images' Python", {
  timeout: 15 * 60_000,
}, async () => {
  shareEnvironmentsAnd(root, repository.path, {
    lock: "pipelines/environments/images.lock",
    base: "pipelines/environments/ml.lock",
    more: ["pillow"],
  });
  const published = publishSources(hub, ["budget-model-train", "budget-model-inference"]);
  for (const [source, commit] of Object.entries(published)) {
    const { revision } = parse(repository.read(`sources/${source}.yaml`)) as { revision?: string };
    if (revision !== undefined) repository.edit(`sources/${source}.yaml`, `"${revision}"`, `"${commit}"`);
  }
  repository.write("runners/agents/presets/scripted-model.yaml", preset);
  const env = { ...indexVariables(), HF_ENDPOINT: hub.endpoint, LOOPBACK_API_KEY: LOOPBACK_KEY };
  const pipeline = (...args: string[]) =>
    startProgram(repository.path, [...args, "--root", root], { env }).ended;
  const names = Object.keys(published);
  const locked = await pipeline("sources", "lock", ...names);
  assert.equal(locked.code, 0, locked.stdout + locked.stderr);
  assert.equal((await pipeline("sources", "accept", ...names, "--yes")).code, 0);
  const set = ["--set", "agent=scripted-model", "--set", "moment=50%"];
  const said = await pipeline("run", "other-tasks", "--profile", "rehearsal", ...set, "--yes", "--json");
  const failed = said.lines.filter(({ outcome }) => outcome === "failed");
  assert.equal(said.code, 0, failed.map((line) => JSON.stringify(line)).join("\n") + said.stderr);
  assert.deepEqual(leftovers({ root }), []);
  const { results } = summary(said);
  const report = JSON.parse(readFileSync(join(root, results, "report.json"), "utf8")) as Line;
  assert.deepEqual(report.attempts.map(({ task }: Line) => task).sort(), Object.keys(columns).sort());
  for (const { task, verdict, scores } of report.attempts) {
    assert.equal(scores["image-accuracy"].value, 1, `${task}: ${JSON.stringify(scores["image-accuracy"])}`);
    assert.ok(scores["inference-seconds"].value > 0, task);
    assert.ok(["pass", "undecided"].includes(verdict.kind), `${task}: ${JSON.stringify(verdict)}`);
  }
});
