import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPlan } from "@mlrb/core/plan/load-plan";
import type { Plan } from "@mlrb/core/plan/plan";
import type { Gpu } from "@mlrb/core/ports/gpu";
import { memorySources } from "@mlrb/core/testing/memory-sources";
import { renderDiagnostic } from "@mlrb/core/yaml/diagnostic";
import type { Preview } from "@mlrb/local/decide/preview-plan";
import type { Inventory } from "@mlrb/local/leases/gpu-inventory";
import { refusals } from "./check.ts";
import { hostNow, startedIn } from "./gate.ts";
import { gpuGate } from "./gpu-gate.ts";

const text = `formatVersion: 1
name: test
profiles:
  large: { default: true }
  small: { stages: { train: { resources: { gpus: 1 } } } }
  none: { resources: { gpus: 0 } }
  cluster: { executor: slurm }
  box: { executor: docker }
stages:
  train: { command: train, resources: { gpus: 8 } }
  serve: { command: serve, resources: { gpus: 1 } }
  count: { command: count }
`;

function planned(profile: string): Plan {
  const sources = memorySources({ "pipelines/test.yaml": text });
  const result = loadPlan({ file: "pipelines/test.yaml", profile }, sources, ["local", "docker", "slurm"]);
  if ("problems" in result) throw new Error(result.problems.map(renderDiagnostic).join("\n"));
  return result.plan;
}

function gpus(amount: number, slice = false): Gpu[] {
  return Array.from({ length: amount }, (_, index) => ({
    index,
    uuid: `GPU-${index}-${slice}`,
    model: "H100",
    memoryBytes: 0,
    driver: "550",
    slice,
  }));
}

function tooFewGpus(
  asked: { plan: Plan; inProfile: Parameters<typeof gpuGate>[0]["inProfile"] },
  previews: Preview[],
  here: Inventory,
) {
  const starts = startedIn(previews).map(({ index }) => asked.plan.instances[index]!);
  return refusals(gpuGate({ ...asked, starts, host: { gpus: () => here } }))[0];
}

/** The refusal if `actions` were taken, by stage: run, reuse or stale (and left). */
function said(
  profile: string,
  here: number | Inventory,
  actions: Record<string, Preview["action"] | "rerun"> = {},
) {
  const plan = planned(profile);
  const previews = plan.instances.map(({ index, stage }): Preview => {
    const action = actions[stage.name] ?? "run";
    const more = { index, certain: true, reasons: [], expectedMs: undefined };
    if (action === "rerun") return { ...more, action: "stale", onStale: "rerun" };
    return action === "stale" ? { ...more, action, onStale: "leave" } : { ...more, action };
  });
  const inProfile = (name: string) => {
    const other = planned(name);
    return { plan: other, selected: other.instances.map(({ index }) => index) };
  };
  const inventory = typeof here === "number" ? { gpus: gpus(here) } : here;
  const problem = tooFewGpus({ plan, inProfile }, previews, inventory);
  return problem && renderDiagnostic(problem);
}

test("a stage that needs more GPUs than the host has is refused with the profiles that the host can run", () => {
  assert.equal(
    said("large", 0),
    `too-few-gpus: "train" needs 8 GPUs, "serve" needs 1 GPU; this host has none (nvidia-smi -L)
  help: profiles that this host can run: --profile none, --profile cluster`,
  );
  assert.equal(
    said("large", 4),
    `too-few-gpus: "train" needs 8 GPUs; this host has 4 (nvidia-smi -L)
  help: profiles that this host can run: --profile small, --profile none, --profile cluster`,
  );
  assert.equal(said("large", 8), undefined);
});

test("a stage is refused whose own GPUs and those of its service are more than the host has", () => {
  const plan = planned("large");
  const [train, service] = plan.instances;
  plan.instances = [service!, { ...train!, index: 1, uses: { name: "serve", from: 0 } }];
  const previews: Preview[] = [0, 1].map((index) => ({
    ...{ index, action: "run", certain: true, reasons: [], expectedMs: undefined },
  }));
  const request = { plan, inProfile: () => ({ plan, selected: [0, 1] }) };
  assert.equal(tooFewGpus(request, previews, { gpus: gpus(9) }), undefined);
  assert.equal(
    tooFewGpus(request, previews, { gpus: gpus(8) })?.message,
    '"train" needs 9 GPUs with its service; this host has 8 (nvidia-smi -L)',
  );
});

test("reused instances and stale ones that are left need no GPU", () => {
  assert.equal(said("large", 1, { train: "reuse" }), undefined);
  assert.equal(said("large", 1, { train: "stale" }), undefined);
  assert.match(said("large", 1, { train: "rerun" })!, /"train" needs 8 GPUs; this host has 1 /);
});

test("a stage on another executor needs no GPU of this host", () => {
  assert.equal(said("cluster", 0), undefined);
  const plan = planned("cluster");
  const path = process.env.PATH;
  process.env.PATH = "/nowhere"; // nvidia-smi cannot be found: a stage that runs elsewhere must not call it
  try {
    assert.equal(hostNow().gpus(plan.instances).gpus.length, 0);
  } finally {
    process.env.PATH = path;
  }
});

test("without a suitable profile the refusal names the GPUs that a host needs", () => {
  const plan = { ...planned("large"), profiles: ["large"] };
  const previews: Preview[] = [
    { index: 0, action: "run", certain: false, reasons: [], expectedMs: undefined },
  ];
  const inProfile = () => assert.fail("there is no other");
  assert.equal(
    renderDiagnostic(tooFewGpus({ plan, inProfile }, previews, { gpus: [] })!).split("\n")[1],
    "  help: run test on a host with 8 GPUs; no profile needs fewer",
  );
});

test("a stage in a container of this host needs its GPUs", () => {
  assert.match(
    said("box", 0)!,
    /^too-few-gpus: "train" needs 8 GPUs, "serve" needs 1 GPU; this host has none/,
  );
  assert.equal(said("box", 8), undefined);
});

test("several MIG slices do not count as several GPUs, but one slice counts as one", () => {
  const divided = { gpus: [...gpus(7, true), ...gpus(2)] };
  assert.match(
    said("large", divided)!,
    /^too-few-gpus: "train" needs 8 GPUs; this host has 2, and 7 slices \(MIG\); a process sees only one /,
  );
  assert.equal(said("small", divided), undefined);
});

test("the refusal repeats the driver's reason", () => {
  assert.match(
    said("large", { gpus: [], trouble: "it did not answer" })!,
    /has none \(nvidia-smi reports: it did not answer\)\n/,
  );
});
