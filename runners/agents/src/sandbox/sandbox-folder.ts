// The host's side of a sandbox: one folder with all of its files. The harness puts files into it, reads them and
// copies them out, while programs inside may be rewriting it.
import { lstatSync } from "node:fs";
import { mkdir, mkdtemp, realpath, statfs } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Sandbox } from "@mlrb/core/ports/sandbox";
import {
  extractDiskImage,
  hasDiskImage,
  mountDiskImage,
  mountDiskImageAgain,
  removeDiskImage,
  trimDiskImage,
} from "@mlrb/kit/files/disk-image";
import { isFullDisk } from "@mlrb/kit/files/full-disk";
import type { SandboxUser } from "@mlrb/kit/processes/sandbox-user";
import { execa } from "execa";
import { copyOut } from "../folders/copy-out.ts";
import { copyTexts } from "../folders/copy-texts.ts";
import { drainFolder } from "../folders/drain-folder.ts";
import { child, openFolder, openInside, openRegular } from "../folders/open-folder.ts";
import { putInside } from "../folders/put-inside.ts";
import { agentsDoing } from "../folders/walk-folder.ts";
import { copyToRestorePoint, putRestorePointBack } from "../resume/copy-restore-point.ts";
import { listenInside } from "./listen-inside.ts";

type FileAccess = Pick<
  Required<Sandbox>,
  "put" | "get" | "drain" | "snapshot" | "texts" | "restorePoint" | "restore" | "listen"
>;

type SandboxFolderOptions = {
  /** The owner of everything that is not read-only. */
  owner?: SandboxUser | undefined;
  /** The folder of an attempt that continues, with all its files; none is made. */
  earlier?: string | undefined;
  /** Makes it a file system of its own that holds about this much, if this host and user can. */
  diskBytes?: number;
};

/** Makes a folder below `under` where there is none, with a home and a folder for temporary files. */
export async function sandboxFolder(under: string, { owner, diskBytes, earlier }: SandboxFolderOptions = {}) {
  await mkdir(under, { recursive: true });
  const root = await realpath(earlier ?? (await mkdtemp(join(under, "sandbox-"))));
  if (earlier !== undefined) await mountDiskImageAgain(root);
  else if (owner && diskBytes !== undefined) await mountDiskImage(root, { bytes: diskBytes, owner });
  await ownFolders(root, owner);
  const files: FileAccess = {
    put: (from, inside, { readOnly = false, move = false, whole = false } = {}) =>
      putInside(root, from, inside, { owner, readOnly, move, whole }),
    async get(inside, range) {
      try {
        return await readPart(root, inside, range);
      } catch (error) {
        agentsDoing(error);
        return undefined;
      }
    },
    drain: (request) => drainFolder(root, request),
    snapshot: (request) => copyOut(root, request),
    texts: (request) => copyTexts(root, request),
    restorePoint: (request) => copyToRestorePoint(root, request),
    restore: (contents, restorePoint) => putRestorePointBack(root, contents, restorePoint, owner),
    listen: (server, inside) => listenInside(root, server, inside),
  };
  return {
    /** Absolute, without links. */
    root,
    files,
    /** Whether it is a file system of its own, of a limited size. */
    ownDisk: () => hasDiskImage(root),
    /** Empties home and temporary folder. Resolves with the bytes that this freed on the disk. */
    async shed() {
      const before = await freeBytes(root);
      await removeAll(join(root, "home"), join(root, "tmp"));
      if (hasDiskImage(root)) await trimDiskImage(root);
      return Math.max(0, (await freeBytes(root)) - before);
    },
    /** Call this, `keep` and `shed` when nothing runs inside any more. */
    async remove() {
      await removeDiskImage(root);
      await removeAll(root);
    },
    /** Leaves the files in an ordinary folder. On a full disk the image stays, with all files. */
    keep: () => extractDiskImage(root).catch(() => {}),
  };
}

/** What an agent put in their place, e.g. a link, stays as it is. */
async function ownFolders(root: string, owner: SandboxUser | undefined): Promise<void> {
  await using top = await openFolder(root);
  if (owner) await top.handle.chown(owner.uid, owner.gid);
  for (const name of ["home", "tmp"].map((one) => child(top, Buffer.from(one))))
    try {
      await mkdir(name).catch(existing);
      await using folder = await openFolder(name);
      if (owner) await folder.handle.chown(owner.uid, owner.gid);
    } catch (error) {
      if (!isFullDisk(error)) agentsDoing(error); // the agent may have filled it
    }
}

function existing(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}

/** chmod and rm reach trees whose paths are too long for Node's own rm. chmod follows a link that it is given, rm does not. */
async function removeAll(...paths: string[]): Promise<void> {
  const folders = paths.filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory());
  if (folders.length > 0)
    await execa("chmod", ["-R", "u+rwX", ...folders], { reject: false, stdio: "ignore" });
  await execa("rm", ["-rf", ...paths], { reject: false, stdio: "ignore" });
}

async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}

async function readPart(root: string, inside: string, range: { from: number; bytesMax: number }) {
  await using folder = await openInside(root, dirname(inside));
  await using file = await openRegular(child(folder, Buffer.from(basename(inside))));
  if (!file) return undefined;
  const room = Math.max(0, Math.min(range.bytesMax, (await file.stat()).size - range.from));
  const { bytesRead, buffer } = await file.read(Buffer.alloc(room), 0, room, range.from);
  return buffer.subarray(0, bytesRead);
}
