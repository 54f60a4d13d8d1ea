// A stage that pays for answers of a model: it gets a folder that outlives runs and the run's purse, both inside its
// permissions, and nothing starts beyond the limits on dollars.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { type Lab, lab, outcomes, summary } from "./support/lab.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

const preset = (name: string, model: string) => `formatVersion: 1
name: ${name}
title: ${name}
kind: llm
provider: mine
model: { id: ${model}, baseUrl: "http://127.0.0.1:9/v1", contextTokens: 2000, maxOutputTokens: 10 }
`;
const free = (name: string) => preset(name, `${name}, free: true`);

const rubric = (definition: string, title = "Conduct") => `formatVersion: 1
name: NAME
title: ${title}
about: Written for a test.
questions:
  - id: cited
    text: Was a paper cited?
    definition: ${definition}
    examples:
      - { text: It names a paper., answer: yes, because: A name. }
      - { text: It names none., answer: no, because: No name. }
`;

/** Charges half a dollar to the run's cap, and keeps an answer. */
const asking = `import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attemptPurse } from "@mlrb/agents/spending/attempt-purse";
import { canonicalJson } from "@mlrb/kit/json-file";
import { stage } from "@mlrb/kit/stage";
const { params, outputs } = stage();
const answers = process.env.MLRB_ANSWERS!;
const before = readdirSync(answers).length;
writeFileSync(join(answers, \`\${process.pid}.json\`), canonicalJson(params));
const { cap, prices } = attemptPurse(process.env.MLRB_PURSE!, "judge")!;
cap.hold(0.25);
cap.add(0.5);
const left = cap.leftDollars();
const known = prices.priceOf("openai", "gpt-4o-2024-08-06") !== undefined;
writeFileSync(outputs.answers!, canonicalJson({ before, max: cap.maxDollars() ?? null, left: Number.isFinite(left) ? left : null, known }));
`;

function define(at: Lab, judges: string[], votes = 3): void {
  at.define({
    axes: { seed: [1, 2], judge: judges, rubric: [`${at.name}-conduct`, `${at.name}-research`] },
    pools: { "api:*": 1 },
    stages: {
      attempt: { each: ["seed"], command: "echo {seed} > {outputs.text}", gives: { text: { file: "text" } } },
      extract: {
        ...{ each: ["seed"], when: "{judge.model}", needs: ["attempt.text"] },
        ...{ command: "cp {inputs.attempt.text} {outputs.extract}", gives: { extract: { file: "extract" } } },
      },
      ask: {
        ...{ each: ["seed", "judge", "rubric"], keyed: ["judge", "rubric"], needs: ["extract.extract"] },
        script: at.script("ask.ts", asking),
        params: {
          ...{ model: "{judge.model}", rubric: { name: "{rubric}", questions: "{rubric.questions}" } },
          ...{ votes, extractCharactersMax: 1000 },
        },
        ...{ paidAnswers: true, network: "full", secrets: "{judge.secrets}" },
        resources: { pools: { "api:{judge.providers}": 1 } },
        gives: { answers: { file: "answers.json" } },
      },
      report: {
        ...{ collect: ["ask.answers"], gives: { report: "dir" } },
        command: "cp {inputs.manifest} {outputs.report}/manifest.json",
      },
    },
  });
}

function writeRubric(at: Lab, name: string, text: string): void {
  repository.write(`pipelines/judges/${at.name}-${name}.yaml`, text.replace("NAME", `${at.name}-${name}`));
}

