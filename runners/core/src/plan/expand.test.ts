import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { memorySources, repository } from "../testing/memory-sources.ts";
import { loadPlan, type PlanRequest } from "./load-plan.ts";
import { environmentStage, type Instance, type Plan } from "./plan.ts";

const file = "pipelines/test.yaml";

function plan(body: string, request: Partial<PlanRequest> = {}, files: Record<string, string> = {}): Plan {
  const text = `formatVersion: 1\nname: test\n${body}`;
  const sources = memorySources({ ...repository, [file]: text, ...files });
  const result = loadPlan({ file, ...request }, sources, ["local", "docker"]);
  if ("problems" in result) throw new Error(result.problems.map(({ message }) => message).join("\n"));
  return result.plan;
}

const ids = ({ instances }: Plan) => instances.map(({ id }) => id);
const idsOf = ({ instances }: Plan, indices: { from: number }[]) =>
  indices.map(({ from }) => instances[from]!.id);
const instance = ({ instances }: Plan, id: string): Instance => {
  const found = instances.find((one) => one.id === id);
  assert(found, `no instance ${id}`);
  return found;
};

const wired = `axes: { task: [reading, writing], agent: [basic, idle], seed: [1, 2], scorer: { of: task, field: "scorers.{params.data}" } }
params: { data: smoke }
profiles:
  smoke: { default: true, limits: { time: 5m }, resources: { cpus: 2 } }
  paper:
    extends: smoke
    axes: { seed: [7, 8, 9] }
    params: { data: official }
    executor: docker
    resources: { memory: 2GiB }
    stages: { score: { executor: local, limits: { time: 1h } } }
stages:
  data: { each: [task], script: "tasks/{task}/task.yaml", params: { data: "{params.data}" }, gives: { public: dir } }
  attempt: { each: [task, agent, seed], script: steps/a.ts, needs: [data.public], gives: { submission: dir }, resources: { gpus: 1 } }
  score:
    each: [task, agent, seed, scorer]
    keyed: [task, scorer]
    python: steps/measure.py
    environment: "{scorer.environment}"
    needs: { model: attempt.submission, data: data.public }
    gives: { score: file }
  compare: { each: [task, scorer], collect: [score.score, data.public], script: steps/b.ts, gives: { table: file } }
  report: { collect: [compare.table], script: steps/b.ts, params: { titles: "{task.title}", kinds: "{agent.kind}" } }
`;

test("needs join on shared axes", () => {
  const whole = plan(wired);
  const score = instance(whole, "score[task=reading,agent=idle,seed=2,scorer=fluency]");
  assert.deepEqual(
    score.inputs.map(({ name, from, output }) => [name, whole.instances[from]!.id, output]),
    [
      ["model", "attempt[task=reading,agent=idle,seed=2]", "submission"],
      ["data", "data[task=reading]", "public"],
    ],
  );
});

test("a stage is planned only where its `when` has a value, and a stage that needs it elsewhere has no such input", () => {
  const brief = `  brief: { each: [task], when: "{task.promptDigest.{params.data}}", script: steps/b.ts, gives: { text: file } }`;
  const conditional = wired
    .replace("stages:\n", `stages:\n${brief}\n`)
    .replace("needs: [data.public], gives", "needs: [data.public, brief.text], gives");
  const pinned = `promptDigest: { smoke: "", official: ${"a".repeat(64)} }\n`;
  const files = { "tasks/reading/task.yaml": `${repository["tasks/reading/task.yaml"]}${pinned}` };
  const inputs = (profile: string, task: string) => {
    const whole = plan(conditional, { profile }, files);
    assert.equal(
      ids(whole).includes(`brief[task=${task}]`),
      profile === "paper" && task === "reading",
      "the task writing names no digest at all",
    );
    return instance(whole, `attempt[task=${task},agent=idle,seed=${profile === "paper" ? 7 : 1}]`).inputs.map(
      ({ name }) => name,
    );
  };
  assert.deepEqual(inputs("smoke", "reading"), ["public"]);
  assert.deepEqual(inputs("paper", "reading"), ["public", "text"]);
  assert.deepEqual(inputs("paper", "writing"), ["public"]);
});

