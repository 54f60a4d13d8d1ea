// Why a run leaves an attempt as it is, with the way out.
import { attemptId } from "@mlrb/core/ports/attempt-wait";
import type { Owner } from "@mlrb/formats/stage/process-owner";
import type { PlacedAttempt } from "../attempts/attempt-folders.ts";
import { ownerWords } from "../leases/owner.ts";
import type { CarriedOut } from "./carried-out.ts";

function refused(detail: string): CarriedOut {
  return { kind: "failed", cause: "operator", detail };
}

/** Another step next to its job would write the same files, and pay the same calls. The attempt stays as it is. */
export const needsItsExecutor = refused(
  "its job on the cluster may still run: continue it with the profile that began it (executor slurm), or end it with `attempts stop`",
);

/** The attempt stays as it is: nothing of it is lost. */
export function needsSecrets({ name }: Pick<PlacedAttempt, "name">, unset: string[]): CarriedOut {
  return refused(
    `its supervisor or host died, and it can continue only with ${unset.join(", ")}: export it, then \`pnpm pipeline attempts resume ${attemptId(name)}\` or run again`,
  );
}

/** Another host has taken it, with the lease of this run. */
export function runsElsewhere(owner: Owner): CarriedOut {
  return refused(`the attempt runs under ${ownerWords(owner)}; run again to wait for it`);
}

export const goneMeanwhile = refused(
  "an attempt in its place was lost after this run was confirmed; another attempt costs again: run again to confirm it",
);
