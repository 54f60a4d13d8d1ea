import assert from "node:assert/strict";
import { test } from "node:test";
import type { Instance, Plan } from "@mlrb/core/plan/plan";
import type { Workspace } from "@mlrb/local/store/workspace";
import { forecast } from "./forecast.ts";

const execution = { executor: "local", resources: { cpus: 1, memoryBytes: 0, gpus: 0, pools: {} } };

function instance(index: number, stage: string, needs: number[] = []): Instance {
  const inputs = needs.map((from) => ({ from }));
  return {
    index,
    id: `${stage}[n=${index}]`,
    stage: { name: stage },
    inputs,
    members: [],
    execution,
  } as never;
}

const instances = [
  instance(0, "unselected"),
  instance(1, "make"),
  instance(2, "make"),
  instance(3, "report", [0, 1, 2]),
];

function asked(took: Record<string, number>, keyOf = (id: string) => id, takesMs = {}) {
  const looks: string[] = [];
  const get = (id: string) => {
    looks.push(id);
    return took[id] === undefined ? undefined : { key: keyOf(id), durationMs: took[id] };
  };
  const workspace = { last: { get } } as unknown as Workspace;
  const plan = { instances, pools: {}, takesMs } as unknown as Plan;
  return { looks, foretell: forecast({ plan, selected: [1, 2, 3], jobs: 1, workspace }) };
}

test("the estimate of a run uses earlier durations, and reads nothing before the first call", () => {
  const { looks, foretell } = asked({ "make[n=1]": 1000, "make[n=2]": 3000, "report[n=3]": 500 });
  assert.deepEqual(looks, []);
  assert.deepEqual(
    foretell(() => ({ kind: "waiting" })),
    { ms: 4500, untimed: 0 },
  );
  const standing = (index: number) =>
    index === 1 ? { kind: "ended" as const } : { kind: "waiting" as const };
  assert.deepEqual(foretell(standing), { ms: 3500, untimed: 0 });
});

test("instances that last shared an action count once in the estimate", () => {
  const took = { "make[n=1]": 3000, "make[n=2]": 3000, "report[n=3]": 500 };
  const { foretell } = asked(took, (id) => id.replace(/\[.*/, ""));
  assert.deepEqual(
    foretell(() => ({ kind: "waiting" })),
    { ms: 3500, untimed: 0 },
  );
});

test("a first run is estimated as its profile declares, and an earlier duration comes first", () => {
  const all = () => ({ kind: "waiting" }) as const;
  const takesMs = { make: 2000 };
  assert.deepEqual(asked({}, undefined, takesMs).foretell(all), { ms: 4000, untimed: 1 });
  assert.deepEqual(asked({ "make[n=1]": 500 }, undefined, takesMs).foretell(all), { ms: 2500, untimed: 1 });
});

test("a first run of a profile that declares no times has no estimate", () => {
  assert.equal(
    asked({}).foretell(() => ({ kind: "waiting" })),
    undefined,
  );
});