test("a stage whose script is also its condition is planned where a task names the script", () => {
  const generate = `  generate: { each: [task], when: "{task.generate}", python: "{task.generate}", environment: envs/a.lock, gives: { answers: dir } }`;
  const files = {
    "envs/a.lock": "",
    "tasks/reading/task.yaml": `${repository["tasks/reading/task.yaml"]}generate: steps/measure.py\n`,
  };
  const made = ids(plan(wired.replace("stages:\n", `stages:\n${generate}\n`), {}, files));
  assert.deepEqual(
    made.filter((id) => id.startsWith("generate")),
    ["generate[task=reading]"],
  );
});

test("memoryRules of a task are those with the method memory-max, and none without one", () => {
  const rule = (name: string, method: string, more: string) =>
    `\n  - { name: ${name}, title: A rule., method: ${method}, ${more}, source: interpreted, severity: note }`;
  const max =
    rule("small", "memory-max", "with: { bytes: 9, tokens: 2 }") +
    rule("timely", "time-within-budget", "with: {}");
  const files = {
    "tasks/reading/task.yaml": repository["tasks/reading/task.yaml"]!.replace(/^rules:.*$/m, `rules:${max}`),
  };
  const memory = `  memory: { each: [task], when: "{task.memoryRules}", params: { rules: "{task.memoryRules}" }, script: steps/a.ts, gives: { text: file } }`;
  const whole = plan(wired.replace("stages:\n", `stages:\n${memory}\n`), {}, files);
  assert.deepEqual(
    ids(whole).filter((id) => id.startsWith("memory")),
    ["memory[task=reading]"],
  );
  const { rules } = instance(whole, "memory[task=reading]").action.params as { rules: { name: string }[] };
  assert.deepEqual(
    rules.map(({ name }) => name),
    ["small"],
  );
});

test("a dependent axis of task has the values that each task lists", () => {
  const scores = ids(plan(wired)).filter((id) => id.startsWith("score["));
  assert.equal(scores.filter((id) => id.includes("task=reading")).length, 2 * 2 * 2);
  assert.equal(scores.filter((id) => id.includes("task=writing")).length, 2 * 2 * 1);
  assert(!scores.some((id) => id.includes("task=writing") && id.includes("accuracy")));
});

test("an axis of a field that a parameter chooses has each profile's own values", () => {
  const scorers = (profile: string) =>
    ids(plan(wired, { profile, set: { task: ["reading"], agent: ["idle"] } }))
      .filter((id) => id.startsWith("compare["))
      .map((id) => id.match(/scorer=(\w+)/)![1]);
  assert.deepEqual(scorers("smoke"), ["accuracy", "fluency"]);
  assert.deepEqual(scorers("paper"), ["fluency"]);
  assert.throws(
    () => plan(wired, { profile: "paper", set: { scorer: ["accuracy"] } }),
    /no scorer "accuracy" here/,
  );
});

test("an axis of task with a default has a task's own list where it has one; --set chooses for every task", () => {
  const body = wired.replace(
    "seed: [1, 2]",
    'seed: { of: task, field: "seeds.{params.data}", default: [1, 2] }',
  );
  const file = "tasks/reading/task.yaml";
  const seeds = (own: string, request: Partial<PlanRequest> = {}) => {
    const set = { agent: ["idle"], ...request.set };
    const whole = plan(body, { ...request, set }, { [file]: `${repository[file]}${own}` });
    return ids(whole).flatMap(
      (id) =>
        id
          .match(/^attempt\[task=(.+),agent=idle,seed=(.+)\]/)
          ?.slice(1)
          .join(" ") ?? [],
    );
  };
  const own = "seeds: { smoke: [4] }\n";
  assert.deepEqual(seeds(own), ["reading 4", "writing 1", "writing 2"]);
  assert.deepEqual(seeds(""), ["reading 1", "reading 2", "writing 1", "writing 2"]);
  assert.deepEqual(
    seeds("seeds: { official: [4] }\n").slice(0, 2),
    ["reading 1", "reading 2"],
    "of other data",
  );
  assert.deepEqual(seeds(own, { set: { seed: ["2", "3"] } }), [
    "reading 2",
    "reading 3",
    "writing 2",
    "writing 3",
  ]);
  assert.equal(seeds(own, { profile: "paper" }).length, 6, "a profile's own list replaces the axis");
});

