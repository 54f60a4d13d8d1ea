// What `attempts show`, `list` and `export --format` print for real attempts: recorded, running, lost and
// cut short.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { defineAttempts } from "./support/attempts/attempt-stages.ts";
import { type Lab, lab } from "./support/lab.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

const stage = "attempt[task=empty,agent=tries,seed=1]";
const script = `
printf 'hello \\033[2J\\007 world\\n'
echo '{"id":"one","hypothesis":"words help","change":"more words"}' >> iterations.jsonl
echo words > "$MLRB_SUBMISSION/words.txt"
`;
const attempts = (at: Lab, ...args: string[]) => at.pipeline(["attempts", ...args, "--root", at.root]);

async function attempted(at: Lab, more: { script?: string } = {}): Promise<string> {
  defineAttempts(at, { script, trusted: true, ...more });
  const said = await at.run("--yes");
  assert.equal(said.code, 0, said.stdout + said.stderr);
  return readdirSync(join(at.root, ".mlrb/attempts/records"))[0]!;
}

test("an attempt's story is found by digest and by stage, and contains no terminal control sequences", async (t) => {
  const at = lab(t, repository);
  const digest = await attempted(at);
  const byDigest = await attempts(at, "show", digest.slice(0, 8));
  assert.equal(byDigest.code, 0, byDigest.stderr);
  assert.match(byDigest.stdout, /^iterations {2}1 reported by the agent$/m);
  assert.match(byDigest.stdout, /iteration: one: words help; more words$/m);
  assert.match(byDigest.stdout, /^working time .* of 1 m 0 s \(\d+ %\)$/m);
  assert.match(byDigest.stdout, /- its scores: no report here covers this submission/);
  for (const pattern of [stage, "attempt[agent=tries]", "attempt"])
    assert.equal((await attempts(at, "show", pattern)).stdout, byDigest.stdout);
  const full = await attempts(at, "show", digest, "--all");
  assert.match(full.stdout, /output: hello world$/m);
  assert.doesNotMatch(full.stdout.replaceAll("\n", ""), /\p{Cc}/u);
  const json = await attempts(at, "show", stage, "--json");
  assert.deepEqual([json.lines[0]!.event, json.lines[0]!.digest], ["attempt", digest]);
});

test("an ambiguous or unknown attempt is refused with the fix", async (t) => {
  const at = lab(t, repository);
  defineAttempts(at, { script, trusted: true, seeds: [1, 2] });
  assert.equal((await at.run("--yes")).code, 0);
  const several = await attempts(at, "show", "attempt");
  assert.equal(several.code, 2);
  assert.equal(
    several.stderr,
    `several-attempts: "attempt" matches 2 stages\n  help: one of ${stage}, ${stage.replace("seed=1", "seed=2")}\n`,
  );
  const none = await attempts(at, "show", "nobody");
  assert.equal(none.code, 2);
  assert.equal(
    none.stderr,
    "unknown-attempt: no attempt's digest or ID begins with \"nobody\", and no attempt's stage matches it\n  help: `pnpm pipeline attempts list` shows all 2\n",
  );
});

test("exports are complete, readable files, and a wrong request writes nothing", async (t) => {
  const at = lab(t, repository);
  const digest = await attempted(at);
  const file = join(at.outside, "deep/log.json");
  for (const format of ["inspect", "atif"]) {
    const said = await attempts(at, "export", digest, "--format", format, "--output", file);
    assert.equal(said.code, 0, said.stderr);
    const log = JSON.parse(readFileSync(file, "utf8"));
    if (format === "inspect") {
      assert.equal(log.status, "success");
      assert.equal(log.eval.metadata.mlrb.record, digest);
      const kinds = log.samples[0].events.map(({ event }: { event: string }) => event);
      assert.deepEqual([kinds[0], kinds.includes("span_begin")], ["info", true]);
    } else {
      assert.equal(log.session_id, digest);
      assert.equal(log.extra.incomplete, null);
      // the agent's files may be visible before its program is recorded
      const called = log.steps.find(({ tool_calls }: { tool_calls?: unknown[] }) => tool_calls !== undefined);
      assert.equal(called.tool_calls[0].function_name, "exec");
    }
  }
  assert.deepEqual(readdirSync(join(at.outside, "deep")), ["log.json"]);
  for (const [args, code] of [
    [[digest, "--format", "yaml", "--output", "x"], "unknown-format"],
    [[digest, "--format", "atif"], "no-output"],
    [[digest, digest, "--format", "atif", "--output", "x"], "one-attempt"],
    [["f00", "--format", "atif", "--output", "x"], "unknown-attempt"],
  ] as const) {
    const said = await attempts(at, "export", ...args);
    assert.equal(said.code, 2);
    assert.match(said.stderr, new RegExp(`^${code}: .*\\n {2}help: `));
  }
});

