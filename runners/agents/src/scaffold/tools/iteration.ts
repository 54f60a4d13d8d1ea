import { closedObject, nullable, number, openObject, text } from "@mlrb/formats/schema";
import type { Json } from "@mlrb/kit/stage";
import { inside } from "../../attempt/workspace.ts";
import { refused, tool } from "../tool.ts";
import { writeInside } from "../write-inside.ts";

/** The limit of iterations-reader.ts. */
const lineMax = 16 << 10;
/** An id, or the name of a metric or of its data. */
const short = { ...text, maxLength: 200 } as const;
const metric = closedObject({ name: short, split: short, value: number }, ["name", "split", "value"]);
const said = <const Words extends string>(description: Words) =>
  ({ ...text, maxLength: 4_000, description }) as const;

export const iteration = tool({
  name: "iteration",
  description:
    "Records one experiment in iterations.jsonl, once it has ended: what you expected, what you changed, what you ran, what came out, what you decided. " +
    "Record failed ones too. Further fields are kept.",
  input: openObject(
    {
      id: { anyOf: [short, number], description: "Yours to choose, each once, e.g. 3." },
      parent: {
        anyOf: [{ type: "string", maxLength: 200 }, number, { type: "null" }],
        description: "The id of the experiment that it builds on; null for the first.",
      },
      hypothesis: said("What you expected, and why."),
      change: said("What you changed against the parent."),
      command: said("What you ran."),
      metric: {
        ...nullable(metric),
        description:
          "What came out, measured by you; split says on which data. null where nothing was measured.",
      },
      predicted: { ...number, description: "The value of the metric that you expected beforehand." },
      decision: said("Keep, drop, or what follows from it."),
    },
    ["id", "parent", "hypothesis", "change", "command", "metric", "decision"],
  ),
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