test("a task's settings for other kinds of data do not change the plan", () => {
  const body = `${wired}  judge:
    each: [task]
    command: x
    params: { primary: "{task.primary.{params.data}}", baselines: "{task.baselines.{params.data}}" }
    budget: { time: "{task.budget.{params.data}.time}" }
`;
  const before = repository["tasks/reading/task.yaml"]!;
  const after = before
    .replace("official: [fluency]", "official: [accuracy]")
    .replace("official: fluency }", "official: accuracy }")
    .replace("official: { time: 24h }", "official: { time: 1h }")
    .replace("official: { fluency: 0.5 }", "official: { accuracy: 0.25 }");
  const planned = (text: string, profile: string) =>
    plan(body, { profile }, { "tasks/reading/task.yaml": text }).instances;
  assert.deepEqual(planned(after, "smoke"), planned(before, "smoke"));
  assert.notDeepEqual(planned(after, "paper"), planned(before, "paper"));
});

test("collect gathers over the axes that the stage lacks, and matches on the others", () => {
  const whole = plan(wired);
  const compare = instance(whole, "compare[task=writing,scorer=fluency]");
  assert.deepEqual(idsOf(whole, compare.members), [
    "score[task=writing,agent=basic,seed=1,scorer=fluency]",
    "score[task=writing,agent=basic,seed=2,scorer=fluency]",
    "score[task=writing,agent=idle,seed=1,scorer=fluency]",
    "score[task=writing,agent=idle,seed=2,scorer=fluency]",
    "data[task=writing]",
  ]);
  assert.equal(instance(whole, "report").members.length, 3);
});

test("one environment is built for all stages with the same lock file, before the first of them", () => {
  const whole = plan(wired);
  const builders = whole.instances.filter(({ stage }) => stage.name === environmentStage);
  assert.deepEqual(
    builders.map(({ id }) => id),
    ["environment[name=ml]"],
  );
  for (const { stage, environment } of whole.instances)
    assert.equal(environment, stage.name === "score" ? builders[0]!.index : undefined);
});

test("a manifest's field of an axis that the stage lacks is a table by value", () => {
  assert.deepEqual(instance(plan(wired), "report").action.params, {
    titles: { reading: "The task reading", writing: "The task writing" },
    kinds: { basic: "command", idle: "nop" },
  });
});

test("an optional field that a manifest does not have is null, alone and within text", () => {
  const one = plan(`axes: { agent: [idle] }
stages:
  make: { each: [agent], script: steps/a.ts, params: { a: "{agent.program}" }, files: ["{agent.program}/**"] }
`);
  assert.deepEqual(one.instances[0]!.action.params, { a: null });
  assert.deepEqual(one.instances[0]!.action.files, []);
});

test("axes in a manifest's text are filled in for each point, also inside a table", () => {
  const whole = plan(`axes: { task: [reading, writing], agent: [basic, idle] }
stages:
  own: { each: [task, agent], script: steps/a.ts, params: { p: "{agent.program}" } }
  table: { each: [task], script: steps/a.ts, params: { p: "{agent.program}" } }
`);
  for (const task of ["reading", "writing"]) {
    const program = `tasks/${task}/scripts`;
    assert.deepEqual(instance(whole, `own[task=${task},agent=basic]`).action.params, { p: program });
    assert.deepEqual(instance(whole, `table[task=${task}]`).action.params, {
      p: { basic: program, idle: null },
    });
  }
});

test("axes in a pipeline's parameter are filled in for each point", () => {
  const whole = plan(`axes: { seed: [1, 2] }
params: { where: "at/{params.there}", there: "{seed}" }
stages:
  make: { each: [seed], script: steps/a.ts, params: { w: "{params.where}" } }
`);
  assert.deepEqual(
    whole.instances.map(({ action }) => action.params.w),
    ["at/1", "at/2"],
  );
});

