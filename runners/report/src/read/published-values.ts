// What others published for a metric. It was measured on official data, and beside a number of any other data it
// would pass for something to compare with.

import type { Published } from "@mlrb/formats/report";
import { plainText } from "./plain-text.ts";
import type { ReportParams } from "./report-params.ts";

/** Nothing unless the report's label is `official`, whatever the pipeline says. */
export function publishedValues(
  { label, published }: Pick<ReportParams, "label" | "published">,
  { task, metric }: { task: string; metric: string },
): Published[] {
  if (label !== "official") return [];
  return published(task, metric).map(({ who, value, n, note, source }) => ({
    task,
    metric,
    who: plainText(who),
    value,
    n: n ?? null,
    note: plainText(note ?? ""),
    source: plainText(source),
  }));
}
