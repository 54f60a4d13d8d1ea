// Downloads of sources that are not locked, whose licences no person accepted, or that show a password.
import { createRequire } from "node:module";
import type { Instance } from "@mlrb/core/plan/plan";
import { sourceBytes } from "@mlrb/core/spec/source-bytes";
import { formatBytes } from "@mlrb/core/text/units";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { isAccepted, readConsents } from "../sources/consents.ts";
import type { DeclaredSource } from "../sources/declared-sources.ts";
import { type Check, missing, note, works } from "./check.ts";
import { type Asked, profilesWhere } from "./gate.ts";

// What reads YAML is loaded only for a plan that downloads something.
const require = createRequire(import.meta.url);

/** The files are in the store, again in the data that tasks make of them, and in the copies of running attempts. */
const copies = 3;

type Downloading = Pick<Asked, "plan" | "inProfile" | "starts" | "sources" | "state"> & {
  host: Pick<Asked["host"], "env" | "freeBytes">;
};

export function sourceGate({ starts, sources, state, host, ...asked }: Downloading): Check[] {
  const downloads = toDownload(starts, sources);
  if ("problems" in downloads)
    return downloads.problems.map(({ message, help = "", ...more }) =>
      missing("sources", message, help, more),
    );
  const found = downloads.sources;
  if (found.length === 0) return [];
  const consents = readConsents(state);
  const named = (some: DeclaredSource[]) => some.map(({ manifest }) => manifest.name);
  const open = named(found.filter(({ state: { kind } }) => kind !== "resolved"));
  const unread = named(
    found.filter(
      ({ manifest, state }) => state.kind === "resolved" && !isAccepted(manifest.name, state.entry, consents),
    ),
  );
  return [
    ...(open.length > 0 ? [unresolved(open, asked)] : []),
    ...(unread.length > 0 ? [notAccepted(unread)] : []),
    ...shownPassword(starts, host.env),
    ...(host.freeBytes === undefined ? [] : [room(found, host.freeBytes)]),
  ];
}

function room(sources: DeclaredSource[], freeBytes: number): Check {
  const found = `${downloadWords(sources)}; ${formatBytes(freeBytes)} free`;
  if (downloadDiskBytes(sources) <= freeBytes) return works("downloads", found);
  const help = `the store, the tasks' data and running attempts take up to ${copies} times as much: free space, or choose another --root`;
  return note("downloads", found, help);
}

/** The command line that creates a container shows the values of proxies to every user of the machine. */
function shownPassword(starts: Instance[], env: NodeJS.ProcessEnv): Check[] {
  const inContainers = starts.some(
    (one) => downloadedBy(one) !== undefined && one.execution.executor !== "local",
  );
  const proxy = Object.keys(env).find(
    (name) => /^(https?|all)_proxy$/i.test(name) && env[name]!.includes("@"),
  );
  if (!inContainers || proxy === undefined) return [];
  const found = `${proxy} holds a password, and the command that starts a container would show it to other users`;
  const help = "download with --only download --executor local first, or use a proxy without a password";
  return [missing("proxy", found, help, { code: "shown-password" })];
}

/** The sources that `starts` download, each once. */
export function toDownload(
  starts: Instance[],
  sources: Asked["sources"],
): { sources: DeclaredSource[] } | { problems: Diagnostic[] } {
  const names = starts.flatMap((one) => downloadedBy(one) ?? []);
  if (names.length === 0) return { sources: [] }; // without names all would be declared
  const { declaredSources } =
    require("../sources/declared-sources.ts") as typeof import("../sources/declared-sources.ts");
  return declaredSources([...new Set(names)].sort(), sources);
}

/** The source that a stage of a hub downloads. */
function downloadedBy({ stage, axes }: Instance): string | undefined {
  return stage.spec.hub ? String(axes.source) : undefined;
}

function unresolved(names: string[], asked: Pick<Asked, "plan" | "inProfile">): Check {
  const without = profilesWhere(asked, (other) => other.every((one) => downloadedBy(one) === undefined)).join(
    ", ",
  );
  return missing(
    "sources",
    `${names.join(", ")}: the commit and the files are not locked in sources.lock.yaml, so nothing says what would be downloaded`,
    `\`pnpm pipeline sources lock ${names.join(" ")}\` resolves them, on a machine that reaches the hub${without === "" ? "" : `; without downloads: ${without}`}`,
    { code: "unresolved-source" },
  );
}

function notAccepted(names: string[]): Check {
  return missing(
    "licences",
    `${names.join(", ")}: no person accepted the licence here`,
    `\`pnpm pipeline sources accept ${names.join(" ")}\` shows licences and terms, and records that you accept them`,
    { code: "not-accepted" },
  );
}

/** The disk that downloads take in all their copies, where sizes are known. */
export function downloadDiskBytes(sources: DeclaredSource[]): number {
  return copies * knownBytes(sources);
}

function knownBytes(sources: DeclaredSource[]): number {
  return sources.reduce((sum, { manifest, state }) => sum + (sourceBytes(manifest, state) ?? 0), 0);
}

/** `exact`: every size is that of a lock. */
export function downloadAmount(sources: DeclaredSource[]) {
  const unknown = sources.filter(({ manifest, state }) => sourceBytes(manifest, state) === undefined).length;
  const exact = sources.every(({ state }) => state.kind === "resolved");
  return { sources: sources.length, bytes: knownBytes(sources), unknown, exact };
}

/** `from the hub: 2 sources, 31.0 MiB (texts 30.0 MiB, pairs 1.0 MiB)`. */
export function downloadLine(sources: DeclaredSource[]): string {
  const each = sources.map(({ manifest, state }) => {
    const bytes = sourceBytes(manifest, state);
    return `${manifest.name} ${bytes === undefined ? "of unknown size" : formatBytes(bytes)}`;
  });
  return `from the hub: ${downloadWords(sources)} (${each.join(", ")})`;
}

/** How much comes from the hub. A size is marked as approximate until the source is locked. */
export function downloadWords(sources: DeclaredSource[]): string {
  const { bytes: known, unknown, exact } = downloadAmount(sources);
  const bytes = `${exact ? "" : "about "}${formatBytes(known)}`;
  const amount = unknown === sources.length ? "" : `, ${bytes}`;
  const rest = unknown === 0 ? "" : `, ${unknown} of unknown size`;
  return `${sources.length} ${sources.length === 1 ? "source" : "sources"}${amount}${rest}`;
}