test("a placeholder keeps its value's type, an inner one selects a name, doubled braces are literal", () => {
  const whole = plan(`axes: { task: [reading] }
params: { number: 3, list: [1, "{params.number}"], size: smoke }
stages:
  make:
    each: [task]
    script: steps/a.ts
    params:
      number: "{params.number}"
      text: "no. {params.number}"
      list: "{params.list}"
      time: "{task.budget.{params.size}.time}"
      braces: "{{task}} of {task}"
      shell: "\${HOME}"
`);
  assert.deepEqual(whole.instances[0]!.action.params, {
    number: 3,
    text: "no. 3",
    list: [1, 3],
    time: "10m",
    braces: "{task} of reading",
    shell: "${HOME}",
  });
});

test("unknown braces in a manifest's text are kept", () => {
  const agent =
    "formatVersion: 1\nname: basic\ntitle: Basic\nkind: command\ncommand: [run, '{program}/x', '{seed}']\n";
  const whole = plan(
    `axes: { agent: [basic] }\nstages:\n  make: { each: [agent], script: steps/a.ts, params: { c: "{agent.command}" } }\n`,
    {},
    { "runners/agents/presets/basic.yaml": agent },
  );
  assert.deepEqual(whole.instances[0]!.action.params.c, ["run", "{program}/x", "{seed}"]);
});

test("a command's paths stay placeholders, for the executor to fill in", () => {
  const whole = plan(`stages:
  one: { script: steps/a.ts, gives: { x: dir } }
  two: { command: [cp, "{inputs.x}", "{outputs.y}", "{inputs.one.x}"], needs: [one.x], gives: { y: dir } }
`);
  assert.deepEqual(instance(whole, "two").action.run, {
    kind: "command",
    command: ["cp", "{inputs.x}", "{outputs.y}", "{inputs.one.x}"],
  });
});

test("outputs made from private artifacts are private until they are released", () => {
  const whole = plan(`stages:
  data: { script: steps/a.ts, gives: { open: dir, hidden: { dir: true, private: true } } }
  mix: { script: steps/a.ts, needs: [data.hidden], gives: { mixed: dir, summary: file }, releases: [summary] }
  more: { script: steps/a.ts, collect: [mix.mixed], gives: { all: dir } }
  clean: { script: steps/a.ts, needs: [mix.summary, data.open], gives: { text: file } }
  tried: { script: steps/a.ts, untrusted: true, needs: [clean.text, mix.summary] }
`);
  const outputs = whole.stages.flatMap(({ name, gives }) =>
    gives.map((one) => [`${name}.${one.name}`, one.private]),
  );
  assert.deepEqual(Object.fromEntries(outputs), {
    "data.open": false,
    "data.hidden": true,
    "mix.mixed": true,
    "mix.summary": false,
    "more.all": true,
    "clean.text": false,
  });
});

test("only a stage without axes and without dependents is published", () => {
  const published = plan(wired).stages.filter(({ publishes }) => publishes);
  assert.deepEqual(
    published.map(({ name }) => name),
    ["report"],
  );
});

test("a profile overrides its parent, and the parent overrides the stages, field by field", () => {
  const whole = plan(wired, { profile: "paper" });
  assert.equal(whole.profile, "paper");
  const attempt = instance(whole, "attempt[task=reading,agent=basic,seed=9]");
  assert.deepEqual(attempt.execution, {
    executor: "docker",
    resources: { cpus: 2, memoryBytes: 2 * 2 ** 30, gpus: 1, pools: {} },
    limits: { timeMs: 300_000 },
    retries: 0,
  });
  const score = instance(whole, "score[task=reading,agent=basic,seed=9,scorer=fluency]");
  assert.equal(score.execution.executor, "local");
  assert.equal(score.execution.limits.timeMs, 3_600_000);
  assert.deepEqual(instance(whole, "data[task=reading]").action.params, { data: "official" });
  assert(!ids(whole).some((id) => id.includes("seed=1")));
});

