// Prints what `run --audit` found, stage by stage.
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import type { Audited } from "@mlrb/local/audit/read-trace";
import { printJson } from "../show/print.ts";

export const noStrace: Diagnostic = {
  code: "no-strace",
  message: "--audit needs the program strace, which is not on the PATH",
  help: "install it, e.g. apt-get install strace (Linux only), or run without --audit",
};

/** Returns the number of undeclared reads. */
export function printAudit(found: readonly Audited[], json: boolean): number {
  const sorted = [...found].sort((a, b) => (a.stage < b.stage ? -1 : 1));
  const undeclared = sorted.reduce((sum, one) => sum + ("undeclared" in one ? one.undeclared.length : 0), 0);
  if (json) for (const one of sorted) printJson({ event: "audit", ...one });
  else process.stdout.write(`${auditText(sorted, undeclared)}\n`);
  return undeclared;
}

function auditText(found: readonly Audited[], undeclared: number): string {
  const lines = found.flatMap((one) => {
    if ("untraced" in one) return [`${one.stage}: not traced: ${one.untraced}`];
    return one.undeclared.flatMap(({ what, help }) => [
      `${one.stage}: undeclared: ${what}`,
      `  help: ${help}`,
    ]);
  });
  const traced = found.filter((one) => "undeclared" in one).length;
  const end = `audit: ${traced} stages traced, ${undeclared} undeclared reads. Attempts and environments are not traced.`;
  return ["", ...lines, end].join("\n");
}
