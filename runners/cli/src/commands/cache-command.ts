// `pipeline cache`: what the cache holds, whether it is whole, and freeing what nothing uses.

import { formatBytes } from "@mlrb/core/text/units";
import { collectGarbage, storeStats, verifyStore } from "@mlrb/local/store/garbage-collection";
import { stateFolder } from "@mlrb/local/store/state-folder";
import { rootOf } from "../request/root-of.ts";

export function cacheCommand(
  repository: string,
  what: "stats" | "verify" | "gc",
  options: { root?: string; json: boolean },
): number {
  const state = stateFolder(rootOf(repository, options.root));
  const print = (data: object, text: string) =>
    process.stdout.write(
      options.json ? `${JSON.stringify({ event: `cache-${what}`, ...data })}\n` : `${text}\n`,
    );
  if (what === "stats") {
    const stats = storeStats(state);
    print(
      stats,
      `${stats.blobs} contents, ${formatBytes(stats.bytes)}; ${stats.actions} results; ${stats.attempts} attempts (kept apart, never collected)`,
    );
    return 0;
  }
  if (what === "verify") {
    const { checked, damaged, repaired, attempts } = verifyStore(state);
    const found = damaged.map((digest) =>
      repaired.includes(digest)
        ? `damaged, replaced from an attempt's record: ${digest}`
        : `damaged, removed: ${digest}`,
    );
    const held = attempts.map(
      ({ record, file }) =>
        `attempt ${record.slice(0, 12)} is damaged: its ${file} is the same file; put the original back as .mlrb/attempts/records/${record}, or remove that folder to have the attempt made again`,
    );
    const text = [
      ...found,
      ...held,
      `${checked} contents read, ${damaged.length} damaged, ${repaired.length} replaced`,
    ].join("\n");
    print({ checked, damaged, repaired, attempts }, text);
    return damaged.length > repaired.length ? 1 : 0;
  }
  const result = collectGarbage(state);
  if ("busy" in result) {
    process.stderr.write(
      `a run is going on (${result.busy}); nothing was removed\n  help: wait for it to end\n`,
    );
    return 1;
  }
  print(
    result,
    `${result.blobs} contents (${formatBytes(result.bytes)}) and ${result.actions} results removed`,
  );
  return 0;
}
