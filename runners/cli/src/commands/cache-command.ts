// `pipeline cache`: the cache's size, whether its contents are intact, and freeing what nothing uses.

import { formatBytes } from "@mlrb/core/text/units";
import { forgetUnchanged } from "@mlrb/local/decide/no-op-fast-path";
import { collectGarbage, storeStats, verifyStore } from "@mlrb/local/store/garbage-collection";
import { stateFolder } from "@mlrb/local/store/state-folder";
import { remoteChecks } from "../remote/remote-checks.ts";
import { type PlaceOptions, rootFolder } from "../request/root-folder.ts";

export async function cacheStats(repository: string, options: PlaceOptions): Promise<number> {
  const state = stateFolder(rootFolder(repository, options.root));
  const stats = storeStats(state);
  const { blobs, bytes, actions, attempts } = stats;
  const [remote] = await remoteChecks({ env: process.env, state: state.state });
  const own = `${blobs} contents, ${formatBytes(bytes)}; ${actions} results; ${attempts} attempts (kept apart, never removed)`;
  const text = remote ? `${own}\nremote cache: ${remote.found}` : own;
  const data = { ...stats, ...(remote && { remoteCache: remote.found }) };
  print("cache-stats", { data, text, json: options.json });
  return 0;
}

export function cacheVerify(repository: string, options: PlaceOptions): number {
  const state = stateFolder(rootFolder(repository, options.root));
  const data = verifyStore(state);
  const { checked, damaged, repaired, attempts } = data;
  if (damaged.length > 0) forgetUnchanged(state);
  const lines = [
    ...damaged.map((digest) =>
      repaired.includes(digest)
        ? `damaged, replaced from an attempt's record: ${digest}`
        : `damaged, removed: ${digest}`,
    ),
    ...attempts.map(
      ({ record, file }) =>
        `attempt ${record.slice(0, 12)} is damaged: its ${file} is the same file; put the original back as .mlrb/attempts/records/${record}, or remove that folder to run the attempt again`,
    ),
    `${checked} contents read, ${damaged.length} damaged, ${repaired.length} replaced`,
  ];
  print("cache-verify", { data, text: lines.join("\n"), json: options.json });
  return damaged.length > repaired.length ? 1 : 0;
}

export function cacheGc(repository: string, options: PlaceOptions): number {
  const result = collectGarbage(stateFolder(rootFolder(repository, options.root)));
  if ("busy" in result) {
    process.stderr.write(`a run is active (${result.busy}); nothing was removed\n  help: wait for its end\n`);
    return 1;
  }
  const text = `${result.blobs} contents (${formatBytes(result.bytes)}) and ${result.actions} results removed`;
  print("cache-gc", { data: result, text, json: options.json });
  return 0;
}

function print(event: string, { data, text, json }: { data: object; text: string; json: boolean }): void {
  process.stdout.write(json ? `${JSON.stringify({ event, ...data })}\n` : `${text}\n`);
}
