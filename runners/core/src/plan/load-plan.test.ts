import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import type { Sources } from "../spec/manifest.ts";
import { memorySources, repository } from "../testing/memory-sources.ts";
import { type Diagnostic, renderDiagnostic, sortDiagnostics } from "../yaml/diagnostic.ts";
import { parseYaml } from "../yaml/yaml-source.ts";
import { loadPlan, type PlanRequest, type PlanResult } from "./load-plan.ts";
import type { Plan } from "./plan.ts";

const file = "pipelines/test.yaml";

function load(
  text: string,
  request: Partial<PlanRequest> = {},
  files: Record<string, string> = {},
): PlanResult {
  return loadPlan({ file, ...request }, memorySources({ ...repository, [file]: text, ...files }), ["local"]);
}

function problemsOf(text: string): string {
  const result = load(text);
  return "plan" in result ? "no problems" : result.problems.map(renderDiagnostic).join("\n");
}

const valid = `formatVersion: 1
name: test
title: A test
axes:
  task: [reading, writing]
  agent: [basic, idle]
  seed: [1, 2]
  scorer: { of: task, field: "scorers.{params.data}" }
params: { data: smoke }
pools: { "api:openai": 4 }
profiles:
  smoke: { default: true, limits: { time: 30m }, pools: { "api:openai": 2 } }
  paper: { extends: smoke, axes: { seed: [1] }, params: { data: official }, stages: { attempt: { resources: { memory: 1GiB } } } }
stages:
  data:
    each: [task]
    script: tasks/{task}/task.yaml
    params: { source: "{params.data}" }
    gives: { public: dir, private: { dir: true, private: true } }
  attempt:
    each: [task, agent, seed]
    script: steps/a.ts
    needs: [data.public]
    params: { kind: "{agent.kind}", program: "{agent.program}" }
    gives: { submission: dir, ledger: { file: ledger.json } }
    durable: true
    untrusted: true
    budget: { time: "{task.budget.smoke.time}" }
    resources: { cpus: 0.5, memory: 2GiB, pools: { "api:{agent.provider}": 1 } }
  score:
    each: [task, agent, seed, scorer]
    keyed: [task, scorer]
    python: steps/measure.py
    environment: "{scorer.environment}"
    needs: { model: attempt.submission, data: data.private }
    env: { UNIT: "{scorer.unit}" }
    opens: untrusted
    gives: { score: { file: score.json } }
    releases: [score]
    network: none
  report:
    collect: [score.score, attempt.ledger]
    command: [make, "{inputs.manifest}", "{outputs.report}"]
    params: { titles: "{task.title}" }
    gives: { report: dir }
`;

test("the pipeline that the tests below modify is valid", () => {
  assert.equal(problemsOf(valid), "no problems");
});

// ——— what bytes a file may hold ———

test("Windows line ends and a byte-order mark change neither the plan nor the places of problems", () => {
  assert.deepEqual(load(`\ufeff${valid.replaceAll("\n", "\r\n")}`), load(valid));
  const wrong = valid.replace("untrusted: true", "untrused: true");
  assert.equal(problemsOf(`\ufeff${wrong.replaceAll("\n", "\r\n")}`), problemsOf(wrong));
});

test("a file that is not UTF-8 is refused at the first bad character", () => {
  const latin1 = new TextDecoder().decode(
    Buffer.from("formatVersion: 1\nname: test\ntitle: Fran\u00e7ois\n", "latin1"),
  );
  assert.equal(
    problemsOf(latin1),
    [
      "pipelines/test.yaml:3:12 not-utf8: the file is not UTF-8 text",
      "  3 | title: Fran\ufffdois",
      "    |            ^",
      "  help: save it as UTF-8",
    ].join("\n"),
  );
});

test("no content of a file reaches the terminal as a control sequence", () => {
  const hostile = ["\u001b[31m", "\u0000", "\u0007", "\u009b2J", "\u202e", "\u200b", "\ud800"];
  for (const text of hostile) {
    for (const where of [
      `name: "${text}"`,
      `"${text}": 1`,
      `title: ${text}`,
      `axes: { seed: ["${text}"] }`,
    ]) {
      const shown = problemsOf(`formatVersion: 1\n${where}\nstages: {}\n`);
      assert.doesNotMatch(shown.replaceAll("\n", ""), /[\p{Cc}\p{Cf}\p{Cs}]/u, JSON.stringify(where));
    }
  }
  const escaped = `formatVersion: 1\n"\\e[31m\\u202E": 1\nname: test\nstages: { make: { script: "\\e[2J" } }\n`;
  assert.doesNotMatch(problemsOf(escaped).replaceAll("\n", ""), /[\p{Cc}\p{Cf}]/u);
});

