// Runs an agent that is a program of its own.

import type { programGateway } from "../gateway/program-gateway.ts";
import { priceBook } from "../spending/prices.ts";
import { type Started, type SupervisedRun, supervise } from "./supervise.ts";
import type { AgentSupervision, Supervision } from "./supervision.ts";
import type { Ending } from "./watch-program.ts";
import { agentCommand, agentEnvironment, inside } from "./workspace.ts";

const openGateway: typeof programGateway = async (...asked) =>
  (await import("../gateway/program-gateway.ts")).programGateway(...asked); // most programs call no model

/** What a program has beside its output. */
export type ProgramTerminal = {
  /** Before the program starts. */
  open(): Promise<void>;
  /** `failed` gets what could not be recorded, and ends the attempt. */
  serve(failed: (error: unknown) => void): void;
};

/** Throws if the program cannot be started or the record cannot be kept. */
export async function runProgram(
  supervision: Supervision,
  terminal?: ProgramTerminal,
): Promise<SupervisedRun> {
  const { request, clock } = supervision;
  if (request.earlier?.ending) {
    // killed after the end of its program
    const [wallMs, workingMs] = [Math.round(clock.sinceStart()), Math.round(clock.workingMs())];
    return { ending: request.earlier.ending, wallMs, workingMs };
  }
  await terminal?.open();
  const program = await openProgram(supervision);
  const start = (failed: (error: unknown) => void) => {
    terminal?.serve(failed);
    return program.start(failed);
  };
  const ran = await supervise(supervision, start).finally(program.close);
  program.recordEnd(ran.ending);
  return ran;
}

/** Records the program and opens its gateway, before `start` starts it. */
export async function openProgram(supervision: AgentSupervision) {
  const { request, sandbox, trajectory, output, meter, silence, counts, member } = supervision;
  trajectory.add({ event: "exec", argv: request.command });
  const { agent, earlier, network = false, scratch } = request;
  const env: Record<string, string> = {
    ...agentEnvironment(sandbox, request, meter.deadline()),
    ...supervision.downloads?.env,
    ...(earlier && { MLRB_RESTARTS: String(earlier.times + 1) }),
    ...member?.env,
  };
  const gateway =
    request.gateway &&
    (await openGateway(sandbox, {
      ...{ providers: request.gateway, agent, network, scratch, path: env.PATH },
      ...{ meter, silence, counts, write: trajectory.add, prices: request.prices ?? priceBook([]) },
      folder: member ? `gateway-${member.board.member}` : "gateway",
      ...(request.waits && { waiting: request.waits }),
    }));
  return {
    start(failed: (error: unknown) => void): Started {
      const running = sandbox.exec({
        argv: agentCommand(sandbox, request, gateway?.address),
        cwd: sandbox.seenAs(member?.folder ?? inside.workspace),
        env: { ...env, ...gateway?.env },
        onOutput(stream, bytes) {
          try {
            output.take(stream, bytes);
          } catch (error) {
            failed(error);
          }
        },
      });
      if (!gateway) return { running };
      return { running: gateway.ending(running), stop: () => void gateway.close(), silence };
    },
    recordEnd(result: Ending) {
      const where = sandbox.where?.();
      trajectory.add({ event: "exec-end", result, ...(where && { where }) });
    },
    close: async () => gateway?.close(),
  };
}
