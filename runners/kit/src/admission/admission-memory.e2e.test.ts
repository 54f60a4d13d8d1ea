import { test } from "node:test";
import { assertBounded } from "./testing/assert-bounded.ts";
import { honestAtTheLimits } from "./testing/honest-at-the-limits.ts";
import { hostileCorpus } from "./testing/hostile-corpus.ts";

const MiB = 1 << 20;
const linux = process.platform === "linux" ? false : "memory and bytes are measured by /proc";

/** The most bytes that may be read of each: its honest parts, and what a check must see. */
const readMax = {
  "index-61-mb": MiB,
  "header-98-mb-twice": MiB,
  "vocabulary-5-million": 96 * MiB,
  "shards-1-001": MiB,
};

for (const [name, bytes] of Object.entries(readMax)) {
  test(`${name} is rejected within 512 MiB of memory, with at most ${bytes / MiB} MiB read`, {
    skip: linux,
  }, () => {
    assertBounded(hostileCorpus.find((one) => one.name === name)!, bytes);
  });
}

test("a model at every limit is admitted within 512 MiB of memory", { skip: linux }, () => {
  assertBounded(honestAtTheLimits, 160 * MiB);
});
