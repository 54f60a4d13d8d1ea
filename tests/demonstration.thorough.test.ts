// The attempt that docs/agents.md demonstrates: a language model does research on a task of the benchmark
// through its tools, in a sandbox. The sample repeats authored attempts without a provider and a key.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { bubblewrapMissing } from "@mlrb/agents/sandbox/bubblewrap-abilities";
import type { Ledger } from "@mlrb/formats/attempt/ledger";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { copyBenchmarkState } from "./support/benchmark-state.ts";
import { indexVariables, playDemonstration, stageOf } from "./support/demonstration/play.ts";
import { recordsIn } from "./support/end-state.ts";
import { leftovers } from "./support/lab.ts";
import { type Line, startProgram } from "./support/run-program.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
const above = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-demonstration-")));
const root = join(above, "root");
after(() => {
  repository.remove();
  removeFolder(above);
});
await copyBenchmarkState(root);
const skip = (await bubblewrapMissing()) ?? false;

const report = (agent: string): Line =>
  JSON.parse(
    readFileSync(
      join(root, `results/full-benchmark/smoke+agent=${agent},seed=1,task=baby-lm`, "report.json"),
      "utf8",
    ),
  );
const attemptOf = (agent: string) => (report(agent).attempts as Line[]).find((one) => one.agent === agent)!;
const ledgerOf = (agent: string): Ledger => {
  const held = recordsIn(root).find(({ record }) => stageOf(record).includes(`agent=${agent}`));
  return JSON.parse(
    readFileSync(join(root, ".mlrb/attempts/records", held!.digest, "ledger.json"), "utf8"),
  ) as Ledger;
};
/** The commands of the first block below a heading of docs/agents.md, as words without `./mlrb`. */
function guideCommands(heading: string): string[][] {
  const text = readFileSync(join(import.meta.dirname, "../docs/agents.md"), "utf8");
  const block = text.slice(text.indexOf(heading)).split("```")[1]!;
  return [...block.matchAll(/^\.\/mlrb (.+)$/gm)].map(([, line]) =>
    [...line!.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => (quoted ?? bare)!),
  );
}

test("a model trains, evaluates and submits through its tools, and is judged and scored like any agent", {
  skip,
  timeout: 20 * 60_000,
}, async () => {
  const { said, seen } = await playDemonstration(repository, root);
  assert.equal(said.code, 0, said.stdout + said.stderr);
  assert.equal(seen, 9);
  const attempt = attemptOf("scripted-model");
  assert.equal(attempt.verdict.kind, "pass", JSON.stringify(attempt.verdict));
  assert.equal(attempt.scores["bits-per-byte"].kind, "scored", JSON.stringify(attempt.scores));
  assert.ok(attempt.scores["bits-per-byte"].value < 4);
  const ledger = ledgerOf("scripted-model");
  assert.equal(ledger.usage?.calls, 9);
  assert.equal(ledger.dollars, 0);
  assert.deepEqual(leftovers({ root }), []);
});

test("the guide's sample replays an authored attempt without a key, and show says that no model was called", {
  skip,
  timeout: 20 * 60_000,
}, async () => {
  const [run, show] = guideCommands("## Without a key");
  const follow = (words: string[]) =>
    startProgram(repository.path, [...words, "--root", root], { env: indexVariables() }).ended;
  const said = await follow([...run!, "--set", "task=baby-lm", "--set", "agent=sample-a", "--set", "seed=1"]);
  assert.equal(said.code, 0, said.stdout + said.stderr);
  const told = await follow(show!);
  assert.equal(told.code, 0, told.stdout + told.stderr);
  const story = told.stdout.replace(/\s+/g, " "); // it is wrapped
  assert.match(story, /pieces \(reported by the agent\).*held-out bits per byte on every tenth text \d\.\d/);
  assert.match(story, /replayed from an authored recording, no model was called/);
  assert.match(story, /bits-per-byte/);
});
