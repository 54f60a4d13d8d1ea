// Runs an agent that is a program of its own.

import type { programGateway } from "../gateway/program-gateway.ts";
import { providerSilence } from "../model/provider-silence.ts";
import { priceBook } from "../spending/prices.ts";
import { type SupervisedRun, supervise } from "./supervise.ts";
import type { Supervision } from "./supervision.ts";
import { agentCommand, agentEnvironment, inside } from "./workspace.ts";

const openGateway: typeof programGateway = async (...asked) =>
  (await import("../gateway/program-gateway.ts")).programGateway(...asked); // most programs call no model

/** Throws if the program cannot be started or the record cannot be kept. */
export async function runProgram(supervision: Supervision): Promise<SupervisedRun> {
  const { request, sandbox, trajectory, output, meter, clock } = supervision;
  if (request.earlier?.ending) {
    // killed after the end of its program
    const [wallMs, workingMs] = [Math.round(clock.sinceStart()), Math.round(clock.workingMs())];
    return { ending: request.earlier.ending, wallMs, workingMs };
  }
  trajectory.add({ event: "exec", argv: request.command });
  const { agent, earlier, network = false, scratch } = request;
  const env: Record<string, string> = {
    ...agentEnvironment(sandbox, request, meter.deadline()),
    ...supervision.downloads?.env,
    ...(earlier && { MLRB_RESTARTS: String(earlier.times + 1) }),
  };
  const silence = providerSilence({ budgetMs: request.budget.timeMs });
  const gateway =
    request.gateway &&
    (await openGateway(sandbox, {
      providers: request.gateway,
      agent,
      network,
      scratch,
      path: env.PATH,
      meter,
      silence,
      write: trajectory.add,
      prices: request.prices ?? priceBook([]),
      ...(request.waits && { waiting: request.waits }),
      ...(earlier && { before: { calls: earlier.calls, answered: earlier.step } }),
    }));
  const ran = await supervise(supervision, (failed) => {
    const running = sandbox.exec({
      argv: agentCommand(sandbox, request, gateway?.address),
      cwd: sandbox.seenAs(inside.workspace),
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
    return {
      running: gateway.ending(running),
      stop: () => void gateway.close(),
      silence,
    };
  }).finally(() => gateway?.close());
  const where = sandbox.where?.();
  trajectory.add({ event: "exec-end", result: ran.ending, ...(where && { where }) });
  return ran;
}
