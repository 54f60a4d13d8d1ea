// Holds back programs that are to start while their sandbox is frozen. A control group would stop them half-way,
// an engine would refuse them, and a freeze by signals would miss them. A program that was requested before a kill
// never starts after it, and after the end of the sandbox none starts.
import type { ExecRequest, ExecResult, Sandbox } from "@mlrb/core/ports/sandbox";

type Stoppable = Pick<Sandbox, "exec" | "freeze" | "thaw" | "kill">;

type Inner = Omit<Stoppable, "exec"> & {
  /** Asks `wanted` after each wait before it starts the program: false once a kill or the end came in between. */
  exec(request: ExecRequest, wanted: () => boolean): Promise<ExecResult>;
};

/** `shut`: from now on nothing starts. */
export function startGate(inner: Inner): Stoppable & { shut(): void } {
  let gate: PromiseWithResolvers<void> | undefined;
  let kills = 0;
  let isShut = false;
  const leave = () => {
    gate?.resolve();
    gate = undefined;
  };
  return {
    async exec(request) {
      const before = kills;
      const wanted = () => kills === before && !isShut;
      while (gate && wanted()) await gate.promise;
      return wanted() ? await inner.exec(request, wanted) : killed;
    },
    async freeze() {
      gate ??= Promise.withResolvers();
      const frozen = await inner.freeze();
      if (!frozen) leave();
      return frozen;
    },
    async thaw() {
      try {
        return await inner.thaw();
      } finally {
        leave();
      }
    },
    async kill() {
      kills++;
      try {
        await inner.kill();
      } finally {
        leave();
      }
    },
    shut() {
      isShut = true;
      leave();
    },
  };
}

/** What a program gives that a kill ended, or kept from starting. */
export const killed: ExecResult = { kind: "signalled", signal: "SIGKILL" };
