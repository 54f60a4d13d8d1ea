// The diagnostic bundle has what helps to find a failure, and nothing that must not leave the machine: keys and
// private rows are planted in every text that it could take, and none is found in it.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { lab } from "./support/lab.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

const row = "the secret question is forty-two";
const key = "acme-5up3r/s3cret+value";
const token = "hf_QwErTyUiOpAsDfGhJkLzXc";

test("a bundle shows versions, plan, journals and where each stage failed, without a planted key or private row", async (t) => {
  const at = lab(t, repository);
  at.define({
    axes: { seed: [1] },
    profiles: { quick: { default: true, diagnose: true } },
    stages: {
      data: {
        command: `echo '${row}' > {outputs.rows}/rows; echo a > {outputs.public}/a; echo 'made ${row}'`,
        gives: { public: "dir", rows: { dir: true, private: true } },
        releases: ["public"],
      },
      ask: {
        needs: ["data.public"],
        secrets: ["ACME_KEY"],
        command: `echo "asks with $ACME_KEY and ${token}, $(printf %s "$ACME_KEY" | base64)"; echo "asked from $PWD"; echo 1 > {outputs.out}; sleep 1`,
        gives: { out: "file" },
      },
      score: {
        each: ["seed"],
        needs: ["data.rows"],
        command: `printf 'reads %s\\n  File "scorers/x.py", line 3, in main\\nValueError: %s\\n' '${row}' '${row}'; exit 3`,
        gives: { score: "file" },
      },
      "after-score": { needs: ["ask.out"], command: "echo plain words; exit 4", gives: { out: "file" } },
    },
  });
  const env = { ACME_KEY: key };
  const run = await at.pipeline(["run", at.name, "--root", at.root], { env });
  assert.equal(run.code, 1);
  const folder = join(at.root, ".mlrb/diagnostics");
  const [own] = readdirSync(folder);
  assert.match(
    run.stderr,
    /^diagnostic bundle: .*\.tar\.gz \(\d+ files, .* without keys, private rows and weights/m,
  );
  const asked = join(at.outside, "bundle.tar.gz");
  const said = await at.pipeline(["diagnose", at.name, "--root", at.root, "--output", asked], { env });
  assert.equal(said.code, 0, said.stderr);
  // another shell, without the key: the logs have none either
  const bare = join(at.outside, "bare.tar.gz");
  assert.equal((await at.pipeline(["diagnose", at.name, "--root", at.root, "--output", bare])).code, 0);
  for (const path of [join(folder, own!), asked, bare]) {
    assert.equal(statSync(path).mode & 0o077, 0, "only its owner may read it");
    const text = gunzipSync(readFileSync(path)).toString();
    for (const planted of [row, "forty-two", key, token, Buffer.from(key).toString("base64").slice(0, 20)])
      assert.ok(!text.includes(planted), `${path} holds ${planted}`);
    for (const place of [at.root, repository.path, hostname()]) assert.ok(!text.includes(place), place);
    for (const name of ["about.json", "doctor.txt", "plan.txt", "journals/", "logs/"])
      assert.ok(text.includes(name), name);
    assert.match(text, /File "scorers\/x\.py", line 3, in main\nValueError: \[left out\]/);
    assert.match(text, /plain words/);
    assert.match(text, /asks with \[redacted ACME_KEY\]/);
    assert.match(text, /"outcome":\{"kind":"failed","cause":"exit-code"\}/);
  }
});

test("an unknown profile is refused and no archive is written", async (t) => {
  const at = lab(t, repository);
  at.define({ stages: { one: { command: "true" } } });
  const output = join(at.outside, "none.tar.gz");
  const said = await at.pipeline([
    "diagnose",
    at.name,
    "--profile",
    "papr",
    "--root",
    at.root,
    "--output",
    output,
  ]);
  assert.equal(said.code, 2);
  assert.match(said.stderr, /unknown-profile/);
  assert.deepEqual(readdirSync(at.outside), []);
});
