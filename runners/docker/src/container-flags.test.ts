// Flags that an engine would silently accept with another meaning.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { ExecutionRequest } from "@mlrb/core/ports/executor";
import type { Gpu } from "@mlrb/core/ports/gpu";
import { gpuFlags } from "./confinement-flags.ts";
import { type ContainerEngine, engineFacts } from "./container-engine.ts";
import { hostImageTar } from "./host-image.ts";
import { readMounts } from "./image-environment.ts";
import { mountFlags } from "./mount-flags.ts";
import { stageCreation } from "./stage-flags.ts";
import { readStageLabels, stageLabels } from "./stage-labels.ts";

const engine = (more: Partial<ContainerEngine> = {}): ContainerEngine => ({
  flavour: "docker",
  version: "docker 1",
  rootless: false,
  remapped: false,
  holds: { memory: true, processes: true, cpus: true },
  program: "docker",
  env: {},
  call: () => Promise.reject(new Error("no engine here")),
  ...more,
});

const gpu = (uuid: string): Gpu => ({ index: 0, uuid, model: "", memoryBytes: 1, driver: "", slice: false });

const request: ExecutionRequest = {
  id: "score[task=a,seed=1]",
  key: "key",
  token: "mlrb:run:1",
  run: { kind: "command", command: ["run", "{outputs.x}"] },
  root: "/repository",
  work: "/state/work/run/1",
  env: { PATH: "/bin", API_KEY: "hush", CUDA_VISIBLE_DEVICES: "3", MLRB_TOKEN: "mlrb:run:1" },
  inputs: {},
  outputs: { x: "/state/work/run/1/out/x" },
  log: "/state/work/run/1/log",
  limits: { timeMs: 5000 },
  readOnly: "/state/work/run/1/in",
  reads: [],
  writes: [],
  cpus: 1,
  gpus: [],
};
const image = { id: "sha256:1", reference: { kind: "host" } } as const;

test("GPUs are named one by one, and without any an image cannot request all", () => {
  assert.deepEqual(gpuFlags(engine(), [gpu("GPU-a"), gpu("GPU-b")]), [
    "--gpus",
    '"device=GPU-a,GPU-b","capabilities=compute,utility"',
  ]);
  assert.deepEqual(gpuFlags(engine({ flavour: "podman" }), [gpu("GPU-a")]), [
    "--device",
    "nvidia.com/gpu=GPU-a",
  ]);
  assert.deepEqual(gpuFlags(engine(), []), ["--env", "NVIDIA_VISIBLE_DEVICES=void"]);
});

test("a folder whose name has commas or quotes is one mount", () => {
  assert.deepEqual(mountFlags([{ source: '/a,b"c' }]), [
    "--mount",
    'type=bind,"source=/a,b""c","target=/a,b""c",readonly',
  ]);
});

test("a folder with two mounts is mounted once, by the last", () => {
  assert.deepEqual(mountFlags([{ source: "/usr" }, { source: "/a" }, { source: "/usr", writable: true }]), [
    ...["--mount", "type=bind,source=/usr,target=/usr"],
    ...["--mount", "type=bind,source=/a,target=/a,readonly"],
  ]);
});

test("secrets, the run's token and GPU numbers appear in no argument", () => {
  const { args, env } = stageCreation(engine(), request, { image, labels: {} });
  assert.ok(!args.some((one) => one.includes("hush")));
  assert.equal(env.API_KEY, "hush");
  assert.ok(args.includes("API_KEY") && args.includes("PATH=/bin"));
  assert.ok(!args.includes("CUDA_VISIBLE_DEVICES") && !args.includes("MLRB_TOKEN"));
});

test("only the work folder without its inputs is writable, and users are the same inside and outside", () => {
  const mounts = (one: ContainerEngine) =>
    stageCreation(one, request, { image, labels: {} }).args.filter((arg) =>
      /^type=bind,source=\/(rep|state)/.test(arg),
    );
  assert.deepEqual(mounts(engine()), [
    "type=bind,source=/repository,target=/repository,readonly",
    "type=bind,source=/state/work/run/1,target=/state/work/run/1",
    "type=bind,source=/state/work/run/1/in,target=/state/work/run/1/in,readonly",
  ]);
  const flags = (more: Partial<ContainerEngine>) =>
    stageCreation(engine(more), request, { image, labels: {} }).args.join(" ");
  assert.match(flags({ remapped: true }), / --userns host /);
  assert.match(flags({ rootless: true }), / --user 0:0 /);
  assert.match(flags({ rootless: true, flavour: "podman" }), / --userns keep-id --user \d+:\d+ /);
});

test("a container of an image with the stage's environment shows that one at the host's path", () => {
  const environment = { path: "/state/environments/abc", interpreter: "/opt/python", lock: "1".repeat(64) };
  const reads = ["/data", environment.path, "/opt/python"];
  const shown = (lock?: string) => readMounts(reads, environment, lock === undefined ? {} : { lock });
  assert.deepEqual(shown(), shown("2".repeat(64)), "an image without an environment or with another one");
  assert.deepEqual(shown(), [{ source: "/data" }, { source: environment.path }, { source: "/opt/python" }]);
  const place = mkdtempSync(join(tmpdir(), "mlrb-environment-"));
  const inside = { ...environment, path: join(place, "abc") };
  const links = `${inside.path}.in-image`;
  for (let round = 0; round < 2; round++)
    assert.deepEqual(readMounts(["/data", inside.path, "/opt/python"], inside, inside), [
      { source: "/data" },
      { source: links, target: inside.path },
    ]);
  assert.deepEqual(readMounts(["/data"], inside, inside), [{ source: "/data" }], "the stage that builds it");
  assert.equal(readlinkSync(join(links, "bin")), "/usr/lib/mlrb/environment/bin");
  rmSync(place, { recursive: true });
});