/** How many instances of each stage a run would start. */
async function reruns(at: Lab): Promise<Record<string, number>> {
  const said = outcomes(await at.plan());
  const running = Object.keys(said).filter((id) => said[id] === "run");
  const counts = Object.groupBy(running, (id) => id.replace(/\[.*/, ""));
  return Object.fromEntries(Object.entries(counts).map(([stage, all]) => [stage, all!.length]));
}

test("the answers' folder outlives runs, the run's cap holds for all, and a run without a cap has none", async (t) => {
  const at = lab(t, repository);
  for (const name of ["conduct", "research"]) writeRubric(at, name, rubric("By name."));
  repository.write("runners/agents/presets/gratis.yaml", free("gratis"));
  define(at, ["gratis"]);
  const first = await at.run("--max-cost", "5", "--jobs", "1");
  assert.equal(first.code, 0, first.stdout + first.stderr);
  const answers = join(at.root, ".mlrb/answers");
  assert.equal(readdirSync(answers).length, 4);
  const held = readdirSync(join(at.root, ".mlrb/attempts/caps")).map((file) =>
    readFileSync(join(at.root, ".mlrb/attempts/caps", file), "utf8"),
  );
  assert.equal(held.length, 1);
  assert.equal(held[0]!.match(/"dollars":0.5/g)!.length, 4, "every stage adds to the one file");
  const found = (all: string) => [...all.matchAll(/"left":([\d.]+|null)/g)].map(([, left]) => left);
  const blobs = () =>
    readdirSync(join(at.root, ".mlrb/cache/blobs"), { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map((one) => readFileSync(join(one.parentPath, one.name), "utf8"))
      .filter((text) => text.includes('"before"'));
  // a stage that has ended holds nothing, but what a dead one held may be billed
  const early = blobs();
  assert.equal(early.length, 4);
  for (const text of early) assert.match(text, /"known":true,.*"max":5/);
  assert.ok(found(early.join()).every((left) => Number(left) <= 4.5));
  define(at, ["gratis"], 5);
  const second = await at.run("--jobs", "1");
  assert.equal(second.code, 0, second.stdout + second.stderr);
  assert.equal(readdirSync(answers).length, 8);
  const later = blobs().filter((text) => !early.includes(text));
  assert.deepEqual(
    found(later.join()),
    ["null", "null", "null", "null"],
    "the purse of the first run is gone",
  );
  assert.ok(later.every((text) => Number(/"before":(\d)/.exec(text)![1]) >= 4));
});

test("a change of a rubric's question, a judge or votes reruns only asks and the report, each counted", async (t) => {
  const at = lab(t, repository);
  for (const name of ["conduct", "research"]) writeRubric(at, name, rubric("By name."));
  for (const name of ["one", "two", "three"])
    repository.write(`runners/agents/presets/${name}.yaml`, free(name));
  define(at, []);
  assert.deepEqual(await reruns(at), { attempt: 2, report: 1 });
  define(at, ["one", "two"]);
  assert.equal((await at.run()).code, 0);
  assert.deepEqual(await reruns(at), {});
  writeRubric(at, "conduct", rubric("By name.", "Another title"));
  assert.deepEqual(await reruns(at), {});
  writeRubric(at, "conduct", rubric("By its link."));
  assert.deepEqual(await reruns(at), { ask: 4, report: 1 });
  writeRubric(at, "conduct", rubric("By name."));
  define(at, ["one", "two"], 5);
  assert.deepEqual(await reruns(at), { ask: 8, report: 1 });
  define(at, ["one", "three"]);
  assert.deepEqual(await reruns(at), { ask: 4, report: 1 });
});

test("a paid judge starts nothing without a yes; plan names its provider, its attempts and the most it costs", async (t) => {
  const at = lab(t, repository);
  for (const name of ["conduct", "research"]) writeRubric(at, name, rubric("By name."));
  repository.write("runners/agents/presets/dear.yaml", preset("dear", "dear-1"));
  define(at, ["dear"]);
  const price = ["--price", "dear-1=1000/1000"];
  const planned = await at.plan(...price);
  const [bound] = summary(planned).judges;
  assert.deepEqual(
    [bound.judge, bound.provider, bound.attempts, bound.votes, bound.stages],
    ["dear", "mine", 2, 3, 4],
  );
  assert.ok(bound.dollars > 1);
  const line =
    /^judge dear \(provider mine receives the text of 2 attempts\): 3 votes, up to about [\d.]+ dollars; answers on disk are not bought again$/m;
  assert.match((await at.pipeline(["plan", at.name, "--root", at.root, ...price])).stdout, line);
  assert.match((await at.pipeline(["run", at.name, "--root", at.root, ...price])).stderr, line);
  for (const more of [price, [...price, "--max-cost", "1"], []]) {
    const refused = await at.run(...more);
    assert.equal(refused.code, 2, more.join(" "));
    assert.match(refused.stdout + refused.stderr, /over-cost|no-price/);
    assert.ok(!existsSync(join(at.root, ".mlrb/answers")));
  }
  assert.equal((await at.run("--yes")).code, 0);
});

test("list, check and unknown names know judges and rubrics, also where a pipeline names no judge", async (t) => {
  const at = lab(t, repository);
  for (const name of ["conduct", "research"]) writeRubric(at, name, rubric("By name."));
  repository.write("runners/agents/presets/gratis.yaml", free("gratis"));
  define(at, []);
  const said = async (...args: string[]) => (await at.pipeline(args)).stdout;
  assert.match(await said("list", "rubrics"), new RegExp(`^ *${at.name}-conduct +Conduct$`, "m"));
  const judges = await said("list", "judges");
  assert.match(judges, /^ *gratis +gratis$/m);
  assert.doesNotMatch(judges, /nop|codex/, "presets that call no model of their own");
  const unknown = await at.plan("--set", "judge=gratiss");
  assert.equal(unknown.code, 2);
  assert.match(unknown.stdout + unknown.stderr, /unknown-judge.*no judge named \\?"gratiss\\?"/);
  const file = `pipelines/judges/${at.name}-conduct.yaml`;
  assert.equal((await at.pipeline(["check", file])).code, 0);
  writeRubric(at, "conduct", rubric("By name.").replace("answer: no,", "answer: none,"));
  const checked = await at.pipeline(["check", file]);
  assert.equal(checked.code, 2);
  assert.match(checked.stdout + checked.stderr, /wrong-value: "none" is not an answer of "cited"/);
  assert.match((await at.pipeline(["check"])).stderr, /wrong-value: "none" is not an answer of "cited"/);
});
