// Everything that may refuse a run before anything starts.
import type { RunPurse } from "@mlrb/local/run/run-request";
import { refuse } from "../request/refuse.ts";
import type { Request } from "../request/request.ts";
import { imagesBuilt } from "./build-images.ts";
import { checkGate } from "./check-gate.ts";
import { containerGate } from "./container-gate.ts";
import { type CostOptions, costAgreed } from "./cost-gate.ts";
import type { Gate } from "./gate.ts";
import { gpuGate } from "./gpu-gate.ts";
import { keyGate } from "./key-gate.ts";
import { priceGate } from "./price-gate.ts";
import { slurmGate } from "./slurm-gate.ts";
import { sourceGate } from "./source-gate.ts";

/** Whether the run may start; false after printing why not. */
export async function mayRun(
  request: Request,
  gate: Gate,
  { purse, options }: { purse: RunPurse; options: CostOptions & { json: boolean } },
): Promise<boolean> {
  const problems = [
    await checkGate(request, gate),
    ...(await sourceGate(request, gate)),
    await keyGate(request, gate),
    await priceGate(request, gate, purse),
    await containerGate(request, gate),
    await slurmGate(request, gate, purse),
    await gpuGate(request, gate),
  ].filter((problem) => problem !== undefined);
  if (problems.length > 0) {
    refuse(problems, options.json);
    return false;
  }
  if (!(await costAgreed(request, gate, options))) return false;
  const unbuilt = await imagesBuilt(request, gate, (line) => console.error(line));
  if (unbuilt) refuse([unbuilt], options.json);
  return unbuilt === undefined;
}
