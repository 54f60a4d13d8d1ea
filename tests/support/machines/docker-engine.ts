// A test's own Docker engine: a private dockerd on a unix socket, with its state in a short folder under /tmp and
// without a bridge, so that the host's network is not changed. No image is pulled; images are made from scratch.
// Where dockerd is not installed or may not run, tests are skipped with a reason.
import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isRunning } from "../processes.ts";
import { lacking } from "./debian-tool.ts";

export type TestEngine = {
  /** The environment for programs that use the engine, with DOCKER_HOST. */
  env: NodeJS.ProcessEnv;
  /** The folder with the engine's state. */
  folder: string;
  /** The requests to the fake NVIDIA hook, one entry for each container with GPUs. */
  gpusGiven(): string[];
  docker(...args: string[]): { status: number | null; stdout: string; stderr: string };
  /** The whole id of the only running container. Waits: a stage's first words come before the engine lists it. */
  onlyContainer(): Promise<string>;
  /** kill -9 of dockerd. */
  crash(): Promise<void>;
  /** Restarts it after a crash. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

/** Why there is no engine, for `skip`. */
export async function testEngine(options: { gpus?: string[] } = {}): Promise<TestEngine | { skip: string }> {
  if (process.platform !== "linux") return { skip: "a private dockerd is for Linux only" };
  if (process.getuid?.() !== 0) return { skip: "a private dockerd needs root" };
  for (const [program, pack] of [
    ["dockerd", "docker.io"],
    ["docker", "docker.io"],
    ["docker-init", "docker.io"],
  ] as const) {
    const why = lacking(program, pack);
    if (why !== false) return { skip: why };
  }
  const folder = mkdtempSync("/tmp/dk-");
  const path = fakeNvidia(folder, options.gpus ?? []);
  const env = {
    ...process.env,
    DOCKER_HOST: `unix://${folder}/s`,
    DOCKER_CONFIG: join(folder, "config"),
    MLRB_CONTAINER_ENGINE: "docker",
  };
  const docker: TestEngine["docker"] = (...args) => {
    const { status, stdout, stderr } = spawnSync("docker", args, { env, encoding: "utf8", timeout: 60_000 });
    return { status, stdout: stdout.trim(), stderr: stderr.trim() };
  };
  let pid = 0;

  const start = async () => {
    // a dead containerd may stay a zombie for a while, which the next dockerd takes for alive
    const containerd = join(folder, "exec/containerd/containerd.pid");
    if (existsSync(containerd) && !isRunning(Number(readFileSync(containerd, "utf8")))) rmSync(containerd);
    rmSync(join(folder, "pid"), { force: true });
    const log = openSync(join(folder, "log"), "a");
    const child = spawn(
      "dockerd",
      [
        ...[
          "--host",
          `unix://${folder}/s`,
          "--data-root",
          join(folder, "data"),
          "--exec-root",
          join(folder, "exec"),
        ],
        ...["--pidfile", join(folder, "pid"), "--bridge=none", "--iptables=false", "--ip6tables=false"],
        ...["--ip-masq=false", "--log-level", "warn"],
      ],
      {
        env: { ...env, PATH: `${path}${delimiter}${process.env.PATH}` },
        stdio: ["ignore", log, log],
        detached: true,
      },
    );
    closeSync(log);
    child.unref();
    pid = child.pid ?? 0;
    for (let round = 0; round < 300; round++) {
      if (docker("version", "--format", "{{.Server.Version}}").status === 0) return;
      if (pid === 0 || !isRunning(pid)) break;
      await sleep(100);
    }
    const said = readFileSync(join(folder, "log"), "utf8").trim().split("\n").slice(-3).join(" ");
    throw new Error(`dockerd does not start here: ${said}`);
  };
  const ended = async (one: number, limitMs: number) => {
    for (let waited = 0; waited < limitMs && isRunning(one); waited += 50) await sleep(50);
    return !isRunning(one);
  };
  const engine: TestEngine = {
    env,
    folder,
    docker,
    async onlyContainer() {
      for (let round = 0; round < 200; round++) {
        const ids = docker("ps", "--quiet", "--no-trunc").stdout.split("\n");
        if (ids.length === 1 && ids[0]) return ids[0];
        await sleep(50);
      }
      throw new Error(`not one running container:\n${docker("ps", "--all").stdout}`);
    },
    gpusGiven: () =>
      (existsSync(hookLog(folder)) ? readFileSync(hookLog(folder), "utf8") : "").split("\n").filter(Boolean),
    async crash() {
      const containerd = readFileSync(join(folder, "exec/containerd/containerd.pid"), "utf8");
      process.kill(pid, "SIGKILL");
      await ended(pid, 10_000);
      await ended(Number(containerd), 10_000); // containerd ends shortly after its dockerd
    },
    async restart() {
      // leftovers of a killed dockerd (a containerd, mounts) may block the next one for a moment on a busy machine
      for (let trial = 1; ; trial++) {
        try {
          return await start();
        } catch (error) {
          if (trial === 3) throw error;
          await sleep(1000);
        }
      }
    },
    async stop() {
      docker("ps", "-aq")
        .stdout.split("\n")
        .filter(Boolean)
        .forEach((id) => void docker("rm", "-f", id));
      if (isRunning(pid)) process.kill(pid, "SIGTERM");
      if (!(await ended(pid, 20_000))) process.kill(pid, "SIGKILL");
      const containerd = join(folder, "exec/containerd/containerd.pid");
      if (existsSync(containerd)) {
        const left = Number(readFileSync(containerd, "utf8"));
        if (isRunning(left) && readFileSync(`/proc/${left}/cmdline`, "utf8").includes(folder)) {
          process.kill(left, "SIGTERM");
          await ended(left, 10_000);
        }
      }
      const mounts = readFileSync("/proc/mounts", "utf8")
        .split("\n")
        .map((line) => line.split(" ")[1] ?? "");
      for (const mount of mounts.filter((one) => one.startsWith(`${folder}/`)).reverse())
        spawnSync("umount", ["-l", mount]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    await start();
  } catch (error) {
    await engine.stop();
    return { skip: (error as Error).message };
  }
  return engine;
}

const hookLog = (folder: string) => join(folder, "hook.log");

/**
 * A fake of the hook through which dockerd assigns GPUs to containers. It assigns none: it records the requests
 * and refuses a device that does not exist, like the real hook.
 */
function fakeNvidia(folder: string, gpus: string[]): string {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  if (gpus.length === 0) return bin;
  const hook = join(bin, "nvidia-container-runtime-hook");
  writeFileSync(
    hook,
    `#!/bin/sh
state=$(cat)
bundle=$(printf '%s' "$state" | sed -n 's/.*"bundle":"\\([^"]*\\)".*/\\1/p')
wanted=$(grep -o '"NVIDIA_VISIBLE_DEVICES=[^"]*"' "$bundle/config.json" | head -n 1 | tr -d '"')
wanted=\${wanted#*=}
printf '%s\\n' "$wanted" >> '${hookLog(folder)}'
for one in $(printf '%s' "$wanted" | tr ',' ' '); do
  case " ${gpus.join(" ")} void " in *" $one "*) ;; *) echo "fake nvidia hook: $one: unknown device" >&2; exit 1 ;; esac
done
`,
  );
  chmodSync(hook, 0o755);
  return bin;
}
