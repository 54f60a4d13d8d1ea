// A person's decision on a rule changes the tables, and nothing else runs again.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { readReport as readFile } from "../runners/cli/src/show/read-report.ts";
import { answersOf } from "../runners/report/src/testing/judge-example.ts";
import { counted, filesBelow, type Lab, lab, outcomes, summary } from "./support/lab.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

const axes = ["task", "agent", "seed"];
const verdict = {
  formatVersion: 1,
  kind: "undecided",
  rules: [
    {
      ...{ rule: "from-scratch", title: "Trained from scratch", answer: "undecided", evidence: "packed" },
      ...{ source: "official", severity: "disqualify" },
    },
  ],
  facts: {},
};
const score = {
  ...{ formatVersion: 1, scorer: "quality", version: 1, unit: "share", direction: "higher", kind: "scored" },
  ...{ value: 0.5, standardError: 0.1, items: 4, groups: {}, extra: {} },
};

/** One attempt at baby-lm with an undecided rule, its score and a report. */
async function reported(t: TestContext) {
  const at = lab(t, repository);
  for (const [name, value] of Object.entries({ verdict, score }))
    at.script(`${name}.json`, JSON.stringify(value));
  const copied = (name: string) => ({
    each: axes,
    needs: ["attempt.submission"],
    files: [`${at.name}/${name}.json`],
    command: counted(at, name, `cp ${at.name}/${name}.json {outputs.${name}}`),
    gives: { [name]: "file" },
  });
  at.define({
    axes: { task: ["baby-lm"], agent: ["nop"], seed: [1], scorer: ["quality"] },
    stages: {
      attempt: {
        ...{ role: "attempt", each: axes, durable: true, gives: { submission: "file" } },
        command: counted(at, "attempt", "echo made > {outputs.submission}"),
      },
      validate: { role: "verdict", ...copied("verdict") },
      score: { role: "score", ...copied("score"), each: [...axes, "scorer"] },
      report: {
        collect: ["score.score", "validate.verdict", "digest(attempt.submission)"],
        roles: ["attempt", "verdict", "score"],
        script: "pipelines/steps/report.ts",
        params: {
          ...{ title: "Decided", label: "test", tasks: { "baby-lm": "Baby" }, agents: {} },
          ...{ primary: { "baby-lm": "quality" }, baselines: { "baby-lm": { quality: 0.1 } } },
          ...{ scorers: { quality: "quality" }, units: { quality: "share" } },
          ...{ directions: { quality: "higher" }, digits: { quality: 2 } },
        },
        gives: { report: "dir" },
      },
    },
  });
  const said = await at.run();
  assert.equal(said.code, 0, said.stderr);
  const [record] = readdirSync(join(at.root, ".mlrb/attempts/records"));
  return { at, record: record!, profile: summary(said).profile as string };
}

const attempts = (at: Lab, root: string, ...args: string[]) =>
  at.pipeline(["attempts", ...args, "--root", root]);
const decide = (
  at: Lab,
  what: string,
  verdict: string,
  reason: string,
  root = at.root,
  rule = "from-scratch",
) =>
  attempts(
    at,
    root,
    "adjudicate",
    what,
    "--rule",
    rule,
    "--verdict",
    verdict,
    "--by",
    "Ada",
    "--reason",
    reason,
  );

function report(at: Lab, profile: string, root = at.root) {
  const reading = readFile(join(root, "results", at.name, profile, "report.json"));
  assert(reading.kind === "ok");
  const [attempt] = reading.value.attempts;
  assert(attempt!.verdict.kind !== "missing");
  return { verdict: attempt!.verdict, decisions: attempt!.decisions, mean: reading.value.cells[0]!.mean };
}