test("a long line is cut around the problem and the caret stays under it", () => {
  const long = `formatVersion: 1\nname: test\nparams: { a: ${"x".repeat(5000)}, A: 1, b: ${"y".repeat(5000)} }\nstages: { make: { script: steps/a.ts } }\n`;
  const [head, excerpt, caret] = problemsOf(long).split("\n");
  assert.equal(head, 'pipelines/test.yaml:3:5016 bad-name: "A" is not a name');
  assert(excerpt!.length < 120);
  assert.equal(excerpt![caret!.indexOf("^")], "A");
});

test("wide letters and marks leave the caret under the word", () => {
  const place = { file: "f", line: 1, column: 8, excerpt: "名前e\u0301: x y", length: 1 };
  assert.equal(
    renderDiagnostic({ code: "c", message: "m", place }),
    "f:1:8 c: m\n  1 | 名前e\u0301: x y\n    |         ^",
  );
});

test("a message of a megabyte is shortened", () => {
  assert(problemsOf(`formatVersion: 1\nname: test\n${"k".repeat(1_000_000)}: 1\nstages: {}\n`).length < 2000);
});

test("names of properties that every object has are ordinary names", () => {
  const text = `formatVersion: 1
name: test
axes: { constructor: [1, 2], valueOf: [3] }
params: { toString: 5 }
profiles: { constructor: { default: true, stages: { toString: { limits: { time: 1m } } } } }
stages:
  constructor: { each: [constructor], script: steps/a.ts, gives: { hasOwnProperty: dir }, params: { p: "{constructor}" } }
  toString: { each: [constructor, valueOf], script: steps/a.ts, needs: [constructor.hasOwnProperty], gives: { constructor: file } }
  valueOf: { collect: [toString.constructor], script: steps/b.ts, env: { __proto__: x, constructor: "{params.toString}" } }
`;
  const result = load(text, { set: { valueOf: ["3"] } });
  assert("plan" in result, problemsOf(text));
  assert.deepEqual(
    result.plan.instances.map(({ id }) => id),
    [
      "constructor[constructor=1]",
      "constructor[constructor=2]",
      "toString[constructor=1,valueOf=3]",
      "toString[constructor=2,valueOf=3]",
      "valueOf",
    ],
  );
  assert.deepEqual(Object.entries(result.plan.instances.at(-1)!.action.env), [
    ["__proto__", "x"],
    ["constructor", "5"],
  ]);
  assert.equal(result.plan.instances[2]!.execution.limits.timeMs, 60_000);
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
});

// ——— every problem, whatever is wrong ———

test("problems are sorted by place and reported once", () => {
  const slips = valid
    .replace("script: steps/a.ts", "script: steps/c.ts")
    .replace("[task, agent, seed]", "[task, agent, sed]")
    .replace("30m", "30")
    .replace('source: "{params.data}"', 'source: "{params.dat}"')
    .replace("data.private }", "data.privat }");
  const result = load(slips);
  assert("problems" in result);
  const codes = result.problems.map(({ code, place }) => `${place?.line} ${code}`);
  assert.deepEqual(codes, [
    "12 missing-unit",
    "18 unknown-placeholder",
    "21 unknown-axis",
    "22 unknown-file",
    "35 unknown-output",
  ]);
  assert.deepEqual(sortDiagnostics([...result.problems].reverse()), result.problems);
});

test("a time limit that would end an attempt before its budget is a problem, wherever it is written", () => {
  const [short, long] = ["10m", "11m"].map((time) =>
    valid.replace("limits: { time: 30m }", `limits: { time: ${time} }`),
  );
  const result = load(short!);
  assert("problems" in result);
  const texts = result.problems.map(renderDiagnostic);
  assert.equal(texts.length, 1, texts.join());
  assert.match(
    texts[0]!,
    /:12:\d+ limit-under-budget: "attempt" is stopped as failed after 10 m 0 s, before its budget of 10 m 0 s/,
  );
  assert("plan" in load(long!));
});