test("the list shows how each attempt ended and what it used, if there is room", async (t) => {
  const at = lab(t, repository);
  const digest = await attempted(at, { script: `${script}exit 3` });
  const list = (columns: string) =>
    at.pipeline(["attempts", "list", "--root", at.root], { env: { COLUMNS: columns } });
  assert.match(
    (await list("300")).stdout,
    new RegExp(
      `^record +started \\(UTC\\) +time +ended +tokens +GPU hours +dollars +pipeline +attempt\n${digest.slice(0, 12)} .* agent-error +- +0\\.0 +0\\.00 `,
    ),
  );
  assert.doesNotMatch((await list("80")).stdout, /agent-error/);
  for (const words of [["attempt[agent=nobody]"], ["--pipeline", "other"], ["--state", "lost"]])
    assert.equal((await attempts(at, "list", ...words)).stdout, "0 attempts\n", words.join(" "));
  for (const words of [[digest.slice(0, 8)], [stage], ["attempt[agent=tries]", "--state", "recorded"]])
    assert.match((await attempts(at, "list", ...words)).stdout, /^1 attempt/m, words.join(" "));
  const json = await attempts(at, "list", "--json");
  assert.deepEqual([json.lines[0]!.ended, json.lines[0]!.tokens], ["agent-error", null]);
});

test("a running attempt and a lost attempt are shown as such", async (t) => {
  const at = lab(t, repository);
  defineAttempts(at, { script: `${script}touch '${at.outside}/on'; exec sleep 60`, trusted: true });
  const run = at.start(["run", at.name, "--yes", "--root", at.root]);
  const running = join(at.root, ".mlrb/attempts/running");
  while (!existsSync(join(at.outside, "on"))) await new Promise((resolve) => setTimeout(resolve, 50));
  const going = await attempts(at, "show", stage);
  assert.equal(going.code, 0, going.stderr);
  assert.match(going.stdout, /- its end: the attempt is still running/);
  assert.match(going.stdout, /- the budget that it used: it has no ledger/);
  const file = join(at.outside, "log.json");
  assert.equal((await attempts(at, "export", stage, "--format", "inspect", "--output", file)).code, 0);
  assert.equal(JSON.parse(readFileSync(file, "utf8")).status, "started");
  assert.match((await attempts(at, "list")).stdout, /^running .*\n0 attempts, 1 running\n$/);

  const name = readdirSync(running)[0]!;
  const byId = await attempts(at, "show", name.slice(0, 12));
  assert.match(byId.stdout, /- its end: the attempt is still running/, byId.stderr);
  const card = readFileSync(join(running, name, "attempt.json"), "utf8");
  const trajectory = readFileSync(join(running, name, "out/trajectory.jsonl"), "utf8");
  run.child.kill("SIGTERM");
  assert.equal((await run.ended).code, 130);
  // as quarantine leaves an attempt whose supervisor was killed during a write
  const lost = join(at.root, ".mlrb/attempts/lost", name);
  mkdirSync(join(lost, "out"), { recursive: true });
  writeFileSync(join(lost, "attempt.json"), card);
  writeFileSync(join(lost, "out/trajectory.jsonl"), trajectory.slice(0, -20));
  const told = await attempts(at, "show", stage);
  assert.equal(told.code, 0, told.stderr);
  assert.match(told.stdout, new RegExp(`^lost +${name}$`, "m"));
  assert.match(told.stdout, /- the rest of the trajectory: line \d+: it is cut off in the middle of a line/);
  assert.match(told.stdout, /its supervisor disappeared, so nothing was measured/);
  assert.equal((await attempts(at, "export", name, "--format", "inspect", "--output", file)).code, 0);
  assert.equal(JSON.parse(readFileSync(file, "utf8")).status, "error");
});
