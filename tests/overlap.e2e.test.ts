// An agent in a sandbox leaves scored rows in files and archives. The benchmark's own stage, in walls, finds them.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { bubblewrapMissing } from "@mlrb/agents/sandbox/bubblewrap-abilities";
import type { Overlap } from "@mlrb/formats/judged/overlap";
import { parse } from "yaml";
import { attemptStage, defineAttempts } from "./support/attempts/attempt-stages.ts";
import { lab } from "./support/lab.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());
const skip = (await bubblewrapMissing()) ?? false;

const row = "The ferry left the harbour at seven in the evening and nobody waved to it";
const other = "A kettle on the stove began to sing long before the first guest came";

test("rows that an agent leaves in a file, an archive and its home are found in walls, and no text is released", {
  skip,
  timeout: 120_000,
}, async (t) => {
  const at = lab(t, repository);
  const { overlap } = parse(repository.read("pipelines/full-benchmark.yaml")).stages;
  const rows = [row, other].map((text) => JSON.stringify({ text })).join("\n");
  const { gives } = attemptStage({}) as { gives: object };
  defineAttempts(at, {
    script: [
      'echo m > "$MLRB_SUBMISSION/model"',
      `echo 'DATA = "${row}"' > rows.py`,
      `echo '${other}' > rows.txt; tar czf "$HOME/rows.tgz" rows.txt; rm rows.txt`,
    ].join("\n"),
    attempt: { gives: { ...gives, workspace: "dir" } },
    stages: {
      data: {
        each: ["task"],
        command: `echo given > {outputs.public}/a; printf '%s' '${rows}' > {outputs.private}/test.jsonl`,
        gives: { public: "dir", private: { dir: true, private: true } },
      },
      overlap: { ...overlap, group: undefined },
      show: {
        each: ["task", "agent", "seed"],
        needs: ["overlap.overlap"],
        command: `cp {inputs.overlap} '${at.outside}/'`,
        gives: {},
      },
    },
  });
  const said = await at.run();
  assert.equal(said.code, 0, said.stdout + said.stderr);
  const [name] = readdirSync(at.outside).filter((file) => file.includes("overlap"));
  const text = readFileSync(join(at.outside, name!), "utf8");
  const found = JSON.parse(text) as Overlap;
  assert.deepEqual(found.rows, { all: 2, tested: 2, touched: 2, found: 2 });
  assert.deepEqual(found.places.map(({ place }) => place).sort(), ["home/rows.tgz", "workspace/rows.py"]);
  assert.deepEqual(found.unread, []);
  assert.doesNotMatch(text, /ferry|kettle/);
});