test("a profile changes parts of a stage's budget, and keeps the others", () => {
  const profiled = valid.replace(
    "attempt: { resources: { memory: 1GiB } }",
    "attempt: { budget: { dollars: 3 } }",
  );
  const [result, before] = [load(profiled, { profile: "paper" }), load(valid, { profile: "paper" })];
  assert("plan" in result && "plan" in before, problemsOf(profiled));
  const budget = ({ instances }: Plan) =>
    instances.find(({ stage }) => stage.name === "attempt")!.action.budget;
  assert.deepEqual(budget(result.plan), { ...budget(before.plan), dollars: 3 });
  assert.ok(budget(before.plan).timeMs);
});

test("a profile's times are of its stages and environments, and a profile that extends it has none of them", () => {
  const timed = valid.replace(
    "smoke: { default: true,",
    "smoke: { default: true, takes: { environment: 1m30s, attempt: 500ms },",
  );
  const takes = (profile: string) => {
    const result = load(timed, { profile });
    assert("plan" in result, problemsOf(timed));
    return result.plan.takesMs;
  };
  assert.deepEqual(takes("smoke"), { environment: 90_000, attempt: 500 });
  assert.deepEqual(takes("paper"), {});
  const wrong = load(timed.replace("attempt: 500ms", "atempt: 500ms"));
  assert("problems" in wrong);
  assert.deepEqual(
    wrong.problems.map(({ code, help }) => [code, help]),
    [["unknown-stage", 'did you mean "attempt"?']],
  );
  assert.match(problemsOf(timed.replace("500ms", "5")), /5 is not a duration|duration/);
});

test("startBy names an axis of the stage", () => {
  const started = valid.replace("each: [task, agent, seed]", "each: [task, agent, seed]\n    startBy: agent");
  assert.notEqual(started, valid);
  const result = load(started);
  assert("plan" in result, problemsOf(started));
  const attempt = result.plan.instances.find(({ stage }) => stage.each.includes("seed"))!;
  assert.deepEqual(attempt.execution.startBy, ["agent"]);
  const wrong = load(started.replace("startBy: agent", "startBy: agnt"));
  assert("problems" in wrong);
  assert.deepEqual(
    wrong.problems.map(({ code, message, help }) => [code, message, help]),
    [["unknown-axis", 'the stage has no axis "agnt" to start by', 'did you mean "agent"?']],
  );
});

test("a stage that is like another one starts by those of its axes that it has", () => {
  const like = `  once:\n    like: attempt\n    role: host-check\n    each: [agent]\n    needs: []\n    durable: false\n    budget: {}\n`;
  const text = valid
    .replace("each: [task, agent, seed]", "each: [task, agent, seed]\n    startBy: [task, agent]")
    .replace(/^stages:\n/m, `stages:\n${like}`);
  const result = load(text);
  assert("plan" in result, problemsOf(text));
  const startBy = (name: string) =>
    result.plan.instances.find(({ stage }) => stage.name === name)!.execution.startBy;
  assert.deepEqual([startBy("attempt"), startBy("once")], [["task", "agent"], ["agent"]]);
});

function checkPlaces(problems: Diagnostic[], texts: Record<string, string>): void {
  assert(problems.length > 0, "no plan without a problem that says why");
  for (const problem of problems) {
    assert.match(problem.code, /^[a-z]+(-[a-z0-9]+)*$/);
    assert.equal(typeof renderDiagnostic(problem), "string");
    if (!problem.place) continue;
    const { file, line, column, excerpt, length } = problem.place;
    const written = texts[file]!.replace(/^\ufeff/, "").split("\n")[line - 1];
    assert.equal(excerpt, written?.replace(/\r$/, ""), `line ${line} of ${file}`);
    assert(column >= 1 && column <= excerpt.length + 1, `column ${column} of ${JSON.stringify(excerpt)}`);
    assert(length >= 1);
  }
}

