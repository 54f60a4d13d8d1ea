import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sourceLab } from "../testing/source-lab.ts";
import { sourcesAccept } from "./sources-accept.ts";
import { sourcesList } from "./sources-list.ts";
import { sourcesLock } from "./sources-lock.ts";

const quiet = { json: false, update: false, yes: false };
const agreed = { ...quiet, yes: true };

test("accept shows licence, gate, size and page, and records the commit that was accepted", async (t) => {
  const lab = await sourceLab(t);
  lab.declare("texts", "org/texts");
  lab.declare("later", "org/later");
  const made = lab.hub.commit("dataset", "org/texts", { "a.parquet": "one" }, { license: "cc-by-4.0" });
  made.gated = "auto";
  await lab.say(() => sourcesLock(lab.repository, ["texts"], quiet));
  const asked = await lab.say(() => sourcesAccept(lab.repository, [], quiet));
  const shown = `texts: cc-by-4.0, gated: accept its terms on the hub; 3 B; ${lab.hub.endpoint}/datasets/org/texts\n`;
  assert.deepEqual([asked.code, asked.stdout], [2, shown]);
  assert.match(asked.stderr, /no-answer: .*[\s\S]*pass --yes/);
  const said = await lab.say(() => sourcesAccept(lab.repository, [], agreed));
  assert.deepEqual([said.code, said.stdout], [0, `${shown}1 source accepted, 0 before, 1 not locked\n`]);
  const file = readFileSync(join(lab.repository, ".mlrb/accepted-sources.jsonl"), "utf8");
  const { acceptedAt, ...line } = JSON.parse(file);
  assert.ok(Date.parse(acceptedAt) > 0);
  const revision = made.commits[0]!.sha;
  assert.deepEqual(line, {
    source: "texts",
    repository: "org/texts",
    revision,
    licence: "cc-by-4.0",
    gated: "auto",
  });
  const again = await lab.say(() => sourcesAccept(lab.repository, [], quiet));
  assert.deepEqual([again.code, again.stdout], [0, "0 sources accepted, 1 before, 1 not locked\n"]);
});

test("accept --json shows the terms of each source before it refuses, and before it records consent", async (t) => {
  const lab = await sourceLab(t);
  for (const name of ["model", "texts"]) lab.declare(name, `org/${name}`);
  const made = lab.hub.commit("dataset", "org/texts", { "a.parquet": "one" }, { license: "cc-by-4.0" });
  lab.hub.commit("dataset", "org/model", { "a.parquet": "one" });
  made.gated = "manual";
  await lab.say(() => sourcesLock(lab.repository, [], quiet));
  const events = ({ stdout }: { stdout: string }) =>
    stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  const asked = await lab.say(() => sourcesAccept(lab.repository, [], { ...quiet, json: true }));
  assert.equal(asked.code, 2);
  assert.deepEqual(
    events(asked).map(({ event, source, code }) => [event, source ?? code]),
    [
      ["terms", "model"],
      ["terms", "texts"],
      ["problem", "no-answer"],
    ],
  );
  const terms = {
    event: "terms",
    source: "texts",
    licence: "cc-by-4.0",
    gated: "manual",
    revision: made.commits[0]!.sha,
    page: `${lab.hub.endpoint}/datasets/org/texts`,
  };
  assert.deepEqual(events(asked)[1], terms);
  const said = await lab.say(() => sourcesAccept(lab.repository, ["texts"], { ...agreed, json: true }));
  assert.equal(said.code, 0);
  assert.deepEqual(events(said), [terms, { event: "accepted", source: "texts", licence: "cc-by-4.0" }]);
});

test("a source that is not locked cannot be accepted, and a new licence asks again", async (t) => {
  const lab = await sourceLab(t);
  lab.declare("texts", "org/texts");
  const early = await lab.say(() => sourcesAccept(lab.repository, ["texts"], agreed));
  assert.equal(early.code, 2);
  assert.match(early.stderr, /unresolved-source: texts: .*[\s\S]*`pnpm pipeline sources lock texts`/);
  lab.hub.commit("dataset", "org/texts", { "a.parquet": "one" }, { license: "mit" });
  await lab.say(() => sourcesLock(lab.repository, [], quiet));
  await lab.say(() => sourcesAccept(lab.repository, [], agreed));
  lab.hub.commit("dataset", "org/texts", { "a.parquet": "one" }, { license: "cc-by-nc-4.0" });
  await lab.say(() => sourcesLock(lab.repository, [], { ...quiet, update: true }));
  const said = await lab.say(() => sourcesAccept(lab.repository, [], agreed));
  assert.match(said.stdout, /texts: cc-by-nc-4\.0; .*\n1 source accepted/);
});

test("list shows each source with its state, size, licence and consent, and approximate sizes as such", async (t) => {
  const lab = await sourceLab(t);
  lab.declare("texts", "org/texts");
  lab.declare(
    "model",
    "org/model",
    "type: model\nuse: base-model\nseen: { bytes: 5600000000, licence: MIT }\n",
  );
  const { sha } = lab.hub.commit("dataset", "org/texts", { "a.parquet": "one" }, { license: "mit" })
    .commits[0]!;
  await lab.say(() => sourcesLock(lab.repository, ["texts"], quiet));
  await lab.say(() => sourcesAccept(lab.repository, [], agreed));
  assert.equal(
    (await lab.say(() => sourcesList(lab.repository, [], quiet))).stdout,
    `model  model org/model    about 5.2 GiB  unresolved; MIT; for no task
texts  dataset org/texts            3 B  ${sha.slice(0, 12)}; mit, accepted; for no task

1 of 2 are not locked: \`pnpm pipeline sources lock\` resolves them on the hub
`,
  );
  const { stdout } = await lab.say(() => sourcesList(lab.repository, ["model"], { ...quiet, json: true }));
  const { bytes, exact, state, revision } = JSON.parse(stdout);
  assert.deepEqual([bytes, exact, state, revision], [5_600_000_000, false, "unresolved", null]);
});
