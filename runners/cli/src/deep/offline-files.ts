// A hub's file is not asked for where HF_HUB_OFFLINE is set. What was downloaded before is in the cache then, and no
// longer in the client's folder, from which complete files move.
import type { Instance } from "@mlrb/core/plan/plan";
import type { Preview } from "@mlrb/local/decide/preview-plan";
import { downloadedBy } from "../gates/source-gate.ts";

/** The stages that download the whole source of which `check` asks for one file. */
export function downloadsOf(check: Instance, instances: Instance[]): Instance[] {
  const source = downloadedBy(check);
  if (source === undefined) return [];
  return instances.filter((one) => one.stage.role !== check.stage.role && downloadedBy(one) === source);
}

/** What is known without the hub; undefined if the hub has to be asked. `previews`: of the downloads, and of others. */
export function knownOffline(
  check: Instance,
  { instances, previews, env }: { instances: Instance[]; previews: Preview[]; env: NodeJS.ProcessEnv },
): string | undefined {
  if (["", "0", undefined].includes(env.HF_HUB_OFFLINE)) return undefined;
  const reused = new Set(previews.filter(({ action }) => action === "reuse").map(({ index }) => index));
  if (!downloadsOf(check, instances).some(({ index }) => reused.has(index))) return undefined;
  return "downloaded before, its files are in the cache; HF_HUB_OFFLINE is set, so the hub was not asked";
}
