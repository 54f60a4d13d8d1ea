// Runs an agent that is a program of its own.
import type { AttemptRequest } from "./attempt-request.ts";
import { type Supervision, supervise } from "./supervise.ts";
import type { Ending } from "./watch-program.ts";
import { agentCommand, agentEnvironment, inside } from "./workspace.ts";

/** Throws when the program cannot be started or the record cannot be kept. */
export async function runProgram(
  request: AttemptRequest,
  supervision: Supervision,
): Promise<{ ending: Ending; wallMs: number; workingMs: number }> {
  const { sandbox, trajectory, output, meter } = supervision;
  trajectory.add({ event: "exec", argv: request.command });
  const ran = await supervise(request, supervision, (failed) => ({
    running: sandbox.exec({
      argv: agentCommand(sandbox, request),
      cwd: sandbox.seenAs(inside.workspace),
      env: agentEnvironment(sandbox, request, meter.deadline()),
      onOutput(stream, bytes) {
        try {
          output.take(stream, bytes);
        } catch (error) {
          failed(error);
        }
      },
    }),
  }));
  const where = sandbox.where?.();
  trajectory.add({ event: "exec-end", result: ran.ending, ...(where && { where }) });
  return ran;
}
