// The parts of an action key as a protocol freezes them, for comparison by people and by programs.
// Pure: no disk, no clock.
import { createHash } from "node:crypto";
import type { KeyParts } from "@mlrb/formats/stage/action";
import { canonicalJson } from "@mlrb/kit/json-file";

/** Variables of agents that repeat the axes. A pipeline's own variable of such a name is compared. */
const ofAxes = new Set(["MLRB_TASK", "MLRB_SEED"]);

/**
 * The parts of a key by name, without its inputs, its axes and the host. `harness`: digests of the files that
 * carry out an attempt, which are not in its key.
 */
export function comparedParts(parts: KeyParts, harness: Record<string, string>): Record<string, string> {
  const { run, code, files, params, outputs, env, agentEnv = {}, budget, ...rest } = parts;
  const { environment, network, image } = rest;
  const ofAgents = Object.entries(agentEnv).filter(([name]) => !ofAxes.has(name));
  const named = (what: string, table: object) =>
    Object.entries(table).map(([name, value]) => [`${what} ${name}`, shortValue(value)] as const);
  return Object.fromEntries([
    ["run", shortValue(run.kind === "command" ? run.command : run.file)],
    ...[...named("code", code), ...named("file", files), ...named("parameter", params)],
    ...[...named("output", outputs), ...named("variable", { ...Object.fromEntries(ofAgents), ...env })],
    ...named("budget", budget),
    ...(Object.keys(harness).length > 0 ? [["harness", shortValue(harness)] as const] : []),
    ...Object.entries({ environment, network, image }).flatMap(([name, value]) =>
      typeof value === "string" ? [[name, value] as const] : [],
    ),
  ]);
}

const shownMax = 60;

/** A short value as it is, a long one by its SHA-256. */
function shortValue(value: unknown): string {
  const text = typeof value === "string" ? value : canonicalJson(value);
  return text.length <= shownMax ? text : createHash("sha256").update(text).digest("hex");
}
