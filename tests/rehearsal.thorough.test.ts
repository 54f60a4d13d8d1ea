// The paper's profile from the lock of its sources to its tables, on a machine without GPU, hub and provider:
// every stage runs its real script, against doubles of the hub and of the provider. One task whose models miss what
// is expected of them, and another, drawn; MLRB_TEST_REHEARSED names them (`all`: every task). What differs from
// `paper` is listed and checked.
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { mkdtempSync, readFileSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { parse } from "yaml";
import { shell, submit, tool } from "./support/attempts/llm-attempts.ts";
import { indexVariables } from "./support/demonstration/play.ts";
import { shareEnvironments } from "./support/environments.ts";
import { leftovers, summary } from "./support/lab.ts";
import {
  LOOPBACK_KEY,
  type SeenRequest,
  startLoopbackProvider,
} from "./support/providers/loopback-provider.ts";
import { publishSources } from "./support/rehearsal/official-sources.ts";
import { type Line, startProgram } from "./support/run-program.ts";
import { LoopbackHub } from "./support/servers/loopback-hub.ts";
import { drawn } from "./support/test-seed.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
const root = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-rehearsal-")));
const hub = await new LoopbackHub().start();
const provider = await startLoopbackProvider({ script: play });
after(async () => {
  hub.close();
  await provider.close();
  repository.remove();
  removeFolder(root);
});
shareEnvironments(root);

const program = readFileSync(join(import.meta.dirname, "support/rehearsal/agent.py"), "utf8");

/** A supervisor delegates once and submits; its worker runs the program and returns. */
function play({ tools, messages }: SeenRequest) {
  const isSupervisor = tools.includes("delegate");
  const hasResult = messages.some(({ role }) => role === "tool");
  if (isSupervisor) return hasResult ? submit() : tool("delegate", { task: "Submit a model." });
  return hasResult
    ? tool("return_result", { summary: "submitted" })
    : shell(`cat > agent.py <<'END'\n${program}\nEND\npython agent.py`);
}

const env = { ...indexVariables(), HF_ENDPOINT: hub.endpoint, OPENAI_API_KEY: LOOPBACK_KEY };
const pipeline = (...args: string[]) =>
  startProgram(repository.path, [...args, "--root", root], { env }).ended;

const taskFile = (task: string) => parse(repository.read(`tasks/${task}/task.yaml`)) as Line;
const axes = (parse(repository.read("pipelines/full-benchmark.yaml")) as Line).axes;
const all = axes.task as string[];
/** Its models miss what is expected of them, and the deep checks load them. */
const always = "edge-llm-compression";
const chosen = process.env.MLRB_TEST_REHEARSED?.split(",") ?? [
  always,
  ...drawn(
    all.filter((task) => task !== always),
    1,
  ),
];
const ready = all.filter((task) => chosen.includes(task) || chosen.includes("all"));
console.log(`rehearsed with MLRB_TEST_REHEARSED=${ready.join(",")}`);
const asked = ["full-benchmark", "--profile", "rehearsal", "--set", `task=${ready.join(",")}`];

test("nothing starts before the sources are locked and accepted and the key is there", async () => {
  const commits = publishSources(hub);
  for (const [source, commit] of Object.entries(commits)) {
    const file = `sources/${source}.yaml`;
    const { revision } = parse(repository.read(file)) as { revision?: string };
    if (revision !== undefined) repository.edit(file, `"${revision}"`, `"${commit}"`);
  }
  const preset = "runners/agents/presets/gpt-4o.yaml";
  repository.edit(preset, "key: OPENAI_API_KEY", `key: OPENAI_API_KEY, baseUrl: "${provider.baseUrl}"`);
  const early = await pipeline("run", ...asked, "--yes");
  assert.equal(early.code, 2, early.stdout);
  assert.match(early.stderr, /unresolved-source/);
  assert.equal(provider.seen.length, 0);
  const locked = await pipeline("sources", "lock");
  assert.equal(locked.code, 0, locked.stdout + locked.stderr);
  const accepted = await pipeline("sources", "accept", "--yes");
  assert.equal(accepted.code, 0, accepted.stderr);
  const { OPENAI_API_KEY: _key, ...keyless } = env;
  const unpaid = await startProgram(repository.path, ["run", ...asked, "--yes", "--root", root], {
    env: keyless,
  }).ended;
  assert.equal(unpaid.code, 2, unpaid.stdout);
  assert.match(unpaid.stderr, /OPENAI_API_KEY/);
  assert.equal(
    hub.requests.filter(({ path }) => path.startsWith("/lfs/")).length,
    0,
    "nothing is downloaded",
  );
});

/** The doubles of these models are near chance, so that what is expected of the real ones can be missed. */
const missing = ready.filter((task) =>
  Object.values((taskFile(task).expected?.official ?? {}) as Record<string, Line>)
    .flatMap((models) => Object.values(models))
    .some(({ kind }) => kind !== "finite"),
);
/** These have no check of their own, and so wait for all. */
const uncovered = ready.filter((task) => Object.keys(taskFile(task).expected?.official ?? {}).length === 0);
const skip = "--skip-reference-models";
/** By the run with the checks: tasks whose check failed, and tasks whose attempt did not start. */
let missed: string[] = [];
let waiting: string[] = [];

test("where reference models miss what is expected of them no attempt starts, and other tasks go on", {
  timeout: 30 * 60_000,
}, async () => {
  const said = await pipeline("run", ...asked, "--yes", "--json");
  assert.equal(said.code, 1, said.stderr);
  const ended = (name: string, outcome: string) =>
    said.lines
      .filter((line) => line.name === name && line.outcome === outcome)
      .map(({ stage }) => /task=([a-z-]+)/.exec(stage)![1]!)
      .sort();
  missed = ended("reference-check", "failed");
  const sure = ready.filter((task) => ["edge-llm-compression", "llm-efficiency"].includes(task));
  assert.ok(
    sure.every((task) => missed.includes(task)),
    missed.join(),
  );
  assert.ok(
    missed.every((task) => missing.includes(task)),
    missed.join(),
  );
  waiting = [...missed, ...uncovered].sort();
  assert.deepEqual(ended("attempt", "skipped"), waiting);
  assert.deepEqual(ended("attempt", "succeeded"), ready.filter((task) => !waiting.includes(task)).sort());
  assert.deepEqual(
    said.lines.filter(({ outcome }) => outcome === "failed").map(({ name }) => name),
    missed.map(() => "reference-check"),
  );
  const official = new Set(waiting.map((task) => taskFile(task).promptDigest.official));
  const read = provider.seen.flatMap(({ messages }) => messages.flatMap(({ text }) => promptsIn(text)));
  assert.ok(
    read.every((digest) => !official.has(digest)),
    "no model reads their prompts",
  );
  assert.equal(read.length > 0, waiting.length < ready.length);
});

test("without that check every stage of the paper ends in tables, one attempt at each task", {
  timeout: 30 * 60_000,
}, async () => {
  const said = await pipeline("run", ...asked, skip, "--yes", "--json");
  const failed = said.lines.filter(({ outcome }) => outcome === "failed");
  assert.equal(said.code, 0, failed.map((line) => JSON.stringify(line)).join("\n") + said.stderr);
  assert.equal(summary(said).outcomes.failed, 0);
  assert.deepEqual(leftovers({ root }), []);
  const { results } = said.lines.findLast(({ event }) => event === "summary")!;
  const report = JSON.parse(readFileSync(join(root, results, "report.json"), "utf8")) as Line;
  assert.deepEqual(report.attempts.map(({ task }: Line) => task).sort(), [...ready].sort());
  for (const { task, scores, verdict } of report.attempts) {
    assert.ok(["pass", "undecided"].includes(verdict.kind), `${task}: ${JSON.stringify(verdict)}`);
    const primary = taskFile(task).primary.official;
    assert.equal(scores[primary].kind, "scored", `${task}: ${JSON.stringify(scores[primary])}`);
    const [least, most] = (parse(repository.read(`scorers/${primary}/scorer.yaml`)) as Line).range;
    assert.ok(scores[primary].value >= least && scores[primary].value <= most, task);
  }
  if (ready.includes("math-reasoning")) {
    const math = report.attempts.find(({ task }: Line) => task === "math-reasoning")!.scores;
    const groups = Object.entries(math["rouge-l"].groups as Line).map(([name, { items }]) => [name, items]);
    assert.deepEqual(Object.fromEntries(groups), { "near-statement": 1, new: 3, "same-statement": 1 });
    assert.equal(math["lean3-compiles"].kind, "not-measured", "no Lean 3 is named");
    assert.match(math["lean3-compiles"].cause, /^scorer\.yaml names no Lean 3 \(command:\)/);
  }
  const unchecked = report.attempts.filter(({ skippedChecks }: Line) => skippedChecks !== undefined);
  assert.deepEqual(unchecked.map(({ task }: Line) => task).sort(), waiting);
  const tables = readFileSync(join(root, results, "report.md"), "utf8");
  const started = new RegExp(
    `\\b${waiting.length} attempts? (was|were) started without a check of reference models`,
  );
  assert.match(tables, started);
  const shown = report.referenceChecks.filter(({ passed }: Line) => !passed).map(({ task }: Line) => task);
  assert.deepEqual(shown.sort(), missed, "the tables show what was missed");
});

test("each agent reads the official prompt, and after it how attempts run here", () => {
  const texts = provider.seen.flatMap(({ messages }) => messages.map(({ text }) => text));
  const digests = new Set(texts.flatMap(promptsIn));
  for (const task of ready) assert.ok(digests.has(taskFile(task).promptDigest.official), task);
});

/** Digests of what may be the official prompt in a text with both. */
function promptsIn(text: string): string[] {
  const parts = text.split("\n\n---\n\n# How this benchmark runs");
  return parts.length === 2 ? endings(parts[0]!).map((ending) => hash("sha256", ending)) : [];
}

/** The text from each of its lines on: a scaffold may write something before the prompt. */
function endings(text: string): string[] {
  const lines = text.split("\n");
  return lines.map((_, at) => lines.slice(at).join("\n"));
}

test("the deep checks pass, with the published models that the run downloaded, but for the network to the real hub", {
  timeout: 10 * 60_000,
}, async () => {
  // models are read from earlier downloads
  const checked = [always, ...ready.filter((task) => task === "mini-pile")];
  const set = ["--set", `task=${checked.join(",")}`, "--only", "download", "--only", "check-*"];
  const said = await pipeline("run", "deep-checks", ...asked.slice(1, 3), ...set, "--json");
  const ends = said.lines.filter(({ event, stage }) => event === "stage" && stage.startsWith("check-"));
  // agents with a full network ask the real hub, which has no rehearsal's files, if it can be reached at all
  const failed = ends.filter(({ outcome }) => outcome === "failed").map(({ stage }) => stage);
  assert.deepEqual(failed, ["check-network[agent=gpt-4o,seed=1,try=1]"], JSON.stringify(ends) + said.stderr);
  assert.equal(said.code, 1);
  const found = (await pipeline("log", "check-models")).stdout;
  assert.match(found, /base: 10 items in [\d.]+ s/);
  if (checked.includes("mini-pile"))
    assert.match(found, /pythia-160m: 10 items in .*[\s\S]*pythia-410m: 10 items in /);
});

test("a second run repeats nothing and asks no model", { timeout: 10 * 60_000 }, async () => {
  const calls = provider.seen.length;
  const again = await pipeline("run", ...asked, skip, "--yes", "--json");
  assert.equal(again.code, 0, again.stderr);
  assert.equal(summary(again).outcomes.succeeded, 0);
  assert.equal(provider.seen.length, calls);
});
