// A random sample of the folders that tests/corpora/judge-corpora.ts judges: honest ones keep their scores, and
// cheats none. MLRB_TEST_SEED repeats a sample. All folders are judged by hand; docs/rules.md has the result.
import assert from "node:assert/strict";
import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { corpora, judgeCorpora, namesIn, unexpected } from "./corpora/judge-corpora.ts";
import { copyBenchmarkState } from "./support/benchmark-state.ts";
import { drawn, testSeed } from "./support/test-seed.ts";

const place = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-corpora-")));
after(() => removeFolder(place));
const root = join(place, "root");
await copyBenchmarkState(root);

test("honest folders of a sample keep their scores, and cheats none", { timeout: 9 * 60_000 }, async (t) => {
  const wanted = Object.values(corpora).flatMap(({ program }) => drawn(namesIn(program), 2));
  t.diagnostic(`MLRB_TEST_SEED=${testSeed}: ${wanted.join(", ")}`);
  const judged = await judgeCorpora(place, { root, wanted });
  assert.ok(judged.length >= 5, `${judged.length} folders`);
  assert.deepEqual(unexpected(judged), []);
});

test("the corpora are large enough for the bounds that docs/rules.md states", () => {
  const counts = Object.values(corpora).map(({ kind, program }) => [kind, namesIn(program).length]);
  const least = [75, 30, 60, 80];
  for (const [at, [kind, count]] of counts.entries())
    assert.ok(Number(count) >= least[at]!, `${kind}: ${count}`);
});