test("a decision makes only the report run again, each new one does, and all are kept", async (t) => {
  const { at, record, profile } = await reported(t);
  assert.deepEqual([report(at, profile).verdict.kind, report(at, profile).mean], ["undecided", 0.5]);
  const records = filesBelow(join(at.root, ".mlrb/attempts/records"));
  const said = await decide(at, record.slice(0, 8), "fail", "a copy\u001b[31m of\nthe base");
  assert.equal(said.code, 0, said.stderr);
  assert.match(said.stdout, /^ {2}from-scratch: fail, by Ada: a copy \[31m of the base$/m);
  const run = await at.run();
  assert.deepEqual(outcomes(run), {
    "attempt[task=baby-lm,agent=nop,seed=1]": "reused",
    "validate[task=baby-lm,agent=nop,seed=1]": "reused",
    "score[task=baby-lm,agent=nop,seed=1,scorer=quality]": "reused",
    report: "succeeded",
  });
  const first = report(at, profile);
  assert.deepEqual(
    [first.verdict.kind, first.verdict.machine, first.mean],
    ["disqualified", "undecided", 0.1],
  );
  assert.equal((await decide(at, "attempt", "pass", "looked again")).code, 0);
  const only = await at.run("--only", "report");
  assert.equal(outcomes(only).report, "succeeded", "also where the attempt is outside the selection");
  const second = report(at, profile);
  assert.deepEqual([second.verdict.kind, second.mean], ["pass", 0.5]);
  assert.deepEqual(
    second.decisions!.map(({ verdict, counts }) => [verdict, counts]),
    [
      ["fail", false],
      ["pass", true],
    ],
  );
  assert.equal(outcomes(await at.run()).report, "reused");
  assert.deepEqual(at.executions(), { attempt: 1, score: 1, verdict: 1 });
  assert.deepEqual(filesBelow(join(at.root, ".mlrb/attempts/records")), records);
  const listed = await attempts(at, at.root, "list");
  assert.match(listed.stdout, / {2}pass \(machine: undecided\); from-scratch decided pass by Ada/);
  const shown = await attempts(at, at.root, "show", record.slice(0, 8));
  assert.match(shown.stdout, /verdict: pass \(machine: undecided\)/);
  assert.match(shown.stdout, /^from-scratch, decided by a person: fail, by Ada \(not used\): a copy/m);
});

test("an archive carries decisions; they count with its records, and never against a decision made here", async (t) => {
  const { at, record, profile } = await reported(t);
  assert.equal((await decide(at, record, "fail", "theirs")).code, 0);
  const archive = join(at.outside, "archive");
  const exported = await attempts(at, at.root, "export", archive);
  assert.equal(exported.stdout, "1 attempt exported, 1 decision\n");
  const fresh = join(at.outside, "fresh");
  const imported = await attempts(at, fresh, "import", archive);
  assert.equal(imported.stdout, "1 attempt imported\n1 decision imported\n", imported.stderr);
  const run = () => at.pipeline(["run", at.name, "--json", "--root", fresh]);
  assert.equal((await run()).code, 0);
  const origin = { kind: "imported", signedBy: null };
  const first = report(at, profile, fresh);
  assert.deepEqual([first.verdict.kind, first.decisions![0]!.origin], ["disqualified", origin]);
  assert.equal((await decide(at, record, "pass", "ours", fresh)).code, 0);
  await run();
  assert.equal(report(at, profile, fresh).verdict.kind, "pass");
  assert.equal(
    (await attempts(at, fresh, "import", archive)).stdout,
    "0 attempts imported, 1 already here\n",
  );
  await run();
  assert.equal(report(at, profile, fresh).verdict.kind, "pass");
  assert.equal((await attempts(at, fresh, "import", archive, "--prefer-imported")).code, 0);
  await run();
  const preferred = report(at, profile, fresh);
  assert.deepEqual([preferred.verdict.kind, preferred.decisions!.length], ["disqualified", 2]);
  assert.deepEqual(at.executions().attempt, 1);
});

test("a forged decision on a record that was made here is shown and changes nothing", async (t) => {
  const { at, record, profile } = await reported(t);
  const archive = join(at.outside, "archive");
  assert.equal((await attempts(at, at.root, "export", archive)).code, 0);
  const forged = {
    ...{ formatVersion: 1, record, rule: "from-scratch", verdict: "fail", by: "Ada", reason: "forged" },
    decidedAt: "2026-01-01T00:00:00Z",
  };
  writeFileSync(join(archive, "adjudications.jsonl"), `${JSON.stringify(forged)}\n`);
  assert.equal((await attempts(at, at.root, "import", archive)).code, 0);
  await at.run();
  const found = report(at, profile);
  assert.deepEqual(
    [found.verdict.kind, found.decisions!.map(({ counts }) => counts)],
    ["undecided", [false]],
  );
});

test("the look-ahead rule, which no task lists, can be decided", async (t) => {
  const { at, record, profile } = await reported(t);
  const said = await decide(at, record, "fail", "it copies the next token", at.root, "no-look-ahead");
  assert.equal(said.code, 0, said.stderr);
  await at.run();
  assert.deepEqual(
    report(at, profile).decisions!.map(({ rule, counts }) => [rule, counts]),
    [["no-look-ahead", true]],
  );
});

test("a person lists what to decide on, decides on a judge's question, and no verdict or mean changes", async (t) => {
  const { at, record, profile } = await reported(t);
  const listed = () => attempts(at, at.root, "adjudicate", "--judged", at.name);
  assert.match((await listed()).stdout, /^0 attempts; /m, "no judge answered");
  const path = join(at.root, "results", at.name, profile, "report.json");
  const place = { task: "baby-lm", agent: "nop", seed: 1, family: null };
  const judged = { attempts: [{ ...place, answers: answersOf({ teacher: "yes" }) }], checks: [] };
  const written = JSON.parse(readFileSync(path, "utf8")) as object;
  writeFileSync(path, JSON.stringify({ ...written, judged }));
  const first = await listed();
  assert.equal(first.code, 0, first.stderr);
  assert.match(first.stdout, new RegExp(`^${record.slice(0, 12)}  baby-lm  no extract here\n`));
  assert.match(first.stdout, /^1 attempt; decide on each: .*\bconduct\.teacher\b/m);
  const before = report(at, profile);
  const said = await decide(at, record, "fail", "it used a teacher", at.root, "conduct.teacher");
  assert.equal(said.code, 0, said.stderr);
  assert.match((await listed()).stdout, /; decided: conduct\.teacher\n/);
  assert.equal(outcomes(await at.run()).report, "succeeded");
  const after = report(at, profile);
  assert.deepEqual([after.verdict, after.mean], [before.verdict, before.mean]);
  assert.deepEqual(
    after.decisions!.map(({ rule, counts }) => [rule, counts]),
    [["conduct.teacher", true]],
  );
});

test("an unknown attempt, rule or verdict and a long text are refused together, and nothing is written", async (t) => {
  const { at, record } = await reported(t);
  const said = await decide(at, record, "passed", "x".repeat(1001), at.root, "from-scrach");
  const unknown = await decide(at, "f00d", "pass", "no such record");
  const blank = await decide(at, record, "pass", "  ");
  assert.deepEqual([said.code, unknown.code, blank.code], [2, 2, 2]);
  const text = `${said.stderr}---\n${unknown.stderr}---\n${blank.stderr}`;
  const golden = join(import.meta.dirname, "golden/adjudicate.txt");
  if (process.env.UPDATE_GOLDEN) writeFileSync(golden, text);
  assert.equal(text, readFileSync(golden, "utf8"));
  assert.ok(!readdirSync(join(at.root, ".mlrb/attempts")).includes("adjudications.jsonl"));
});
