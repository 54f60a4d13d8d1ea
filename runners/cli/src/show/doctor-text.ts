// The text of `pipeline doctor`.
// Pure: no disk, no clock.
import type { Check } from "../gates/check.ts";
import type { ProfileCheck } from "../gates/profile-checks.ts";

export function doctorText(
  pipeline: string,
  { checks, profiles }: { checks: Check[]; profiles: ProfileCheck[] },
): string {
  const out = ["this machine", ...checkLines(checks)];
  for (const { profile, isDefault, runs, checks: own } of profiles) {
    const which = `${pipeline} --profile ${profile}${isDefault ? " (default)" : ""}`;
    out.push("", `${which}: ${runs ? "can run here" : "cannot run here"}`, ...checkLines(own));
  }
  return `${out.join("\n")}\n`;
}

const signs: Record<Check["answer"], string> = { works: "ok     ", note: "note   ", missing: "MISSING" };

function checkLines(checks: Check[]): string[] {
  const width = Math.max(...checks.map(({ name }) => name.length));
  return checks.flatMap(({ name, answer, found, help }) => [
    `  ${signs[answer]}  ${name.padEnd(width)}  ${found}`,
    ...(help === undefined ? [] : [`${" ".repeat(width + 13)}${help}`]),
  ]);
}
