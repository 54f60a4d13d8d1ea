import type { Json } from "@mlrb/kit/stage";
import { z } from "zod";
import { inside } from "../../attempt/workspace.ts";
import { refused, tool } from "../tool.ts";
import { writeInside } from "../write-inside.ts";

/** The limit of iterations-reader.ts. */
const lineMax = 16 << 10;
const text = z.string().min(1).max(4_000);

export const iteration = tool({
  name: "iteration",
  description:
    "Records one experiment in iterations.jsonl, once it has ended: what you expected, what you changed, what you ran, what came out, what you decided. " +
    "Record failed ones too. Further fields are kept.",
  input: {
    id: z.union([z.string().min(1).max(200), z.number()]).describe("Yours to choose, each once, e.g. 3."),
    parent: z
      .union([z.string().max(200), z.number()])
      .nullable()
      .describe("The id of the experiment that it builds on; null for the first."),
    hypothesis: text.describe("What you expected, and why."),
    change: text.describe("What you changed against the parent."),
    command: text.describe("What you ran."),
    metric: z
      .object({ name: z.string().min(1).max(200), split: z.string().min(1).max(200), value: z.number() })
      .nullable()
      .describe("What came out, measured by you; split says on which data. null where nothing was measured."),
    predicted: z.number().optional().describe("The value of the metric that you expected beforehand."),
    decision: text.describe("Keep, drop, or what follows from it."),
  },
  loose: true,
  async run({ id, parent, hypothesis, change, command, metric, decision, ...more }, world) {
    const core = {
      id: String(id),
      parent: parent === null ? null : String(parent),
      time: new Date().toISOString(),
      hypothesis,
      change,
      command,
      metric,
      decision,
    };
    const line = JSON.stringify({ ...(more as Record<string, Json>), ...core }).toWellFormed();
    if (Buffer.byteLength(line) > lineMax)
      return refused(`an iteration may have ${lineMax} bytes; say it shorter`);
    const path = { inside: inside.iterations, shown: "iterations.jsonl" };
    const trouble = await writeInside(world, path, { text: `${line}\n`, how: "append" });
    return trouble ?? { outcome: "done", text: `iteration ${id} recorded` };
  },
});
