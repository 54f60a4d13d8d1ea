// What a gate decides by, and which instances it is about.
import type { Preview } from "@mlrb/local/decide/preview-plan";
import type { StalePolicy } from "@mlrb/local/run/run-request";
import type { Workspace } from "@mlrb/local/store/workspace";

export type Gate = { workspace: Workspace; stale: StalePolicy };

/** The previews whose instances a run would start. */
export function startedIn<T extends Pick<Preview, "action" | "onStale">>(previews: T[]): T[] {
  return previews.filter(
    ({ action, onStale }) => action === "run" || (action === "stale" && onStale === "rerun"),
  );
}
