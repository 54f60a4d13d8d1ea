// An attempt whose sandbox is on a disk that its next host does not see keeps its files once more when it is interrupted.

/** In the environment of such an attempt's step: how long the last checkpoint may take, ms. */
export const lastCheckpointVariable = "MLRB_LAST_CHECKPOINT_MS";

/** 0 for an attempt whose files stay where they are. */
export function lastCheckpointMs(env: Record<string, string | undefined> = process.env): number {
  return Number(env[lastCheckpointVariable] ?? 0);
}