test("a profile takes over whether weak limits are allowed, and no action differs by it", () => {
  const profiles = (settings: string) => `profiles:
  smoke: { default: true, weakLimits: true }
  paper: { extends: smoke${settings} }
stages:
  attempt: { script: steps/a.ts, gives: { out: file } }
`;
  const weak = plan(profiles(""), { profile: "paper" });
  const strong = plan(profiles(", weakLimits: false"), { profile: "paper" });
  assert.deepEqual([weak.weakLimits, strong.weakLimits], [true, false]);
  assert.equal(plan("stages: { attempt: { script: steps/a.ts } }").weakLimits, false);
  assert.deepEqual(weak.instances, strong.instances);
});

const pooled = `axes: { agent: [gpt, claude, basic] }
pools: { "api:openai": 4, "api:anthropic": 2, licence: 3 }
profiles:
  base: { pools: { "api:openai": 8, more: 1 } }
  smoke: { default: true, extends: base, pools: { more: 2 }, resources: { pools: { licence: 1 } } }
  calm: { extends: smoke, stages: { attempt: { resources: { cpus: 2, pools: { licence: 0, "api:{agent.provider}": 2 } } } } }
stages:
  attempt: { each: [agent], script: steps/a.ts, resources: { pools: { "api:{agent.provider}": 1 } } }
  use: { python: steps/measure.py, environment: environments/ml.lock }
`;
const preset = (name: string, more = "") =>
  `formatVersion: 1\nname: ${name}\ntitle: ${name}\nkind: command\n${more}`;
const providers = {
  "runners/agents/presets/gpt.yaml": preset("gpt", "provider: openai\n"),
  "runners/agents/presets/claude.yaml": preset("claude", "provider: anthropic\n"),
};

test("agents of two providers take from two pools, and one without a provider from neither", () => {
  const whole = plan(pooled, {}, providers);
  const taken = Object.fromEntries(
    whole.instances.map(({ id, execution }) => [id, execution.resources.pools]),
  );
  assert.deepEqual(taken, {
    "attempt[agent=gpt]": { "api:openai": 1, licence: 1 },
    "attempt[agent=claude]": { "api:anthropic": 1, licence: 1 },
    "attempt[agent=basic]": { licence: 1 },
    "environment[name=ml]": {},
    use: { licence: 1 },
  });
});

test("an agent that calls several providers takes from the pool of each, once", () => {
  const asked = pooled.replaceAll("api:{agent.provider}", "api:{agent.gateway.provider}");
  const gateway = (...names: string[]) =>
    `gateway: [${names.map((name) => `{ provider: ${name}, ids: [m] }`).join(", ")}]\n`;
  const whole = plan(
    asked,
    {},
    {
      "runners/agents/presets/gpt.yaml": preset("gpt", gateway("openai", "anthropic", "openai")),
      "runners/agents/presets/claude.yaml": preset("claude", gateway("anthropic")),
    },
  );
  const taken = (agent: string) => instance(whole, `attempt[agent=${agent}]`).execution.resources.pools;
  assert.deepEqual(taken("gpt"), { "api:openai": 1, "api:anthropic": 1, licence: 1 });
  assert.deepEqual(taken("claude"), { "api:anthropic": 1, licence: 1 });
  assert.deepEqual(taken("basic"), { licence: 1 });
});

test("pools and a stage's shares of them are overridden by name: profile over parent over pipeline", () => {
  assert.deepEqual(plan(pooled, {}, providers).pools, {
    "api:openai": 8,
    "api:anthropic": 2,
    licence: 3,
    more: 2,
  });
  const calm = plan(pooled, { profile: "calm" }, providers);
  assert.deepEqual(calm.profiles, ["base", "smoke", "calm"]);
  assert.deepEqual(instance(calm, "attempt[agent=claude]").execution.resources, {
    cpus: 2,
    memoryBytes: 0,
    gpus: 0,
    pools: { "api:anthropic": 2 },
  });
});

