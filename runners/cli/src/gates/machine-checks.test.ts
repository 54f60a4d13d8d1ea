import assert from "node:assert/strict";
import { test } from "node:test";
import type { Gpu } from "@mlrb/core/ports/gpu";
import { memorySources } from "@mlrb/core/testing/memory-sources";
import { doctorText } from "../show/doctor-text.ts";
import { hostNow } from "./gate.ts";
import type { Machine } from "./inspect-machine.ts";
import { machineChecks } from "./machine-checks.ts";
import { type ProfilePlan, profileCheck, profilePlans } from "./profile-checks.ts";

const GiB = 2 ** 30;

const gpu: Gpu = {
  index: 0,
  uuid: "GPU-1",
  model: "NVIDIA H100",
  memoryBytes: 80 * GiB,
  driver: "550.54.15",
  slice: false,
};

function machine(changed: Partial<Machine> = {}): Machine {
  return {
    platform: "linux",
    node: "26.10.0",
    wanted: { node: "26.10.0", pnpm: "10.34.9" },
    pnpm: "10.20.0",
    git: "2.39.5",
    bubblewrap: { kind: "works", version: "0.8.0" },
    limitsMemory: true,
    limitsDisk: true,
    noWalls: undefined,
    podman: undefined,
    python: { version: "3.11.7", path: "/usr/bin/python3" },
    docker: { kind: "works", version: "27.0.1" },
    unlimited: [],
    gpus: { gpus: [gpu] },
    root: { path: "/data/mlrb", writable: true, freeBytes: 55.9 * GiB },
    memoryBytes: 23.9 * GiB,
    cpus: 8,
    namespaces: { readOnly: true, network: true },
    ...changed,
  };
}

const text = `formatVersion: 1
name: test
pools: { "api:openai": 4 }
profiles:
  smoke: { default: true }
  paper: { stages: { train: { resources: { gpus: 8, cpus: 16, memory: 64GiB } } } }
  remote: { executor: docker }
stages:
  train: { command: train, network: none, resources: { cpus: 1, memory: 4GiB } }
  ask: { command: ask, secrets: [OPENAI_API_KEY, OTHER_KEY], resources: { pools: { "api:openai": 1 } } }
  tell: { command: tell, secrets: [OPENAI_API_KEY] }
`;

function needs(of = text): ProfilePlan[] {
  const found = profilePlans({ file: "pipelines/test.yaml" }, memorySources({ "pipelines/test.yaml": of }), [
    "local",
  ]);
  for (const one of found) assert.ok("profile" in one, JSON.stringify(one));
  return found as ProfilePlan[];
}

const keys = ["OPENAI_API_KEY", "OTHER_KEY"];

function check(one: ProfilePlan, here: Machine, set = keys, engine = "works") {
  const host = {
    ...hostNow(),
    env: Object.fromEntries(set.map((name) => [name, "x"])),
    gpus: () => here.gpus,
    engine: async () =>
      (engine === "works"
        ? {}
        : { trouble: { kind: "away", detail: "no container engine answers" } }) as Awaited<
        ReturnType<ReturnType<typeof hostNow>["engine"]>
      >,
  };
  const inProfile = (name: string) => {
    const other = needs().find(({ profile }) => profile === name);
    return other && "plan" in other
      ? { plan: other.plan, selected: other.plan.instances.map(({ index }) => index) }
      : undefined;
  };
  return profileCheck(one, here, {
    inProfile,
    sources: memorySources({}),
    state: "",
    purse: { prices: [] },
    host,
  });
}

async function said(changed: Partial<Machine>, set: string[]): Promise<string> {
  const here = machine(changed);
  const profiles = await Promise.all(needs().map((one) => check(one, here, set)));
  return doctorText("test", { checks: machineChecks(here), profiles });
}

test("on a complete machine doctor lists what works, and what another profile lacks", async () => {
  assert.equal(
    await said({}, keys),
    `this machine
  ok       node        26.10.0
  ok       pnpm        10.20.0
  ok       git         2.39.5
  ok       python      3.11.7 with venv, /usr/bin/python3
  ok       disk        55 GiB free for /data/mlrb
  ok       memory      23 GiB
  ok       cpus        8
  ok       namespaces  read-only folders, no network
  ok       walls       stages that open agents' files; memory held by a control group
  ok       bubblewrap  0.8.0
  ok       docker      27.0.1
  ok       gpus        1 × NVIDIA H100, 80 GiB, driver 550.54.15 (0)

test --profile smoke (default): can run here
  ok       plan            3 stage instances
  ok       OPENAI_API_KEY  set, for "ask", "tell"
  ok       OTHER_KEY       set, for "ask"

test --profile paper: cannot run here
  ok       plan            3 stage instances
  ok       OPENAI_API_KEY  set, for "ask", "tell"
  ok       OTHER_KEY       set, for "ask"
  MISSING  gpus            "train" needs 8 GPUs; this host has 1 (nvidia-smi -L)
                           a profile that this host can run: --profile smoke
  note     memory          "train" requests 64 GiB, this host has 23 GiB
                           it will run alone, and may run out of memory
  note     cpus            "train" requests 16, this host has 8
                           it will run alone

test --profile remote: cannot run here
  MISSING  plan  pipelines/test.yaml:7:23 unknown-executor: no executor named "docker"
                 known: local
`,
  );
});

