// The read-only commands, through the program: graph, report, doctor.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { type Lab, lab, results, summary } from "./support/lab.ts";
import type { ProgramOutput } from "./support/run-program.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

const look = (at: Lab, command: string, ...args: string[]): Promise<ProgramOutput> =>
  at.pipeline([command, at.name, "--root", at.root, ...args]);

function words(at: Lab, greeting = "hello"): void {
  at.define({
    axes: { word: ["alpha", "beta"] },
    stages: {
      make: {
        each: ["word"],
        command: `printf '%s %s' ${greeting} {word} > {outputs.text}`,
        gives: { text: { file: "text", private: true } },
      },
      gather: {
        collect: ["make.text"],
        command: "cat {inputs.manifest} > {outputs.all}; echo '# words' > {outputs.page}",
        gives: { all: { file: "all.json" }, page: { file: "report.md" } },
      },
    },
  });
}

test("a graph is coloured by what a run would do, and --output decides its file and format", async (t) => {
  const at = lab(t, repository);
  words(at);
  const before = await look(at, "graph");
  assert.match(
    before.stdout,
    /^digraph "lab-.* \(default\)" \{[\s\S]*label="make\\n2 over word\\n2 never run"/,
  );
  assert.match(before.stdout, /make -> gather\s+\[[^\]]*label="text \(private\)"/);
  await at.run();
  const file = join(at.outside, "picture.svg");
  const written = await look(at, "graph", "--output", file);
  assert.deepEqual([written.code, written.stdout, written.stderr], [0, "", ""]);
  assert.match(readFileSync(file, "utf8"), /<title>make<\/title>[\s\S]*2 up to date/);
  const dot = await look(at, "graph", "--instances", "--set", "word=beta");
  assert.match(dot.stdout, /label="make\\nword=beta\\nup to date"/);
  assert.doesNotMatch(dot.stdout, /alpha/);
  const json = await look(at, "graph", "--json");
  assert.deepEqual(
    json.lines.map(({ event, id, from, to, private: hidden }) => [event, id ?? from, to ?? hidden]),
    [
      ["node", "make", undefined],
      ["node", "gather", undefined],
      ["edge", "make", "gather"],
      ["summary", undefined, undefined],
    ],
  );
  const odd = await look(at, "graph", "--output", "picture.png");
  assert.equal(odd.code, 2);
  assert.match(odd.stderr, /unknown-format: no format named "png"\n {2}help: .*\.svg/);
});

test("a report is shown again with its origin, and says if the plan has changed or a file was edited", async (t) => {
  const at = lab(t, repository);
  words(at);
  const none = await look(at, "report");
  assert.equal(none.code, 1);
  assert.match(
    none.stderr,
    /no-results: there are no files in results\/lab-.*\n {2}help: pnpm pipeline run lab-/,
  );
  await at.run();
  const before = results(at);
  const current = await look(at, "report");
  assert.equal(current.code, 0, current.stderr);
  assert.match(
    current.stdout,
    /results\/lab-.*\/default\/ \(all\.json, report\.md\), published .* ago\nup to date: /,
  );
  assert.equal((await look(at, "report", "--json")).lines[0]!.age, "current");

  const page = join(at.root, "results", at.name, "default/report.md");
  writeFileSync(page, "# edited");
  assert.match((await look(at, "report")).stdout, /these files are not the plan's last results/);
  writeFileSync(page, before[`${at.name}/default/report.md`]!);

  words(at, "goodbye");
  const moved = await look(at, "report");
  assert.match(moved.stdout, /out of date: 2 stale, 1 uncertain\n {2}make\[word=alpha\] {2}code changed/);
  assert.deepEqual(results(at), before, "a report is only shown");
  const narrowed = await look(at, "report", "--set", "word=beta");
  assert.equal(narrowed.code, 1, "the narrowed plan has published nothing");
});

test("report --open passes the page to the desktop's opener, and names the file if there is none", async (t) => {
  const at = lab(t, repository);
  words(at);
  await at.run();
  const bin = join(at.outside, "bin");
  mkdirSync(bin);
  const opener = join(bin, process.platform === "darwin" ? "open" : "xdg-open");
  writeFileSync(opener, `#!/bin/sh\nprintf %s "$1" > '${at.outside}/opened'\n`);
  chmodSync(opener, 0o755);
  const args = ["report", at.name, "--root", at.root, "--open"];
  const said = await at.pipeline(args, { env: { PATH: `${bin}:${process.env.PATH}` } });
  assert.equal(said.code, 0, said.stderr);
  assert.equal(
    readFileSync(join(at.outside, "opened"), "utf8"),
    join(at.root, "results", at.name, "default/report.md"),
  );
  const without = await at.pipeline(args, { env: { PATH: "" } });
  assert.equal(without.code, 1);
  assert.match(without.stderr, /not-opened: .*\n {2}help: open .*report\.md yourself/);
});

test("doctor says whether the default profile can run, makes no state, and never shows a key", async (t) => {
  const at = lab(t, repository);
  at.define({
    pools: { "api:acme": 1 },
    profiles: {
      plain: { default: true },
      paid: { stages: { ask: { resources: { pools: { "api:acme": 1 } } } } },
    },
    stages: { ask: { command: "true", secrets: ["ACME_KEY"] } },
  });
  const said = await look(at, "doctor", "--json");
  assert.equal(said.code, 0, said.stderr);
  assert.deepEqual(
    said.lines.filter(({ event }) => event === "profile").map(({ profile, runs }) => [profile, runs]),
    [
      ["plain", true],
      ["paid", false],
    ],
  );
  assert.equal(summary(said).runs, true);
  const names = said.lines.filter(({ event }) => event === "check").map(({ name }) => name);
  for (const name of [
    "node",
    "pnpm",
    "git",
    "python",
    "disk",
    "memory",
    "cpus",
    "namespaces",
    "docker",
    "gpus",
  ])
    assert.ok(names.includes(name), name);
  assert.ok(!existsSync(at.root), "a doctor only looks");

  const args = ["doctor", at.name, "--root", at.root];
  const held = await at.pipeline(args, { env: { ACME_KEY: "sk-very-secret" } });
  assert.match(held.stdout, /--profile paid: can run here/);
  assert.match(held.stdout, /ok +ACME_KEY +set, for "ask"/);
  assert.doesNotMatch(held.stdout + held.stderr, /sk-very-secret/);

  at.define({
    profiles: {
      plain: { default: true },
      jobs: { executor: "slurm" },
      some: { stages: { ask: { executor: "slurm" } } },
    },
    stages: { ask: { command: "true" } },
  });
  mkdirSync(join(at.root, "bin"), { recursive: true });
  const noSlurm = await at.pipeline([...args, "--json"], { env: { PATH: join(at.root, "bin") } });
  assert.equal(noSlurm.code, 0, "the default profile needs no cluster");
  const lines = noSlurm.stdout.split("\n").filter((line) => line.includes('"event":"profile"'));
  assert.deepEqual(
    lines.map((line) => {
      const { profile, runs, checks } = JSON.parse(line);
      return [profile, runs, checks.find(({ name }: { name: string }) => name === "slurm")?.answer];
    }),
    [
      ["plain", true, undefined],
      ["jobs", false, "missing"],
      ["some", false, "missing"],
    ],
  );

  at.define({ stages: { train: { command: "true", resources: { gpus: 64 } } } });
  const lacking = await look(at, "doctor");
  assert.equal(lacking.code, 1);
  assert.match(lacking.stdout, /\(default\): cannot run here\n[\s\S]*MISSING +gpus +"train" needs 64/);
  const unknown = await at.pipeline(["doctor", "no-such"]);
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /unknown-pipeline: /);
});
