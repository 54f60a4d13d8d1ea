// What is missing through a fault of the harness, and why.
import type { Report } from "@mlrb/formats/report";
import { grouped } from "./report-words.ts";
import type { Item, Section } from "./table.ts";

/** One item for each cause. Skipped stages are only counted; report.json lists them. */
export function gapsSection(report: Report): Section {
  const { gaps } = report.coverage;
  const causes = gaps.filter(({ outcome }) => outcome !== "skipped");
  const skipped = gaps.filter(({ outcome }) => outcome === "skipped").map(({ stage }) => stageName(stage));
  const counts = [...Map.groupBy(skipped, (name) => name)].map(([name, same]) => `${same.length} ${name}`);
  const items = grouped(causes, ({ stage, outcome, cause }) => [stageName(stage), outcome, cause]).map(
    (same): Item => {
      const { outcome, cause } = same[0]!;
      const stages = same.slice(0, 3).map(({ stage }) => stage);
      const more = same.length > 3 ? ` and ${same.length - 3} more` : "";
      const text = outcome === "unreadable" ? cause : cause ? `${outcome}: ${cause}` : outcome;
      return { head: `${stages.join(", ")}${more}`, text };
    },
  );
  if (counts.length > 0)
    items.push({ head: "skipped, because their inputs are missing", text: counts.join(", ") });
  return {
    heading: "Not measured",
    caption: "Planned work without a readable result. These attempts and scores are missing, not zero.",
    tables: [],
    items,
  };
}

function stageName(stage: string): string {
  return stage.replace(/\[.*/s, "");
}
