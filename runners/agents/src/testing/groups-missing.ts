// Why tests of limits that only the kernel's control groups hold cannot run here; undefined if they can.

import { type Controller, makeControlGroups } from "@mlrb/kit/processes/control-groups";
import { bubblewrapMissing } from "../sandbox/bubblewrap-abilities.ts";

export async function groupsMissing(wanted: Controller[]): Promise<string | undefined> {
  const groups = makeControlGroups(`probe-${process.pid}`, {
    memoryBytes: 2 ** 29,
    processes: 128,
    cpus: 1,
  });
  await groups.remove();
  const lacks = wanted.filter((one) => !groups.has.has(one));
  if (lacks.length > 0) return `this user may make no control group for ${lacks.join(" and ")}`;
  return await bubblewrapMissing();
}