test("a stage's network is its own, else the profile's, else undefined", () => {
  const whole = (profile: string) =>
    plan(
      `profiles:
  plain: { default: true }
  shut: { network: none, stages: { open: { network: full } } }
stages:
  open: { script: steps/a.ts }
  shut: { script: steps/a.ts, network: none }
  model: { python: steps/measure.py, environment: environments/ml.lock }
`,
      { profile },
    ).instances.map(({ stage, execution }) => [stage.name, execution.network]);
  assert.deepEqual(Object.fromEntries(whole("plain")), {
    open: undefined,
    shut: "none",
    environment: undefined,
    model: undefined,
  });
  // building an environment needs the network, whatever a profile says of the pipeline's own stages
  assert.deepEqual(Object.fromEntries(whole("shut")), {
    open: "full",
    shut: "none",
    environment: undefined,
    model: "none",
  });
});

test("--executor moves everything but building environments", () => {
  for (const { stage, execution } of plan(wired, { executor: "docker" }).instances)
    assert.equal(execution.executor, stage.name === environmentStage ? "local" : "docker");
});

test("--set narrows an axis, also a dependent one, and may name a seed that is not listed", () => {
  const whole = plan(wired, { set: { seed: ["5"], scorer: ["accuracy"], agent: ["idle"] } });
  assert.deepEqual(
    ids(whole).filter((id) => id.startsWith("score[")),
    ["score[task=reading,agent=idle,seed=5,scorer=accuracy]"],
  );
  assert.equal(whole.selection, "agent=idle,scorer=accuracy,seed=5");
  assert.equal(instance(whole, "attempt[task=writing,agent=idle,seed=5]").axes.seed, 5);
  assert.equal(plan(wired).selection, "");
});

test("a repeated value of --set counts once, also in the selection's name", () => {
  const twice = plan(wired, { set: { seed: ["2", "1", "2"] } });
  assert.deepEqual(twice, plan(wired, { set: { seed: ["2", "1"] } }));
  assert.equal(twice.selection, "seed=2+1");
});

// ——— any pipeline ———

type Sketch = {
  axes: number[];
  stages: { each: boolean[]; needs: number[]; collect: number[]; environment: boolean }[];
};

const sketches: fc.Arbitrary<Sketch> = fc.record({
  axes: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 3, maxLength: 3 }),
  stages: fc.array(
    fc.record({
      each: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
      needs: fc.array(fc.nat(), { maxLength: 3 }),
      collect: fc.array(fc.nat(), { maxLength: 2 }),
      environment: fc.boolean(),
    }),
    { minLength: 1, maxLength: 7 },
  ),
});

type Stage = { name: string; lines: string[]; each: string[]; needs: string[]; collect: string[] };

/** A valid pipeline: each stage needs earlier ones whose axes it has, and collects others. */
function stagesOf({ stages }: Sketch): Stage[] {
  const made: Stage[] = [];
  for (const [index, { each: has, needs, collect, environment }] of stages.entries()) {
    const each = ["x", "y", "z"].filter((_, at) => has[at]);
    const pick = (picks: number[], fits: (stage: Stage) => boolean) => [
      ...new Set(
        picks.flatMap((one) => (index > 0 && fits(made[one % index]!) ? [made[one % index]!.name] : [])),
      ),
    ];
    const needed = pick(needs, (stage) => stage.each.every((axis) => each.includes(axis)));
    const gathered = pick(collect, () => true);
    const name = `s${index}`;
    const lines = [
      `    each: [${each.join(", ")}]`,
      `    needs: { ${needed.map((one) => `from-${one}: ${one}.o`).join(", ")} }`,
      `    collect: [${gathered.map((one) => `${one}.o`).join(", ")}]`,
      "    gives: { o: dir }",
      `    params: { p: "${each.map((axis) => `{${axis}}`).join("-")}" }`,
      environment
        ? `    python: steps/measure.py\n    environment: environments/ml.lock`
        : "    script: steps/a.ts",
    ];
    made.push({ name, lines, each, needs: needed, collect: gathered });
  }
  return made;
}

