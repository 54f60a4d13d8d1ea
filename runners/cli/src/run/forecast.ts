// Estimates the end of a run from earlier durations of its instances and their current states.

import type { Plan } from "@mlrb/core/plan/plan";
import { type Standing, type TimedWork, type TimeLeft, timeLeft } from "@mlrb/core/schedule/time-left";
import { capacity } from "@mlrb/local/run/capacity";
import { expectedMs, workOf } from "@mlrb/local/run/work-of";
import type { Workspace } from "@mlrb/local/store/workspace";

/** `standing`: the state of an instance, by its index in the plan. */
export type Forecast = (standing: (index: number) => Standing) => TimeLeft | undefined;

type ForecastOptions = { plan: Plan; selected: number[]; jobs: number | undefined; workspace: Workspace };

/** Reads durations on the first call only: a run with nothing to do never calls. */
export function forecast(asked: ForecastOptions): Forecast {
  let known: { works: TimedWork[]; capacity: ReturnType<typeof capacity> } | undefined;
  return (standing) => {
    known ??= { works: timedWorks(asked), capacity: capacity(asked) };
    return timeLeft(known.works, { standings: asked.selected.map(standing), capacity: known.capacity });
  };
}

/** Instances that last shared an action probably share it again: its time counts once. */
function timedWorks({ plan, selected, workspace }: ForecastOptions): TimedWork[] {
  const position = new Map(selected.map((index, at) => [index, at]));
  const timed = new Set<string>();
  return selected.map((index) => {
    const instance = plan.instances[index]!;
    const { expectedMs: _, ...work } = workOf(instance, { plan, position, workspace });
    const last = workspace.last.get(instance.id);
    // a service takes as long as its users
    if (instance.execution.service) return { ...work, stage: instance.stage.name, tookMs: 0 };
    const tookMs = last && timed.has(last.key) ? 0 : expectedMs(instance, { plan, workspace });
    if (last) timed.add(last.key);
    return { ...work, stage: instance.stage.name, tookMs };
  });
}
