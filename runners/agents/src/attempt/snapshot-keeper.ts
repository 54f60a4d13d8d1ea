// Keeps the submission as it stood at moments of the attempt. The room is bounded: when it is full, the budget is
// cut into fewer parts and of each part only the last snapshot stays. Every count of parts is a power of two, so
// that what stood at each quarter is the last thing to go, and what went is told.

import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { CopiedTree, Sandbox, SnapshotLimits, SnapshotResult } from "@mlrb/core/ports/sandbox";
import type { SnapshotIndex } from "@mlrb/formats/attempt/snapshot-index";
import { isFullDisk } from "@mlrb/kit/files/full-disk";
import type { TrajectoryEvent } from "../record/trajectory.ts";

type KeptSnapshot = SnapshotIndex["snapshots"][number];

export type SnapshotKeeper = {
  /** Takes a snapshot if the folder changed and nobody wrote to it meanwhile. */
  look(sinceStartMs: number): Promise<void>;
  /**
   * The submission that counts, at `to`. Everything must have stopped. A large file that the last snapshot
   * holds already is another name of the one there: whoever writes in one of them writes in both.
   */
  final(to: string): Promise<SnapshotResult>;
  index(): SnapshotIndex;
};

type Options = {
  sandbox: Sandbox;
  inside: string;
  folder: string;
  limits: SnapshotLimits;
  snapshotsMax: number;
  /** All snapshots together. */
  bytesMax: number;
  pauseMs: number;
  budgetMs: number;
  write(event: TrajectoryEvent): void;
};

const namedMax = 100;
/** Of the budget. With the least, one snapshot of each quarter stays. */
const [partsFirst, partsLeast] = [32, 4];

export function snapshotKeeper(options: Options): SnapshotKeeper {
  const { sandbox, inside, folder, limits, write } = options;
  let kept: KeptSnapshot[] = [];
  const dropped: KeptSnapshot[] = [];
  let parts = 2 * partsFirst;
  let count = 0;
  let pauseMs = options.pauseMs;
  let notBefore = 0;
  let last: { name?: string; state?: string; digest?: string; files: CopiedTree["files"] } = { files: [] };
  let skipped = "";

  const drop = async (snapshot: KeptSnapshot) => {
    await rm(join(folder, snapshot.name), { recursive: true, force: true });
    kept = kept.filter(({ name }) => name !== snapshot.name);
    dropped.push(snapshot);
    write({ event: "snapshot-dropped", name: snapshot.name });
  };
  const total = () => kept.reduce((sum, { bytes }) => sum + bytes, 0);
  const part = ({ sinceStartMs }: Pick<KeptSnapshot, "sinceStartMs">) =>
    Math.ceil((sinceStartMs * parts) / options.budgetMs);
  /** Makes room for one taken now: drops what has a successor in its part, or else the oldest. */
  const thin = async (sinceStartMs: number) => {
    for (;;) {
      const next = [...kept.slice(1), { sinceStartMs }];
      const followed = kept.filter((snapshot, at) => part(snapshot) === part(next[at]!));
      for (const snapshot of followed) await drop(snapshot);
      if (followed.length > 0) return;
      if (parts === partsLeast) return drop(kept[0]!);
      parts /= 2;
      pauseMs *= 2;
    }
  };
  const skip = (because: string) => {
    if (because !== skipped) write({ event: "snapshot-skipped", because });
    skipped = because;
  };

  const request = (to: string) => ({
    inside,
    to,
    limits,
    ...(last.name && { earlier: { folder: join(folder, last.name), files: last.files } }),
  });
  const take = async (to: string): Promise<SnapshotResult | undefined> => {
    try {
      return await sandbox.snapshot({ ...request(to), ...(last.state && { unless: last.state }) });
    } catch (error) {
      // hours of work must not end for a copy in between; the final one has to fit
      if (!isFullDisk(error)) throw error;
      await rm(to, { recursive: true, force: true });
      if (kept.length > 0) await thin(Number.POSITIVE_INFINITY); // none is taken now that others give way to
      skip("no room on the disk");
      return undefined;
    }
  };

  return {
    async look(sinceStartMs) {
      if (sinceStartMs < notBefore) return;
      const name = String(count + 1).padStart(4, "0");
      const to = join(folder, name);
      const taken = await take(to);
      if (taken === undefined) return;
      if (taken.kind === "unchanged") return;
      last.state = taken.state;
      if (taken.kind === "over-limits") return skip(taken.detail);
      const { tree } = taken;
      const remove = () => rm(to, { recursive: true, force: true });
      // touched but equal, still empty, or caught in the middle of a write: the next look decides
      if (tree.digest === last.digest || tree.files.length === 0) return remove();
      if (tree.torn.length > 0) {
        delete last.state;
        return remove();
      }
      if (tree.bytes > options.bytesMax) {
        await remove();
        return skip(`a snapshot of ${tree.bytes} bytes exceeds the room for all of them`);
      }
      while (
        kept.length > 0 &&
        (kept.length >= options.snapshotsMax || total() + tree.bytes > options.bytesMax)
      )
        await thin(sinceStartMs);
      count++;
      notBefore = sinceStartMs + pauseMs;
      kept.push({ name, sinceStartMs: Math.round(sinceStartMs), ...summary(tree) });
      write({
        event: "snapshot",
        name,
        ...summary(tree),
        ...difference(last.files, tree),
        ...oddities(tree),
      });
      last = { name, state: taken.state, digest: tree.digest, files: tree.files };
    },
    async final(to) {
      try {
        const taken = await sandbox.snapshot(request(to));
        if (taken.kind === "over-limits") skip(taken.detail);
        if (taken.kind !== "taken") return taken;
        const { tree } = taken;
        write({
          event: "snapshot",
          name: "final",
          ...summary(tree),
          ...difference(last.files, tree),
          ...oddities(tree),
        });
        return taken;
      } catch (error) {
        // another try would leave out every file that stands there already
        await rm(to, { recursive: true, force: true });
        await mkdir(to, { recursive: true });
        throw error;
      }
    },
    index: () => ({
      formatVersion: 1,
      budgetMs: options.budgetMs,
      snapshots: kept,
      dropped: dropped.map(({ sinceStartMs, digest }) => ({ sinceStartMs, digest })),
    }),
  };
}

function summary(tree: CopiedTree) {
  return { digest: tree.digest, files: tree.files.length, bytes: tree.bytes };
}

function oddities({ leftOut, leftOutMore, torn }: CopiedTree) {
  return { leftOut, leftOutMore, torn: torn.slice(0, namedMax) };
}

/** Which files came, went or changed since the snapshot before, by digest; the lists are bounded. */
function difference(before: CopiedTree["files"], after: CopiedTree) {
  const digests = new Map(before.map((file) => [file.path, file.digest]));
  const changed = after.files.filter((file) => digests.get(file.path) !== file.digest);
  const here = new Set(after.files.map((file) => file.path));
  const gone = before.filter((file) => !here.has(file.path)).map((file) => file.path);
  return {
    changed: changed.slice(0, namedMax).map(({ path, digest }) => ({ path, digest })),
    changedMore: Math.max(0, changed.length - namedMax),
    gone: gone.slice(0, namedMax),
    goneMore: Math.max(0, gone.length - namedMax),
  };
}
