// protocols/PIPELINE/PROFILE.json under the root: a plain file that its author commits. It is apart from results/,
// which runs write and Git ignores.
import { hash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import type { Plan } from "@mlrb/core/plan/plan";
import { resultsFolder } from "../run/publish-results.ts";

export type PlanName = Pick<Plan, "pipeline" | "profile" | "selection">;

/** From the root. */
export function protocolPath(plan: PlanName): string {
  return join("protocols", `${relative("results", resultsFolder(plan))}.json`);
}

/** The file of the plan's own selection, else that of the whole plan: `--set` must not hide a protocol. */
export function protocolInForce(
  root: string,
  plan: PlanName,
): { path: string; text: string; digest: string } | undefined {
  for (const path of [protocolPath(plan), protocolPath({ ...plan, selection: "" })]) {
    const file = join(root, path);
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) continue;
    const text = readFileSync(file, "utf8");
    return { path, text, digest: protocolDigest(text) };
  }
  return undefined;
}

/** Of a file's text as it is, so that a torn or edited one has a digest too, and anyone can compute it. */
export function protocolDigest(text: string): string {
  return hash("sha256", text);
}