test("doctor says how to get what is missing", async () => {
  const bare = await said(
    {
      node: "22.1.0",
      pnpm: undefined,
      git: undefined,
      bubblewrap: { kind: "missing" },
      python: undefined,
      docker: { kind: "no-daemon", said: "permission denied" },
      gpus: { gpus: [] },
      root: { path: "/data/mlrb", writable: true, freeBytes: 3.19 * GiB },
      namespaces: { readOnly: true, network: false },
    },
    [],
  );
  assert.equal(
    bare.slice(0, bare.indexOf("\n\ntest --profile paper")),
    `this machine
  MISSING  node        22.1.0; the project uses 26.10.0
                       npx -y pnpm@10.34.9 install installs it; then start by ./mlrb
  note     pnpm        not on PATH
                       ./mlrb works without it
  note     git         not on PATH
                       not needed to run; needed to update the project
  MISSING  python      no suitable version
                       no Python 3.10 to 3.13 with venv was found on PATH; install one (Debian and Ubuntu: apt install python3 python3-venv; macOS: brew install python@3.12), or name one in MLRB_BASE_PYTHON
  note     disk        3.1 GiB free for /data/mlrb
                       environments and models take several GiB: free space, or choose another --root
  ok       memory      23 GiB
  ok       cpus        8
  note     namespaces  not allowed here: removing the network
                       allow user namespaces (sysctl user.max_user_namespaces, and on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0), or run as root; otherwise inputs are copied and \`network: none\` is only noted in the log
  ok       walls       stages that open agents' files; memory held by a control group
  note     bubblewrap  not on PATH
                       for untrusted agents, which run in a sandbox or are refused; Debian and Ubuntu: apt install bubblewrap
  note     docker      the server does not answer: permission denied
                       start the server, or join the group docker
  note     gpus        none (nvidia-smi -L)

test --profile smoke (default): cannot run here
  ok       plan            3 stage instances
  MISSING  OPENAI_API_KEY  OPENAI_API_KEY is not set, and ask calls models with it
                           export OPENAI_API_KEY=… before the run; it is never logged or keyed, and no sandbox receives it
  note     OTHER_KEY       not set; optional for "ask"
                           export OTHER_KEY=… before the run; it is never logged or keyed, and no sandbox receives it
  note     network         running without network cannot be enforced here for "train"
                           allow user namespaces (sysctl user.max_user_namespaces, and on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0), or run as root; otherwise inputs are copied and \`network: none\` is only noted in the log`,
  );
});

test("a profile needs Python only where a stage of it runs in an environment", async () => {
  const bare = machine({ python: undefined });
  const [plain] = needs("formatVersion: 1\nname: test\nstages:\n  make: { command: make }\n");
  assert.equal((await check(plain!, bare)).runs, true);
  assert.ok(plain && "plan" in plain);
  for (const one of plain.plan.instances) one.stage = { ...one.stage, name: "environment" };
  assert.equal((await check(plain, bare)).runs, false);
});

test("nothing can run where its state cannot be written", async () => {
  const locked = machine({ root: { path: "/data", writable: false, freeBytes: 55 * GiB } });
  const all = await Promise.all(needs().map((one) => check(one, locked)));
  assert.deepEqual(
    all.map(({ runs }) => runs),
    [false, false, false],
  );
});

test("doctor says that a rootless engine limits no memory, and what follows", async () => {
  const checks = machineChecks(machine({ podman: "4.3.1", unlimited: ["docker", "podman"] }));
  const found = checks.filter(({ name }) => name === "docker" || name === "podman");
  assert.deepEqual(
    found.map(({ answer, found: words }) => [answer, words]),
    ["27.0.1", "4.3.1"].map((version) => ["note", `${version}, rootless without a control group for memory`]),
  );
  assert.match(found[0]!.help!, /untrusted agents are refused: docs\/machines.md/);
});