const lines = valid.split("\n");
const line = fc.nat({ max: lines.length - 1 });
const words = [
  "task",
  "each",
  "needs",
  "stages:",
  "{task}",
  "[",
  "]",
  "{",
  "}",
  ":",
  "- ",
  "&a",
  "*a",
  "null",
  "~",
  "1",
  "24",
  "true",
  '"',
  "'",
  "|",
  ">",
  "#",
  "!!x",
  "<<: *a",
  "? ",
  "\t",
  "data.public",
  "report",
  "__proto__",
  "constructor",
  ".inf",
  "%",
  "@",
  "`",
  "\u0000",
  "\ufffd",
  "😀",
];
const edit = fc.oneof(
  line.map((at) => (text: string[]) => text.toSpliced(at, 1)),
  fc.tuple(line, line).map(
    ([from, to]) =>
      (text: string[]) =>
        text.toSpliced(to, 0, text[from] ?? ""),
  ),
  fc.tuple(line, line).map(
    ([from, to]) =>
      (text: string[]) =>
        text.with(to % text.length, text[from] ?? ""),
  ),
  fc.tuple(line, fc.nat(80), fc.constantFrom(...words)).map(
    ([at, column, word]) =>
      (text: string[]) =>
        text.map((one, index) => (index === at ? one.slice(0, column) + word + one.slice(column) : one)),
  ),
  fc.tuple(line, fc.nat(80), fc.nat(8)).map(
    ([at, column, length]) =>
      (text: string[]) =>
        text.map((one, index) => (index === at ? one.slice(0, column) + one.slice(column + length) : one)),
  ),
  fc.tuple(line, fc.constantFrom(...words)).map(
    ([at, word]) =>
      (text: string[]) =>
        text.map((one, index) => (index === at ? one.replace(/: .*$/, `: ${word}`) : one)),
  ),
  line.map((at) => (text: string[]) => text.slice(0, at + 1)),
);

test("a Python stage whose manifest names no environment is refused, unless its manifest is broken", () => {
  const codes = (environment: string, files: Record<string, string> = {}) => {
    const result = load(valid.replace("{scorer.environment}", environment), {}, files);
    return "plan" in result ? [] : result.problems.map(({ code }) => code);
  };
  assert.deepEqual(codes("{task.environment}"), ["no-environment"]);
  const scorers = Object.entries(repository).filter(([path]) => path.startsWith("scorers/"));
  const broken = Object.fromEntries(scorers.map(([path, text]) => [path, `${text}  : [\n`]));
  assert.deepEqual([...new Set(codes("{scorer.environment}", broken))].includes("no-environment"), false);
});

test("no edit of a pipeline makes loading throw, and without a plan there are problems at existing places", () => {
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 4 }), (edits) => {
      const text = edits.reduce((now, change) => (now.length > 0 ? change(now) : now), lines).join("\n");
      const result = load(text);
      if ("problems" in result) checkPlaces(result.problems, { ...repository, [file]: text });
    }),
    { numRuns: 600 },
  );
});

test("no edit of a task makes loading throw", () => {
  const path = "tasks/reading/task.yaml";
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
      const before = repository[path]!.split("\n");
      const text = edits.reduce((now, change) => (now.length > 0 ? change(now) : now), before).join("\n");
      const result = load(valid, {}, { [path]: text });
      if ("problems" in result) checkPlaces(result.problems, { ...repository, [file]: valid, [path]: text });
    }),
    { numRuns: 250 },
  );
});

test("no bytes make loading throw", () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 80 }).map((array) => new TextDecoder().decode(array)),
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.json().map((json) => `formatVersion: 1\nname: test\nstages: ${json}\n`),
    fc.json().map((json) => valid.replace("[task, agent, seed]", json)),
    fc.json().map((json) => valid.replace("{ model: attempt.submission, data: data.private }", json)),
  );
  fc.assert(
    fc.property(bytes, (text) => {
      const result = load(text);
      if ("problems" in result) checkPlaces(result.problems, { ...repository, [file]: text });
    }),
    { numRuns: 400 },
  );
});

// ——— size; `pnpm bench --huge` measures the speed ———

test("a file of ten thousand lines is read whole, right or wrong", () => {
  const stages = Array.from(
    { length: 2500 },
    (_, index) =>
      `  s${index}:\n    script: steps/a.ts\n    gives: { o: dir }\n    needs: [${index > 0 ? `s${index - 1}.o` : ""}]\n`,
  ).join("");
  const text = `formatVersion: 1\nname: test\nstages:\n${stages}`;
  assert.equal(problemsOf(text), "no problems");
  const slips = load(text.replaceAll("script", "scirpt"));
  assert("problems" in slips && slips.problems.length === 2500);
  const cycle = load(text.replace("needs: []", "needs: [s2499.o]"));
  assert("problems" in cycle && cycle.problems.length === 1);
  assert.equal(cycle.problems[0]!.place!.line, 7);
});

