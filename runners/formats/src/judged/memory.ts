// memory.json: the peak memory of a submission by the recipe of each of its task's memory rules. The bytes differ between
// runs and machines, so only the verdict reads them, and its evidence rounds them.
import {
  anyText,
  count,
  fileFormat,
  listOf,
  number,
  oneOf,
  type TypeOf,
  tableOf,
  text,
  wholeExcept,
  wholeObject,
} from "../schema.ts";

const run = wholeExcept(["atMostBytes", "detail", "numbers", "device"], {
  end: {
    ...oneOf("measured", "over-limit", "failed"),
    description: "over-limit: it asked for more than the hard limit; failed: the model failed before the end",
  },
  atLeastBytes: { ...count, description: "the net peak is at least this, e.g. what a failed run had held" },
  atMostBytes: { ...count, description: "absent unless measured" },
  detail: { ...anyText, description: "why it ended" },
  numbers: {
    ...tableOf(number),
    description: "bytes before the recipe and after each of its steps, and numbers of tokens",
  },
  device: { ...text, description: "the GPU's name; absent on the CPU" },
});

const memoryMeasurement = wholeObject({
  bytes: { ...count, description: "the rule's limit on the net peak; the hard limit is twice as much" },
  tokens: { ...count, description: "read in one pass" },
  newTokens: { ...count, description: "written one by one after reading the tokens again" },
  runs: { ...listOf(run), description: "one to three; their median decides, of two the larger" },
});
export type MemoryMeasurement = TypeOf<typeof memoryMeasurement>;

export const memory = fileFormat(
  "mlrb memory",
  wholeObject({
    formatVersion: { const: 1 },
    measurements: { ...listOf(memoryMeasurement), description: "one for each recipe; none if not admitted" },
  }),
);