test("a stage that opens what untrusted code made sees its declared paths only, as a user without an account", () => {
  const walls = {
    user: { uid: 60_700, gid: 60_700 },
    required: true,
    reads: ["/usr/bin", "/nowhere/missing"],
    writes: ["/state/work/run/1/out", "/state/work/run/1/tmp"],
    limits: { memoryBytes: 2 ** 31, processes: 77, fileBytes: 2 ** 20 },
  };
  const { args } = stageCreation(engine(), { ...request, walls, network: "none" }, { image, labels: {} });
  const mounts = args.filter((arg) => arg.startsWith("type=bind"));
  assert.ok(!mounts.some((mount) => mount.includes("source=/repository,") || mount.includes("/nowhere")));
  assert.deepEqual(
    mounts.filter((mount) => !mount.endsWith(",readonly")),
    ["out", "tmp", "log"].map(
      (name) => `type=bind,source=/state/work/run/1/${name},target=/state/work/run/1/${name}`,
    ),
  );
  const text = args.join(" ");
  assert.match(text, / --user 60700:60700 /);
  assert.match(text, / --network none /);
  assert.match(text, / --pids-limit 77 /);
  assert.match(text, / --ulimit fsize=1048576 /);
  assert.match(text, / seccomp=\S+sandbox-seccomp.json /);
  assert.doesNotMatch(text, / --group-add /);
  const rootless = stageCreation(engine({ rootless: true }), { ...request, walls }, { image, labels: {} });
  assert.match(rootless.args.join(" "), / --user 0:0 /);
});

test("a stage's name for its user is not passed to the engine's program, which looks up that user's ids", () => {
  const env = { ...request.env, USER: "someone" };
  const created = stageCreation(engine({ flavour: "podman" }), { ...request, env }, { image, labels: {} });
  assert.equal(created.env.USER, undefined);
  assert.ok(created.args.includes("USER=someone"));
});

test("an engine without control groups gets no flag that it would ignore or refuse, but limits of each process", () => {
  const none = { memory: false, processes: false, cpus: false };
  const limited = { ...request, limits: { memoryBytes: 2 ** 31 }, cpus: 1 };
  for (const flavour of ["docker", "podman"] as const) {
    const one = engine({ flavour, rootless: true, holds: none });
    const text = stageCreation(one, limited, { image, labels: {} }).args.join(" ");
    assert.doesNotMatch(text, / --(memory|memory-swap|pids-limit|cpus) /);
    assert.match(text, new RegExp(` --ulimit data=${2 ** 31 + 2 ** 30} `));
    assert.match(text, /,mode=1777,size=536870912 /);
    assert.match(text, / --ulimit nproc=16384/);
  }
});

/** `info` of real engines: rootless ones on a host with control groups of version 1, and those of root. */
const recorded: Record<string, [string, ReturnType<typeof engineFacts>]> = {
  "rootless Docker 20.10": [
    'memory=false processes=false cpus=false ["name=seccomp,profile=default","name=rootless"]',
    { rootless: true, remapped: false, holds: { memory: false, processes: false, cpus: false } },
  ],
  "Docker 20.10 of root": [
    'memory=true processes=true cpus=true ["name=seccomp,profile=default"]',
    { rootless: false, remapped: false, holds: { memory: true, processes: true, cpus: true } },
  ],
  "rootless podman 4.3": [
    '{"cgroupControllers":[],"security":{"rootless":true}}',
    { rootless: true, remapped: false, holds: { memory: false, processes: false, cpus: false } },
  ],
  "rootless podman with systemd's usual delegation": [
    '{"cgroupControllers":["memory","pids"],"security":{"rootless":true}}',
    { rootless: true, remapped: false, holds: { memory: true, processes: true, cpus: false } },
  ],
  "podman 4.3 of root": [
    '{"cgroupControllers":["cpuset","cpu","memory","pids"],"security":{"rootless":false}}',
    { rootless: false, remapped: false, holds: { memory: true, processes: true, cpus: true } },
  ],
};

for (const [name, [said, facts]] of Object.entries(recorded))
  test(`${name}: its limits and users are read from its info`, () => {
    assert.deepEqual(engineFacts(said), facts);
  });

test("labels hold everything that a later run needs to wait for a stage", () => {
  const labels = stageLabels(request, { state: "/state", run: "run", image: "sha256:1" });
  assert.deepEqual(readStageLabels(labels), {
    run: "run",
    stage: request.id,
    key: "key",
    work: request.work,
    log: request.log,
    limits: { timeMs: 5000 },
    image: "sha256:1",
  });
});

test("the host image holds no file of the host", async () => {
  const { stdout, status, stderr } = spawnSync("tar", ["-tvf", "-"], {
    input: await hostImageTar(),
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
  const files = stdout.split("\n").filter((line) => line.startsWith("-"));
  assert.deepEqual(
    files.map((line) => line.split(" ").at(-1)),
    ["etc/passwd", "etc/group", "etc/hosts", "etc/nsswitch.conf"],
  );
  assert.match(stdout, /drwxrwxrwt 0\/0 .* tmp\//);
  assert.deepEqual(await hostImageTar(), await hostImageTar());
});
