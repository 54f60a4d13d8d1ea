// What a gate decides by, and which instances it is about.
import type { Preview } from "@mlrb/local/decide/preview-plan";
import type { StalePolicy } from "@mlrb/local/run/run-request";
import type { Workspace } from "@mlrb/local/store/workspace";
import type { Request } from "../request/request.ts";

export type Gate = { workspace: Workspace; stale: StalePolicy };

/** The previews whose instances a run would start. */
export function startedIn<T extends Pick<Preview, "action" | "onStale">>(previews: T[]): T[] {
  return previews.filter(
    ({ action, onStale }) => action === "run" || (action === "stale" && onStale === "rerun"),
  );
}

export type ProfiledPlan = Pick<Request, "plan" | "inProfile">;

/** The options that select the other profiles in which the request is valid and `fits`. */
export function profilesWhere(
  { plan, inProfile }: ProfiledPlan,
  fits: (other: Pick<Request, "plan" | "selected">) => boolean,
): string[] {
  const others = plan.profiles.filter((name) => {
    const other = name === plan.profile ? undefined : inProfile(name);
    return other && fits(other);
  });
  return others.map((name) => `--profile ${name}`);
}
