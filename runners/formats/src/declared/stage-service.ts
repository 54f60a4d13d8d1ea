// The format of a stage that is a server for other stages (docs/machines.md).
import * as t from "../schema.ts";

const names = { ...t.list, uniqueItems: true } as const;

export const service = t.about(
  t.partialObject({
    for: t.about(
      names,
      "The stages that may use it: an instance of them does if its command or its parameters name {services.NAME.url}.",
    ),
    health: t.about(
      { type: "string", pattern: "^/[!-~]*$", patternErrorMessage: "a path, e.g. /health" },
      "a path, which answers 200 once it is ready (default: /health)",
    ),
    ready: t.about(t.duration, "Time until its first such answer, with a unit (default: 10m)."),
    restarts: t.about(
      t.count,
      "How often it is started again if it ends while a stage uses it (default: 3).",
    ),
  }),
  "It is a server: its command listens on {port} of 127.0.0.1, and runs for as long as stages use it.",
);
