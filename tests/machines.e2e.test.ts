// The same pipeline gives the same keys and bytes on every machine and in every environment.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { actionsIn } from "./support/end-state.ts";
import { filesBelow, type Lab, lab, results } from "./support/lab.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

const script = `import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson } from "@mlrb/kit/json-file";
import { stage } from "@mlrb/kit/stage";
const { axes, inputs, outputs, params } = stage();
const names = ["zebra", "Äpfel", "apple", "Istanbul", "10", "9"].sort();
mkdirSync(join(outputs.all!, "deep"));
for (const name of names) writeFileSync(join(outputs.all!, "deep", name), name.toLocaleUpperCase() + (1234.5).toLocaleString());
writeFileSync(join(outputs.all!, "list"), canonicalJson({ axes, params, names, hour: new Date(0).getHours(), text: readFileSync(inputs.text!, "utf8") }));
`;

/** Sorts, cases, numbers and hours: everything that may depend on a locale or a time zone. */
function define(at: Lab): void {
  at.script("make.ts", script);
  at.define({
    axes: { word: ["İstanbul", "apple", "Zebra", "10", "9"] },
    stages: {
      source: {
        each: ["word"],
        command:
          "printf '%s\\n' b A ä Z {word} | sort > {outputs.text}; date -d @0 +%c%H >> {outputs.text} 2>/dev/null || true; printf '%.1f\\n' 1.5 >> {outputs.text}",
        gives: { text: "file" },
      },
      make: {
        each: ["word"],
        needs: ["source.text"],
        script: `${at.name}/make.ts`,
        params: { number: 1.5 },
        gives: { all: "dir" },
      },
      gather: {
        collect: ["make.all"],
        command:
          'cp {inputs.manifest} {outputs.all}/manifest.json; cp -r "$(dirname {inputs.manifest})"/members {outputs.all}/',
        gives: { all: "dir" },
      },
    },
  });
}

const keys = (root: string) => actionsIn(root).map(({ key }) => key);
const blobs = (root: string) => Object.keys(filesBelow(join(root, ".mlrb/cache/blobs")));

test("time zone, locale, user variables and the number of jobs change neither keys nor bytes", async (t) => {
  const at = lab(t, repository);
  define(at);
  assert.equal((await at.run()).code, 0);
  const expected = results(at);
  assert.ok(Object.keys(expected).length > 30);
  const environments = [
    { TZ: "Asia/Kathmandu", LC_ALL: "C" },
    { TZ: "America/St_Johns", LC_ALL: "tr_TR.UTF-8", LANG: "tr_TR.UTF-8" },
    {
      LC_ALL: "de_DE.UTF-8",
      LC_NUMERIC: "de_DE.UTF-8",
      LANG: "de_DE.UTF-8",
      COLUMNS: "20",
      USER: "someone",
      HOSTNAME: "elsewhere",
      PYTHONHASHSEED: "7",
    },
  ];
  for (const [number, env] of environments.entries()) {
    const root = join(at.outside, `root-${number}`);
    const said = await at.pipeline(["run", at.name, "--json", "--root", root, "--jobs", String(number + 1)], {
      env,
    });
    assert.equal(said.code, 0, said.stdout);
    assert.deepEqual(results({ root }), expected);
    assert.deepEqual(keys(root), keys(at.root));
    assert.deepEqual(blobs(root), blobs(at.root), "not even a manifest differs");
  }
});

test("other paths of repository and state, as on another machine, give the same keys and bytes", async (t) => {
  const at = lab(t, repository);
  define(at);
  assert.equal((await at.run()).code, 0);
  const elsewhere = throwAwayRepository("another place");
  t.after(() => elsewhere.remove());
  const there = lab(t, elsewhere);
  for (const file of [`pipelines/${at.name}.yaml`, `${at.name}/make.ts`])
    elsewhere.write(file, repository.read(file));
  const root = join(there.outside, "far", "away");
  const said = await there.pipeline(["run", at.name, "--json", "--root", root], { cwd: "/" });
  assert.equal(said.code, 0, said.stdout);
  assert.deepEqual(keys(root), keys(at.root));
  assert.deepEqual(results({ root }), results(at));
  assert.deepEqual(blobs(root), blobs(at.root));
});

test("stored and materialized files contain no path of this machine, no host and no time", async (t) => {
  const at = lab(t, repository);
  define(at);
  assert.equal((await at.run()).code, 0);
  const places = [at.root, repository.path];
  const year = new Date().getUTCFullYear();
  for (const [path, bytes] of Object.entries({
    ...results(at),
    ...filesBelow(join(at.root, ".mlrb/cache/blobs")),
  })) {
    for (const place of places) assert.ok(!bytes.includes(place), path);
    assert.ok(!bytes.includes(`${year}-`), path);
  }
});
