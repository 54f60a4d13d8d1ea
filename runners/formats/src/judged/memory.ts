// memory.json: the peak memory of a submission by the recipe of each of its task's memory rules. The bytes differ
// between runs and machines, so only the verdict reads them, and its evidence rounds them.
import * as t from "../schema.ts";

const run = t.wholeExcept(["atMostBytes", "detail", "numbers", "device"], {
  end: t.about(
    t.oneOf("measured", "over-limit", "failed"),
    "over-limit: it asked for more than the hard limit; failed: the model failed before the end",
  ),
  atLeastBytes: t.about(t.count, "the net peak is at least this, e.g. what a failed run had held"),
  atMostBytes: t.about(t.count, "absent unless measured"),
  detail: t.about(t.anyText, "why it ended"),
  numbers: t.about(
    t.tableOf(t.number),
    "bytes before the recipe and after each of its steps, and numbers of tokens",
  ),
  device: t.about(t.text, "the GPU's name; absent on the CPU"),
});

const memoryMeasurement = t.wholeObject({
  bytes: t.about(t.count, "the rule's limit on the net peak; the hard limit is twice as much"),
  tokens: t.about(t.count, "read in one pass"),
  newTokens: t.about(t.count, "written one by one after reading the tokens again"),
  runs: t.about(t.listOf(run), "one to three; their median decides, of two the larger"),
});
export type MemoryMeasurement = t.TypeOf<typeof memoryMeasurement>;

export const memory = t.wholeFile("mlrb memory", 1, {
  measurements: t.about(t.listOf(memoryMeasurement), "one for each recipe; none if not admitted"),
});
