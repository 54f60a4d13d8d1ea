// The lines of `pipeline doctor --deep`.
// Pure: no disk, no clock.
import { unreachable } from "@mlrb/core/ports/outcome";
import { columnLines } from "@mlrb/core/text/terminal-grid";
import { terminalSafe } from "@mlrb/core/text/terminal-safe";

/** `ms`: null for a check that did not start. */
export type DeepCheck = { name: string; ms: number | null } & (
  | { kind: "passed"; found: string }
  | { kind: "failed"; cause: string; help: string }
);

export function deepText(checks: DeepCheck[]): string {
  const rows = checks.flatMap((check) => {
    const took = check.ms === null ? "–" : `${(check.ms / 1000).toFixed(1)} s`;
    switch (check.kind) {
      case "passed":
        return [[`✔ ${check.name}`, took, check.found]];
      case "failed":
        return [
          [`✖ ${check.name}`, took, check.cause],
          ["", "", check.help],
        ];
      default:
        return unreachable(check);
    }
  });
  const lines = columnLines(
    rows.map((row) => row.map(terminalSafe)),
    [1],
  );
  const failed = checks.filter(({ kind }) => kind === "failed").length;
  const sum =
    failed === 0
      ? `all ${checks.length} passed`
      : `${failed} of ${checks.length} failed; repair, then repeat`;
  return `${["deep checks", ...[...lines, sum].map((line) => `  ${line}`)].join("\n")}\n`;
}