function textOf(sketch: Sketch, stages: Stage[], axes = ["x", "y", "z"]): string {
  const list = (axis: string) =>
    Array.from({ length: sketch.axes["xyz".indexOf(axis)]! }, (_, at) => at).join(", ");
  const tables = stages.map(({ name, lines }) => `  ${name}:\n${lines.join("\n")}\n`).join("");
  return `axes: { ${axes.map((axis) => `${axis}: [${list(axis)}]`).join(", ")} }\nstages:\n${tables}`;
}

test("in any pipeline each instance comes after its dependencies and has a unique name", () => {
  fc.assert(
    fc.property(sketches, (sketch) => {
      const stages = stagesOf(sketch);
      const { instances } = plan(textOf(sketch, stages));
      assert.equal(new Set(instances.map(({ id }) => id)).size, instances.length);
      for (const [index, one] of instances.entries()) {
        assert.equal(one.index, index);
        for (const { from } of [...one.inputs, ...one.members]) assert(from < index);
        if (one.environment !== undefined) assert(one.environment < index);
        for (const { from } of one.inputs)
          for (const [axis, value] of Object.entries(instances[from]!.axes))
            assert.equal(one.axes[axis], value);
        if (one.stage.name === environmentStage) continue;
        assert.equal(String(one.action.params.p), Object.values(one.axes).join("-"));
      }
      for (const { name, each, needs, collect } of stages) {
        const mine = instances.filter(({ stage }) => stage.name === name);
        const product = each.reduce((sum, axis) => sum * sketch.axes["xyz".indexOf(axis)]!, 1);
        assert.equal(mine.length, product);
        for (const one of mine) {
          assert.equal(one.inputs.length, needs.length);
          // said plainly: every instance of the collected stages that agrees on the axes they share
          const expected = collect.flatMap((other) =>
            instances.filter(
              ({ stage, axes }) =>
                stage.name === other &&
                each.every((axis) => !(axis in axes) || axes[axis] === one.axes[axis]),
            ),
          );
          assert.deepEqual(
            one.members.map(({ from }) => from),
            expected.map(({ index }) => index),
          );
        }
      }
    }),
    { numRuns: 200 },
  );
});

test("in any pipeline the order of stages, axes and keys in the file changes only the order of instances", () => {
  const described = ({ instances }: Plan) =>
    instances
      .map((one) => ({
        id: one.id,
        action: one.action,
        execution: one.execution,
        inputs: Object.fromEntries(
          one.inputs.map(({ name, from, output }) => [name, [instances[from]!.id, output]]),
        ),
        members: one.members.map(({ from, output }) => `${instances[from]!.id} ${output}`).sort(),
        environment: one.environment === undefined ? null : instances[one.environment]!.id,
      }))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  fc.assert(
    fc.property(sketches, fc.infiniteStream(fc.nat(1000)), (sketch, chance) => {
      const shuffled = <T>(items: T[]) =>
        items
          .map((item) => ({ item, at: chance.next().value as number }))
          .sort((a, b) => a.at - b.at)
          .map(({ item }) => item);
      const stages = stagesOf(sketch);
      const other = shuffled(stages).map((stage) => ({ ...stage, lines: shuffled(stage.lines) }));
      assert.deepEqual(
        described(plan(textOf(sketch, other, shuffled(["x", "y", "z"])))),
        described(plan(textOf(sketch, stages))),
      );
    }),
    { numRuns: 150 },
  );
});

test("an artifact collected as a digest marks the member and keeps the edge", () => {
  const gathered = plan(`axes: { seed: [1, 2] }
stages:
  make: { each: [seed], command: "true", gives: { large: dir, small: file } }
  gather: { collect: [make.small, digest(make.large)], command: "true", gives: { all: file } }
`);
  assert.deepEqual(gathered.instances.at(-1)!.members, [
    { from: 0, output: "small" },
    { from: 1, output: "small" },
    { from: 0, output: "large", digestOnly: true },
    { from: 1, output: "large", digestOnly: true },
  ]);
});

