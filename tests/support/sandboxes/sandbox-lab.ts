// A sandbox with a workspace for one test, a hidden folder and servers on the host, and functions that inspect its
// processes from the host.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { ExecResult, Sandbox, SandboxLimits } from "@mlrb/core/ports/sandbox";
import type { Network } from "@mlrb/formats/declared/pipeline";
import { removeDiskImages } from "@mlrb/kit/files/disk-image";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { isRunning } from "../processes.ts";
import { type HostileProgram, hostile } from "./hostile-programs.ts";

type OpenOptions = {
  /** The host folder in which the sandbox makes its folder. */
  under: string;
  network: Network;
  limits: SandboxLimits;
  /** Host folders that are visible at their own paths. */
  reads: string[];
  /** Marks the sandbox's processes on the host. */
  token: string;
};

export type SandboxMaker = {
  open(options: OpenOptions): Promise<Sandbox>;
  /** The cleanup after a killed supervisor; absent where nothing outlives one. */
  sweep?(token: string): Promise<void>;
};

const mib = 1 << 20;
export const suiteLimits: SandboxLimits = {
  memoryBytes: 256 * mib,
  processes: 64,
  diskBytes: 64 * mib,
  cpus: 1,
};

export type LabChanges = { network?: Network; limits?: Partial<SandboxLimits>; closed?: boolean };

/** Runs `body` as a test with its own sandbox. */
export type Check = (title: string, body: (at: SandboxLab) => Promise<void>, changes?: LabChanges) => void;

type SandboxLab = Awaited<ReturnType<typeof lab>>;

/** Makes a sandbox with a workspace, and its surroundings on the host. */
export async function lab(
  t: TestContext,
  maker: string,
  { network = "none", limits = {}, closed = false }: LabChanges,
) {
  const base = mkdtempSync(join(realpathSync(tmpdir()), "walls-"));
  chmodSync(base, 0o700); // like another user's home
  const at = (name: string) => {
    mkdirSync(join(base, name), { recursive: true });
    return join(base, name);
  };
  const [outside, under, given, blank] = [at("outside"), at("under"), at("reads/given"), at("blank")];
  mkdirSync(join(outside, "data"));
  writeFileSync(join(outside, "data/a.txt"), "public");
  writeFileSync(join(given, "library.py"), "given");
  const mark = `mark-${basename(base)}`;
  const token = basename(base).replace(/[^A-Za-z0-9]/g, "");
  const options: OpenOptions = {
    under,
    network,
    limits: { ...suiteLimits, ...limits },
    reads: [given],
    token,
  };
  const servers: Server[] = [];
  const { open } = (await import(maker)) as SandboxMaker;
  const sandbox = closed ? undefined : await open(options);
  t.after(async () => {
    await sandbox?.close();
    for (const server of servers) server.close();
    await removeDiskImages(under); // of a killed supervisor
    removeFolder(base);
  });
  if (sandbox) {
    await sandbox.put(join(outside, "data"), "workspace/data", { readOnly: true });
    await sandbox.put(blank, "workspace/submission");
  }
  let heard = "";
  const exec = async (argv: string[], env: Record<string, string> = {}) => {
    let text = "";
    const streams = { stdout: 0, stderr: 0 };
    const result: ExecResult = await sandbox!.exec({
      argv,
      cwd: sandbox!.seenAs("workspace"),
      env: { PATH: "/usr/local/bin:/usr/bin:/bin", X: "1", ...env },
      onOutput(stream, bytes) {
        streams[stream] += bytes.length;
        if (text.length < mib) text += Buffer.from(bytes).toString();
        if (heard.length < mib) heard += Buffer.from(bytes).toString();
      },
    });
    return { result, text, streams };
  };
  const program = (which: HostileProgram, args: (string | number)[]) => exec(hostile(which, mark, ...args));
  return {
    sandbox: sandbox!,
    outside,
    under,
    reads: [given],
    mark,
    token,
    inside: (path: string) => sandbox!.seenAs(path),
    /** The sandbox's own folder below `under`. */
    folder: () => readdirSync(under)[0]!,
    runs: exec,
    ends: (which: HostileProgram, ...args: (string | number)[]) => program(which, args),
    starts: (which: HostileProgram, ...args: (string | number)[]) =>
      program(which, args).then(({ result }) => result),
    /** The output of all programs so far. */
    said: () => heard,
    /** Runs a program that prints one line of JSON. */
    async tells(which: HostileProgram, ...args: (string | number)[]) {
      const { text, result } = await program(which, args);
      const line = text.split("\n").find((one) => one.startsWith("{"));
      assert.ok(line, JSON.stringify({ text, result }));
      return { seen: JSON.parse(line), text, result };
    },
    alive: () => marked(mark),
    /** Marks the test as skipped. */
    skips: (why: string) => t.skip(why),
    /** Servers on the host, on every kind of socket: the arguments of `reaches`. */
    async serves(): Promise<(string | number)[]> {
      const listens = (where: Parameters<Server["listen"]>[0], says: string) =>
        new Promise<Server>((resolve) => {
          const server = createServer((socket) => socket.on("error", () => {}).end(says));
          servers.push(server);
          server.listen(where, () => resolve(server));
        });
      const tcp = await listens({ port: 0, host: "127.0.0.1" }, "hello tcp");
      const name = `mlrb-${mark}`;
      await listens({ path: `\0${name}` }, "hello abstract");
      const path = join(outside, "socket");
      await listens({ path }, "hello socket");
      const udp = createSocket("udp4", (_, { port, address }) => udp.send("hello udp", port, address));
      await new Promise<void>((resolve) => udp.bind(0, "127.0.0.1", resolve));
      t.after(() => udp.close());
      const port = (server: Server) => (server.address() as { port: number }).port;
      return [port(tcp), udp.address().port, name, path];
    },
    /** The same in a separate supervisor process, which can be killed. */
    supervised(which: HostileProgram, { freezes = false } = {}): ChildProcess {
      const helper = join(dirname(fileURLToPath(import.meta.url)), "sandbox-supervisor.ts");
      const child = spawn(
        process.execPath,
        [helper, maker, JSON.stringify({ options, argv: hostile(which, mark), freezes })],
        {
          stdio: ["ignore", "pipe", "inherit"],
        },
      );
      t.after(() => child.kill("SIGKILL"));
      return child;
    },
  };
}

/** Living processes with `mark` in their arguments, without this process's helpers. */
function marked(mark: string): number[] {
  const found: number[] = [];
  for (const pid of readdirSync("/proc").map(Number).filter(Number.isInteger)) {
    try {
      const args = readFileSync(`/proc/${pid}/cmdline`, "latin1").split("\0");
      if (args.includes(mark) && isRunning(pid)) found.push(pid);
    } catch {
      // ended meanwhile
    }
  }
  return found;
}
