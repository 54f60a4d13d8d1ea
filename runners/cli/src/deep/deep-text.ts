// The lines of `pipeline doctor --deep`.
// Pure: no disk, no clock.
import { unreachable } from "@mlrb/core/ports/outcome";
import { terminalSafe } from "@mlrb/core/text/terminal-safe";

/** `ms`: null for a check that did not start. */
export type DeepCheck = { name: string; ms: number | null } & (
  | { kind: "passed"; found: string }
  | { kind: "failed"; cause: string; help: string }
);

export function deepText(checks: DeepCheck[]): string {
  const width = Math.max(0, ...checks.map(({ name }) => name.length));
  const lines = checks.flatMap((check) => {
    const took = check.ms === null ? "–" : `${(check.ms / 1000).toFixed(1)} s`;
    const start = `${check.name.padEnd(width)}  ${took.padStart(7)}`;
    switch (check.kind) {
      case "passed":
        return [`  ✔ ${start}  ${check.found}`];
      case "failed":
        return [`  ✖ ${start}  ${check.cause}`, `${" ".repeat(width + 15)}${check.help}`];
      default:
        return unreachable(check);
    }
  });
  const failed = checks.filter(({ kind }) => kind === "failed").length;
  const sum =
    failed === 0
      ? `all ${checks.length} passed`
      : `${failed} of ${checks.length} failed; repair, then repeat`;
  return `${["deep checks", ...lines.map(terminalSafe), `  ${sum}`].join("\n")}\n`;
}
