// `pipeline cache`: what the cache holds, whether it is whole, and freeing what nothing uses.

import { stateFolder } from "@mlrb/local/state-folder";
import { collectGarbage, storeStats, verifyStore } from "@mlrb/local/store-care";
import { rootOf } from "./root-of.ts";

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
      `${stats.blobs} contents, ${size(stats.bytes)}; ${stats.actions} results; ${stats.attempts} attempts (kept apart, never collected)`,
    );
    return 0;
  }
  if (what === "verify") {
    const { checked, damaged, attempts } = verifyStore(state);
    const found = damaged.map((digest) => `damaged, removed: ${digest}`);
    const held = attempts.map(
      ({ record, file }) =>
        `attempt ${record.slice(0, 12)} is damaged: its ${file} is the same file; put the original back under .mlrb/attempts/records, or remove that folder to have the attempt made again`,
    );
    const text = [...found, ...held, `${checked} contents read, ${damaged.length} damaged`].join("\n");
    print({ checked, damaged, attempts }, text);
    return damaged.length > 0 ? 1 : 0;
  }
  const result = collectGarbage(state);
  if ("busy" in result) {
    process.stderr.write(
      `a run is going on (${result.busy}); nothing was removed\n  help: wait for it to end\n`,
    );
    return 1;
  }
  print(result, `${result.blobs} contents (${size(result.bytes)}) and ${result.actions} results removed`);
  return 0;
}

function size(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}
