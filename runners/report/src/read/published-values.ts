// Values that others published for a metric. They were measured on official data; next to a number from other data they
// would look comparable.

import type { Published } from "@mlrb/formats/report";
import { plainText } from "./plain-text.ts";
import type { ReportParams } from "./report-params.ts";

/** Empty unless the report's label is `official`. */
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