test("a note about the machine does not stop a profile", async () => {
  const here = machine({
    docker: { kind: "missing" },
    gpus: { gpus: [] },
    git: undefined,
    memoryBytes: GiB,
    cpus: 1,
  });
  const smoke = await check(needs()[0]!, here);
  assert.equal(smoke.runs, true);
  assert.deepEqual(
    smoke.checks.filter(({ answer }) => answer === "note").map(({ name }) => name),
    ["memory"],
  );
});

test("equal GPUs share a line, slices have their own, and the driver's errors are noted", async () => {
  const slice = {
    ...gpu,
    index: 2,
    uuid: "MIG-1",
    model: "NVIDIA H100 MIG 1g.10gb",
    slice: true,
    driver: "",
  };
  const gpus = {
    gpus: [gpu, { ...gpu, index: 1, uuid: "GPU-2" }, { ...slice, memoryBytes: 0 }],
    trouble: "GPU 3 is lost",
  };
  const lines = (await said({ gpus, podman: "4.3.1" }, keys)).split("\n");
  assert.deepEqual(
    lines.filter((line) => / (gpus|podman) /.test(line)),
    [
      "  ok       podman      4.3.1",
      "  ok       gpus        2 × NVIDIA H100, 80 GiB, driver 550.54.15 (0, 1)",
      "  ok       gpus        1 × NVIDIA H100 MIG 1g.10gb (2)",
      "  note     gpus        (nvidia-smi reports: GPU 3 is lost)",
      '  MISSING  gpus            "train" needs 8 GPUs; this host has 2, and 1 slices (MIG); a process sees only one (nvidia-smi reports: GPU 3 is lost)',
    ],
  );
});

test("without control groups doctor names every way to let untrusted agents run", async () => {
  const weak = await said({ limitsMemory: false }, keys);
  const head =
    "note {5}bubblewrap {2}0\\.8\\.0; this user may make no control group for memory\\n +untrusted agents are refused: ";
  for (const way of [
    "as root",
    "systemd-run --user --scope",
    "Delegate=yes",
    "--weak-limits",
    "weakLimits: true",
  ])
    assert.match(weak, new RegExp(`${head}.*${way}`));
  assert.doesNotMatch(weak, /disk limit/);
  assert.match(
    await said({ limitsMemory: false, limitsDisk: false }, keys),
    /Delegate=yes.*disk limit .* only polled/,
  );
});

test("where the disk limit is only polled, doctor says how to get a better one", async () => {
  assert.match(
    await said({ limitsDisk: false }, keys),
    /note {5}bubblewrap {2}0\.8\.0; the disk limit is only polled\n .*root with a loop device.*mkfs\.ext4.*quota/,
  );
});

test("a machine without walls is told which stages run there", async () => {
  assert.match(
    await said({ noWalls: "no walls can be built here: they need Linux, this is darwin" }, keys),
    /note {5}walls {7}no walls can be built here: they need Linux, this is darwin\n +of the stages .* only those of trusted and of recorded attempts run/,
  );
});

test("a bubblewrap that cannot make a sandbox is noted with its message", async () => {
  const bubblewrap = {
    kind: "fails",
    version: "0.8.0",
    said: "No permissions to create new namespace",
  } as const;
  assert.match(
    await said({ bubblewrap }, keys),
    /note {5}bubblewrap {2}0\.8\.0 cannot make a sandbox here: No permissions to create new namespace\n +allow user namespaces/,
  );
});

test("a profile whose stages run in containers cannot run where no engine answers", async () => {
  const boxed = `formatVersion: 1
name: test
profiles: { boxed: { default: true, executor: docker } }
stages: { train: { command: train } }
`;
  const sources = memorySources({ "pipelines/test.yaml": boxed });
  const file = "pipelines/test.yaml";
  const [found] = profilePlans({ file }, sources, ["local", "docker"]) as ProfilePlan[];
  assert.equal((await check(found!, machine())).runs, true);
  const away = await check(found!, machine(), keys, "away");
  assert.equal(away.runs, false);
  const { found: words, help } = away.checks.find(({ name }) => name === "containers")!;
  assert.equal(words, '"train" runs in containers; no container engine answers');
  assert.match(help!, /start Docker or podman, or name one that runs in MLRB_CONTAINER_ENGINE/);
});

test("doctor names the checks that attempts start after", async () => {
  const [own] = needs(`formatVersion: 1
name: test
axes: { task: [reading, writing] }
stages:
  check: { each: [task], command: check }
  attempt: { each: [task], command: try, durable: true, startAfter: [check] }
`);
  const { checks } = await check(own!, machine());
  assert.deepEqual(
    checks.map(({ name, found }) => [name, found]),
    [
      ["plan", "4 stage instances"],
      [
        "starts",
        "attempts start after check[task=reading], check[task=writing]; `plan` says what is expected",
      ],
    ],
  );
});
