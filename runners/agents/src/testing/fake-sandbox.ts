// A sandbox without files, whose programs end as the test decides.
import type { Sandbox } from "@mlrb/core/ports/sandbox";

export function fakeSandbox(exec: Sandbox["exec"] = async () => ({ kind: "exited", code: 0 })): Sandbox {
  const none = async () => {};
  const done = async () => true;
  return {
    kind: "fake",
    seenAs: (inside) => `/attempt/${inside}`,
    ...{ exec, put: none, get: async () => undefined, freeze: done, thaw: done, kill: none, close: none },
    snapshot: async () => ({ kind: "unchanged" }),
  };
}