test("a hundred thousand instances are planned", () => {
  const seeds = Array.from({ length: 12_500 }, (_, index) => index).join(", ");
  const text = `formatVersion: 1
name: test
axes: { task: [reading], scorer: { of: task, field: scorers.smoke }, agent: [basic, idle], seed: [${seeds}] }
stages:
  data: { each: [task], script: steps/a.ts, gives: { public: dir } }
  attempt:
    each: [task, agent, seed]
    script: steps/a.ts
    needs: [data.public]
    params: { kind: "{agent.kind}", program: "{agent.program}" }
    gives: { submission: dir }
  validate: { each: [task, agent, seed], script: steps/a.ts, needs: [attempt.submission, data.public], gives: { verdict: file } }
  score:
    each: [task, agent, seed, scorer]
    script: steps/b.ts
    needs: [attempt.submission, validate.verdict, data.public]
    params: { unit: "{scorer.unit}" }
    gives: { score: file }
  report: { collect: [score.score, validate.verdict], script: steps/b.ts }
`;
  const result = load(text);
  assert("plan" in result);
  assert.equal(result.plan.instances.length, 1 + 4 * 25_000 + 1);
});

const root = join(import.meta.dirname, "../../../..");

const repositorySources: Sources = {
  read: (path) => (existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : undefined),
  list: (folder) => (existsSync(join(root, folder)) ? readdirSync(join(root, folder)).sort() : []),
  kind(path) {
    const stats = statSync(join(root, path), { throwIfNoEntry: false });
    return stats && (stats.isDirectory() ? "dir" : "file");
  },
};

test("a profile of official data plans every task by its official scorers, with budget, baselines and primary", () => {
  const path = "pipelines/full-benchmark.yaml";
  const result = loadPlan({ file: path, profile: "rehearsal" }, repositorySources, ["local"]);
  assert("plan" in result, "problems" in result ? result.problems.map(renderDiagnostic).join("\n") : "");
  const { instances } = result.plan;
  const { primary, baselines, referenceRows, published } = instances.find(({ stage }) => stage.publishes)!
    .action.params as Record<string, Record<string, string | object>>;
  const tasks = new Set(instances.flatMap(({ axes }) => axes.task ?? []).map(String));
  assert(tasks.size > 0);
  for (const task of tasks) {
    const manifest = parseYaml("task.yaml", repositorySources.read(`tasks/${task}/task.yaml`)!);
    assert(!Array.isArray(manifest));
    const said = manifest.value as Record<string, Record<string, unknown>>;
    const scores = instances.filter(({ stage, axes }) => stage.name === "score" && axes.task === task);
    assert.deepEqual([...new Set(scores.map(({ axes }) => axes.scorer))], said.scorers!.official);
    assert.equal(primary![task], said.primary!.official);
    assert.deepEqual(baselines![task], said.baselines!.official);
    assert.deepEqual(referenceRows![task], said.referenceRows!.official);
    assert.deepEqual(published![task], said.published ?? null);
  }
});

test("every stage instance of hello is one of the full benchmark", () => {
  const planned = (name: string) => {
    const result = loadPlan({ file: `pipelines/${name}.yaml` }, repositorySources, ["local"]);
    assert("plan" in result, "problems" in result ? result.problems.map(renderDiagnostic).join("\n") : "");
    return result.plan.instances.map(({ id, action, execution }) => ({ id, action, execution }));
  };
  const full = new Map(planned("full-benchmark").map((instance) => [instance.id, instance]));
  const hello = planned("hello").filter(({ id }) => id !== "report");
  assert.ok(hello.some(({ id }) => id.startsWith("attempt[")));
  for (const instance of hello) assert.deepEqual(instance, full.get(instance.id));
});

test("no two pipelines share more than ten lines", () => {
  const folder = join(root, "pipelines");
  const pipelines = readdirSync(folder).filter((name) => name.endsWith(".yaml"));
  const lines = pipelines.map((name) =>
    readFileSync(join(folder, name), "utf8")
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line.length > 3),
  );
  for (const [at, ours] of lines.entries())
    for (const [other, theirs] of lines.slice(at + 1).entries()) {
      const shared = new Set(ours).intersection(new Set(theirs));
      assert.ok(
        shared.size <= 10,
        `${pipelines[at]} and ${pipelines[at + 1 + other]}: ${[...shared].join(" | ")}`,
      );
    }
});