test("hostSensitive may come from a manifest, and is false without a value", () => {
  const speed = repository["scorers/fluency/scorer.yaml"]!;
  const body = `axes: { task: [reading], scorer: { of: task, field: scorers.smoke } }
stages:
  score: { each: [task, scorer], command: x, hostSensitive: "{scorer.hostSensitive}" }
`;
  const found = plan(body, {}, { "scorers/fluency/scorer.yaml": `${speed}hostSensitive: true\n` });
  const of = (scorer: string) => instance(found, `score[task=reading,scorer=${scorer}]`).action.hostSensitive;
  assert.deepEqual([of("fluency"), of("accuracy")], [true, false]);
});

const checked = (when = "{task.title}") => `axes: { task: [reading, writing], seed: [1, 2] }
stages:
  check: { each: [task], when: "${when}", script: steps/a.ts, gives: { text: file } }
  attempt: { each: [task, seed], startAfter: [check], script: steps/a.ts, gives: { submission: dir } }
  report: { collect: [check.text, attempt.submission], script: steps/b.ts, gives: { table: file } }
`;
const checksOf = (whole: Plan, id: string) =>
  instance(whole, id).checks?.map((index) => whole.instances[index]!.id);

test("an instance starts after the checks at its own values of their axes, and reads nothing of them", () => {
  const whole = plan(checked());
  assert.deepEqual(checksOf(whole, "attempt[task=writing,seed=2]"), ["check[task=writing]"]);
  assert.deepEqual(instance(whole, "attempt[task=writing,seed=2]").inputs, []);
  assert.ok(ids(whole).indexOf("check[task=writing]") < ids(whole).indexOf("attempt[task=reading,seed=1]"));
});

test("an instance without a check of its own starts after all checks, or says that all were left out", () => {
  const digest = `promptDigest: { smoke: "", official: ${"a".repeat(64)} }\n`;
  const tasks = { "tasks/reading/task.yaml": `${repository["tasks/reading/task.yaml"]}${digest}` };
  const some = checked("{task.promptDigest.official}");
  const whole = plan(some, {}, tasks);
  assert.deepEqual(checksOf(whole, "attempt[task=writing,seed=2]"), ["check[task=reading]"]);
  const { skippedChecks } = instance(plan(some, { skipChecks: true }, tasks), "attempt[task=writing,seed=1]");
  assert.deepEqual(skippedChecks, ["check[task=reading]"]);
});

test("where a check is not planned, nothing waits for it", () => {
  const whole = plan(checked("{task.references}"));
  assert.deepEqual(
    whole.instances.filter(({ checks, skippedChecks }) => checks ?? skippedChecks),
    [],
  );
});

test("an instance that needs a check names the one that nothing declares, if the plan has none at all", () => {
  const needs = (when: string) => checked(when).replace("seed], ", 'seed], needsCheck: "{params.needs}", ');
  const planned = (when: string, needed: boolean, skipChecks = false) =>
    instance(
      plan(`params: { needs: ${needed} }\n${needs(when)}`, { skipChecks }),
      "attempt[task=reading,seed=1]",
    );
  const without = ["check[task=reading]"];
  assert.deepEqual(planned("{task.references}", true).undeclaredChecks, without);
  assert.deepEqual(planned("{task.references}", true, true).undeclaredChecks, without);
  assert.equal(planned("{task.references}", false).undeclaredChecks, undefined, "the data needs no check");
  assert.equal(planned("{task.title}", true).undeclaredChecks, undefined, "it waits for its check");
  assert.equal(planned("{task.title}", true, true).undeclaredChecks, undefined, "a person left it out");
});

test("a plan without its checks has no instance of them, and each that would wait says so", () => {
  const whole = plan(checked(), { skipChecks: true });
  assert.ok(ids(whole).every((id) => !id.startsWith("check")));
  const { checks, skippedChecks } = instance(whole, "attempt[task=reading,seed=1]");
  assert.deepEqual([checks, skippedChecks], [undefined, ["check[task=reading]"]]);
  const none = plan(checked("{task.references}"), { skipChecks: true });
  assert.equal(instance(none, "attempt[task=reading,seed=1]").skippedChecks, undefined);
});
