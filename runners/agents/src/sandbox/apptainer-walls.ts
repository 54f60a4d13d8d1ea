// Walls by Apptainer, for nodes of clusters that have it and no bubblewrap. It makes the namespaces of this user
// (`--userns`), so its setuid program is not needed and the meter can see all processes. Control groups, the filter of system
// calls and the ends of programs are those of bubblewrap's walls. Written from Apptainer's documentation and tested with a
// stub: the real program has never run here.
import { spawn } from "node:child_process";
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import type { Walls, WallsRequest } from "@mlrb/core/ports/sandbox";
import { hiddenInProc, systemPaths } from "@mlrb/core/ports/system-paths";
import { gpuDevices } from "@mlrb/kit/processes/gpu-devices";
import { type ApptainerAbilities, apptainerAbilities } from "./apptainer-abilities.ts";
import { type ApptainerMount, apptainerArguments } from "./apptainer-arguments.ts";
import { sifFile } from "./apptainer-image.ts";
import { findFirstBelow } from "./namespace-processes.ts";
import { initProgram, NamespaceWalls, type Opening } from "./namespace-walls.ts";
import { SandboxProcess } from "./sandbox-process.ts";

/** Programs run as this process's user. Throws, with the reason, where Apptainer cannot be used. */
export async function apptainerWalls(
  request: WallsRequest,
  { images }: { images?: string } = {},
): Promise<Walls> {
  const able = await apptainerAbilities();
  if ("missing" in able) throw new Error(able.missing);
  const sif = sifFile(request.image, images ?? "");
  if (sif !== undefined && !existsSync(sif)) throw new Error(`the converted image ${sif} is gone`);
  return new NamespaceWalls(request, {
    ...{ kind: "apptainer", version: able.version, countsProcessesApart: true, image: sif && request.image },
    start: (opening) => startApptainer({ ...able, sif }, opening),
  });
}

const initAt = "/run/sandbox/init.py";

async function startApptainer(
  { program, sif }: ApptainerAbilities & { sif: string | undefined },
  { request, readOnly, seccomp, initArguments, groups }: Opening,
): Promise<SandboxProcess | { failed: string }> {
  const place = mkdtempSync(join(tmpdir(), "mlrb-apptainer-"));
  const remove = () => rmSync(place, { recursive: true, force: true });
  try {
    const files = [...writtenFiles(place, request), ...shown(request, readOnly)];
    const mounts = sif === undefined ? [...files, ...ofHost(request)] : files;
    const image = sif ?? rootFolder(place, mounts);
    // an image has its own user space, to which the driver's libraries must be added
    const driver = sif !== undefined && request.gpus.length > 0;
    const argv = [
      ...apptainerArguments({ image, mounts, network: request.network === "full", driver }),
      ...[sif === undefined ? "/usr/bin/python3" : "python3", "-I", "-S", "-B", initAt],
      ...initArguments(groups.map((_, index) => 3 + index)),
      Buffer.from(seccomp).toString("base64"),
    ];
    const { homedir } = userInfo();
    const child = spawn(program, argv, {
      stdio: ["pipe", "pipe", "pipe", ...groups],
      // none of its own settings, e.g. APPTAINER_BIND
      env: { PATH: process.env.PATH, HOME: homedir, MLRB_TOKEN: request.token },
      cwd: "/",
    });
    child.on("close", remove).on("error", remove);
    const first = async () => (child.pid === undefined ? undefined : findFirstBelow(child.pid));
    const started = new SandboxProcess(child, { maker: "apptainer", first });
    const failed = await started.failedToBegin();
    return failed === undefined ? started : { failed };
  } catch (error) {
    remove();
    throw error;
  } finally {
    for (const descriptor of groups) closeSync(descriptor);
  }
}

/** Files of the harness, and those of /etc in which Apptainer would name the user and the host. */
function writtenFiles(place: string, { seenAs, network }: WallsRequest): ApptainerMount[] {
  const { uid, gid } = userInfo();
  const home = join(seenAs, "home");
  const files: Record<string, string> = {
    [initAt]: initProgram,
    "/etc/passwd": `root:x:0:0:root:/:/bin/false\nagent:x:${uid}:${gid}:agent:${home}:/bin/sh\n`,
    "/etc/group": `root:x:0:\nagent:x:${gid}:\n`,
    "/etc/hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    ...(network !== "full" && { "/etc/resolv.conf": "" }),
  };
  const folder = join(place, "files");
  mkdirSync(folder);
  return Object.entries(files).map(([target, text], index) => {
    const source = join(folder, String(index));
    writeFileSync(source, text);
    return { source, target };
  });
}

/** The node's programs, and its granted devices. */
function ofHost({ gpus }: WallsRequest): ApptainerMount[] {
  const devices = gpuDevices(gpus);
  if ("trouble" in devices) throw new Error(devices.trouble);
  return [
    ...["/usr", ...systemPaths].filter((path) => existsSync(path)).map((path) => same(path)),
    ...linked.filter((path) => isFolder(path)).map((path) => same(path)),
    ...devices.files.filter((path) => existsSync(path)).map((path) => same(path, true)),
  ];
}

function same(source: string, writable = false): ApptainerMount {
  return { source, target: source, writable };
}

/** What a sandbox shows of this node with any image, and its own folder. */
function shown({ folder, seenAs, reads, writes = [] }: WallsRequest, readOnly: string[]): ApptainerMount[] {
  return [
    ...hiddenInProc
      .filter((name) => existsSync(`/proc/${name}`))
      .map((name) => ({ source: "/dev/null", target: `/proc/${name}` })),
    { source: folder, target: seenAs, writable: true },
    ...readOnly.map((path) => ({ source: join(folder, path), target: join(seenAs, path) })),
    ...reads.map((path) => same(path)),
    ...writes.map((path) => same(path, true)),
  ];
}

/** Links into /usr, or folders on an older system. */
const linked = ["/bin", "/lib", "/lib32", "/lib64", "/libx32", "/sbin"];

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** A root file system that is empty but for places to mount to: Apptainer then needs no overlay. */
function rootFolder(place: string, mounts: ApptainerMount[]): string {
  const root = join(place, "root");
  for (const name of ["dev", "proc", "sys", "tmp", "var/tmp", "root", "home"])
    mkdirSync(join(root, name), { recursive: true });
  for (const path of linked)
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true)
      symlinkSync(readlinkSync(path), join(root, path));
  for (const { source, target } of mounts) {
    if (/^\/(proc|dev)\//.test(target)) continue;
    // what is in a mounted folder has its place there
    const at = join(root, target);
    mkdirSync(dirname(at), { recursive: true });
    if (statSync(source).isDirectory()) mkdirSync(at, { recursive: true });
    else writeFileSync(at, "", { flag: "a" });
  }
  return root;
}
