// The limits of an attempt's sandbox that no kernel held, as manifests and reports keep them.
import * as t from "../schema.ts";

export const weakLimits = {
  ...t.listOf(t.oneOf("no-sandbox", "memory", "disk", "not-recorded")),
  minItems: 1,
  uniqueItems: true,
  description:
    "of an untrusted agent's attempt: limits that were only polled (memory, disk), or that nothing held (no-sandbox); not-recorded: its record does not say. Absent: the kernel held them, or the agent is trusted",
} as const;
export type WeakLimits = t.TypeOf<typeof weakLimits>;
