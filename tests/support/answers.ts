// Runs the program at a terminal, which a pseudo-terminal of Python plays, and answers its questions in order.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { nodeFlags } from "@mlrb/core/ports/node-flags";

const terminal = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)";

/** `shown`: all that the terminal showed. A question without an answer ends the program by a closed input. */
export function answered(
  repository: string,
  args: string[],
  { env, answers }: { env: Record<string, string>; answers: string[] },
): Promise<{ code: number | null; shown: string }> {
  const program = join(repository, "runners/cli/bin/pipeline.js");
  const child = spawn("python3", ["-c", terminal, process.execPath, ...nodeFlags, program, ...args], {
    cwd: repository,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TERM: "dumb", ...env },
  });
  const left = [...answers];
  let shown = "";
  let asked = 0;
  const hear = (text: string) => {
    shown += text;
    for (; asked < shown.split("[y/N] ").length - 1; asked++) {
      const answer = left.shift();
      if (answer === undefined) child.kill();
      else child.stdin.write(`${answer}\n`);
    }
  };
  child.stdout.setEncoding("utf8").on("data", hear);
  child.stderr.setEncoding("utf8").on("data", hear);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, shown: shown.replaceAll("\r\n", "\n") }));
  });
}
