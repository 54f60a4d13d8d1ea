// The time that services ran and held GPUs, apart from the attempts' own. A line at the start, each minute and at
// the end, so that a killed run loses a minute at most.
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import type { Instance, Plan } from "@mlrb/core/plan/plan";
import { type ServiceHoursLine, serviceHours } from "@mlrb/formats/stage/service-hours";
import { canonicalJson } from "@mlrb/kit/json-file";
import { quiet } from "@mlrb/kit/processes/process-table";
import { linesOf } from "../records/decision-log.ts";
import type { StateFolder } from "../store/state-folder.ts";

const intervalMs = 60_000;

type Of = { plan: Plan; run: string; workspace: { state: StateFolder } };

export class ServiceHours {
  readonly #file: string;
  readonly #line: Omit<ServiceHoursLine, "seconds">;
  readonly #beginMs: number;
  readonly #timer: NodeJS.Timeout;

  constructor({ stage, execution }: Instance, { plan, run, workspace }: Of) {
    this.#beginMs = performance.now();
    this.#file = fileOf(workspace.state);
    const { pipeline, profile } = plan;
    const { gpus } = execution.resources;
    const startedAt = new Date().toISOString();
    this.#line = { formatVersion: 1, service: stage.name, pipeline, profile, run, startedAt, gpus };
    this.#write();
    this.#timer = setInterval(() => this.#write(), intervalMs).unref();
  }

  end(): void {
    clearInterval(this.#timer);
    this.#write();
  }

  #write(): void {
    const seconds = Math.round(performance.now() - this.#beginMs) / 1000;
    // a full disk ends no service
    quiet(() => appendFileSync(this.#file, `${canonicalJson({ ...this.#line, seconds })}\n`));
  }
}

export type ServiceTotal = { service: string; starts: number; hours: number; gpuHours: number };

/** Of the services of a pipeline and profile over all runs, or of one run, by name. */
export function serviceTotals(
  state: Pick<StateFolder, "state">,
  wanted: { pipeline: string; profile: string; run?: string },
): ServiceTotal[] {
  const last = new Map<string, ServiceHoursLine>();
  for (const line of linesOf(serviceHours, fileOf(state))) {
    const { service, run, startedAt, pipeline, profile } = line;
    if (pipeline !== wanted.pipeline || profile !== wanted.profile) continue;
    if (wanted.run === undefined || run === wanted.run) last.set([service, run, startedAt].join(" "), line);
  }
  const totals = new Map<string, ServiceTotal>();
  for (const { service, seconds, gpus } of last.values()) {
    const total = totals.getOrInsertComputed(service, () => ({ service, starts: 0, hours: 0, gpuHours: 0 }));
    total.starts++;
    total.hours += seconds / 3600;
    total.gpuHours += (seconds * gpus) / 3600;
  }
  return [...totals.values()].sort((a, b) => (a.service < b.service ? -1 : 1));
}

function fileOf({ state }: Pick<StateFolder, "state">): string {
  return join(state, "services.jsonl");
}
