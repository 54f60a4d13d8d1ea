// The large cases of the corpus, each in a process of its own, for memory and bytes read.
import { test } from "node:test";
import { assertBounded } from "./testing/assert-bounded.ts";
import { hostileCorpus } from "./testing/hostile-corpus.ts";

const readMax = 128 << 20;

for (const hostile of hostileCorpus.filter(({ large }) => large)) {
  test(`${hostile.name} is rejected within 512 MiB of memory`, () => assertBounded(hostile, readMax));
}
