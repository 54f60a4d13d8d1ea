// Keeps snapshots of the submission during the attempt. Their room is bounded. When it is full, the budget is cut
// into fewer parts, and of each part only the last snapshot stays. The count of parts is always a power of two, so
// the state at each quarter is dropped last. The index lists what was dropped.

import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { CopiedTree, Sandbox, SnapshotLimits, SnapshotResult } from "@mlrb/core/ports/sandbox";
import type { SnapshotIndex } from "@mlrb/formats/attempt/snapshot-index";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { isFullDisk } from "@mlrb/kit/files/full-disk";

type KeptSnapshot = SnapshotIndex["snapshots"][number];

type KeeperOptions = {
  sandbox: Pick<Sandbox, "snapshot">;
  inside: string;
  folder: string;
  limits: SnapshotLimits;
  snapshotsMax: number;
  /** Of all snapshots together. */
  bytesMax: number;
  pauseMs: number;
  budgetMs: number;
  /** The snapshots of an attempt that continues after a restart. */
  earlier?: { kept: KeptSnapshot[]; dropped: KeptSnapshot[]; count: number };
  write(event: TrajectoryEvent): void;
};

const namedMax = 100;
/** Of the budget. With the least, one snapshot of each quarter stays. */
const [partsFirst, partsLeast] = [32, 4];

export class SnapshotKeeper {
  readonly #options: KeeperOptions;
  #kept: KeptSnapshot[] = [];
  readonly #dropped: KeptSnapshot[];
  #parts = 2 * partsFirst;
  #count: number;
  #pauseMs: number;
  #notBefore = 0;
  #last: { name?: string; state?: string; digest?: string; files: CopiedTree["files"] } = { files: [] };
  #skipped = "";

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#pauseMs = options.pauseMs;
    const { kept = [], dropped = [], count = 0 } = options.earlier ?? {};
    this.#kept = [...kept];
    this.#dropped = [...dropped];
    this.#count = count;
    const last = kept.at(-1);
    if (last) this.#last = { name: last.name, digest: last.digest, files: [] };
  }

  /** Takes a snapshot if the folder changed and no program wrote to it meanwhile. */
  async look(sinceStartMs: number): Promise<void> {
    if (sinceStartMs < this.#notBefore) return;
    const name = String(this.#count + 1).padStart(4, "0");
    const to = join(this.#options.folder, name);
    const taken = await this.#take(to);
    if (taken === undefined || taken.kind === "unchanged") return;
    this.#last.state = taken.state;
    if (taken.kind === "over-limits") return this.#skip(taken.detail);
    const { tree } = taken;
    const remove = () => rm(to, { recursive: true, force: true });
    // touched but equal, still empty, or copied during a write: the next look decides
    if (tree.digest === this.#last.digest || tree.files.length === 0) return remove();
    if (tree.torn.length > 0) {
      delete this.#last.state;
      return remove();
    }
    if (tree.bytes > this.#options.bytesMax) {
      await remove();
      return this.#skip(`a snapshot of ${tree.bytes} bytes exceeds the room for all of them`);
    }
    while (this.#isFull(tree.bytes)) await this.#thin(sinceStartMs);
    this.#count++;
    this.#notBefore = sinceStartMs + this.#pauseMs;
    this.#kept.push({ name, sinceStartMs: Math.round(sinceStartMs), ...summary(tree) });
    this.#record(name, tree);
    this.#last = { name, state: taken.state, digest: tree.digest, files: tree.files };
  }

  /**
   * Copies the submission that counts to `to`. Everything inside must have stopped. A large file that equals the
   * last snapshot's is hard-linked to it: writing to one changes both.
   */
  async final(to: string): Promise<SnapshotResult> {
    try {
      const taken = await this.#options.sandbox.snapshot(this.#request(to));
      if (taken.kind === "over-limits") this.#skip(taken.detail);
      if (taken.kind === "taken") this.#record("final", taken.tree);
      return taken;
    } catch (error) {
      // another try would leave out every file that is in `to` already
      await rm(to, { recursive: true, force: true });
      await mkdir(to, { recursive: true });
      throw error;
    }
  }

  index(): SnapshotIndex {
    return {
      formatVersion: 1,
      budgetMs: this.#options.budgetMs,
      snapshots: this.#kept,
      dropped: this.#dropped.map(({ sinceStartMs, digest }) => ({ sinceStartMs, digest })),
    };
  }

  #request(to: string) {
    const { inside, limits, folder } = this.#options;
    const { name, files } = this.#last;
    return { inside, to, limits, ...(name && { earlier: { folder: join(folder, name), files } }) };
  }

  /** Undefined on a full disk: it must not end hours of work for a copy in between. The final one has to fit. */
  async #take(to: string): Promise<SnapshotResult | undefined> {
    const { state } = this.#last;
    try {
      return await this.#options.sandbox.snapshot({ ...this.#request(to), ...(state && { unless: state }) });
    } catch (error) {
      if (!isFullDisk(error)) throw error;
      await rm(to, { recursive: true, force: true });
      if (this.#kept.length > 0) await this.#thin(Number.POSITIVE_INFINITY); // without a new snapshot none has a successor now
      this.#skip("no room on the disk");
      return undefined;
    }
  }

  #isFull(bytesMore: number): boolean {
    const { snapshotsMax, bytesMax } = this.#options;
    const bytes = this.#kept.reduce((sum, one) => sum + one.bytes, 0);
    return this.#kept.length > 0 && (this.#kept.length >= snapshotsMax || bytes + bytesMore > bytesMax);
  }

  /** Makes room for a snapshot taken now: drops those that have a successor in their part, or else the oldest. */
  async #thin(sinceStartMs: number): Promise<void> {
    for (;;) {
      const next = [...this.#kept.slice(1), { sinceStartMs }];
      const followed = this.#kept.filter((one, at) => this.#partOf(one) === this.#partOf(next[at]!));
      for (const snapshot of followed) await this.#drop(snapshot);
      if (followed.length > 0) return;
      if (this.#parts === partsLeast) return this.#drop(this.#kept[0]!);
      this.#parts /= 2;
      this.#pauseMs *= 2;
    }
  }

  #partOf({ sinceStartMs }: Pick<KeptSnapshot, "sinceStartMs">): number {
    return Math.ceil((sinceStartMs * this.#parts) / this.#options.budgetMs);
  }

  async #drop(snapshot: KeptSnapshot): Promise<void> {
    // first, so that after a kill no kept snapshot lacks its folder
    this.#options.write({ event: "snapshot-dropped", name: snapshot.name });
    this.#kept = this.#kept.filter(({ name }) => name !== snapshot.name);
    this.#dropped.push(snapshot);
    await rm(join(this.#options.folder, snapshot.name), { recursive: true, force: true });
  }

  #skip(because: string): void {
    if (because !== this.#skipped) this.#options.write({ event: "snapshot-skipped", because });
    this.#skipped = because;
  }

  #record(name: string, tree: CopiedTree): void {
    const { leftOut, leftOutMore, torn } = tree;
    this.#options.write({
      ...{ event: "snapshot", name },
      ...summary(tree),
      ...difference(this.#last.files, tree),
      ...{ leftOut, leftOutMore, torn: torn.slice(0, namedMax) },
    });
  }
}

function summary(tree: CopiedTree) {
  return { digest: tree.digest, files: tree.files.length, bytes: tree.bytes };
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
