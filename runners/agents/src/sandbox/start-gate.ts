// Holds back programs that are to start while their sandbox is frozen. A control group would stop them half-way, an
// engine would refuse them, and a freeze by signals would miss them.
import type { ExecResult, Sandbox } from "@mlrb/core/ports/sandbox";

type Stoppable = Pick<Sandbox, "exec" | "freeze" | "thaw" | "kill">;

export function startGate(inner: Stoppable): Stoppable {
  type Gate = PromiseWithResolvers<"open" | "ended">;
  let gate: Gate | undefined;
  const leave = (how: "open" | "ended") => {
    gate?.resolve(how);
    gate = undefined;
  };
  return {
    async exec(request) {
      while (gate) if ((await gate.promise) === "ended") return killed;
      return await inner.exec(request);
    },
    async freeze() {
      gate ??= Promise.withResolvers();
      const frozen = await inner.freeze();
      if (!frozen) leave("open");
      return frozen;
    },
    async thaw() {
      try {
        return await inner.thaw();
      } finally {
        leave("open");
      }
    },
    async kill() {
      try {
        await inner.kill();
      } finally {
        leave("ended"); // not started, and never to be
      }
    },
  };
}

const killed: ExecResult = { kind: "signalled", signal: "SIGKILL" };
