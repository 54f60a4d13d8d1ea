// A run on a pseudo terminal: what the live view shows of a real attempt, and that no line of it wraps.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { displayWidth } from "@mlrb/core/text/display-width";
import { defineAttempts } from "./support/attempts/attempt-stages.ts";
import { type Lab, lab } from "./support/lab.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

const stage = "attempt[task=empty,agent=tries,seed=1]";

/** Runs a program on a pseudo terminal of so many columns, and copies what it writes. */
const pty = `
import fcntl, os, pty, struct, sys, termios
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
    os.execvp(sys.argv[2], sys.argv[2:])
while True:
    try:
        piece = os.read(terminal, 65536)
    except OSError:
        break
    os.write(1, piece)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;

const script = `
echo words > "$MLRB_SUBMISSION/words.txt"
echo 'the first word'
printf 'loss \\033[31m5.3\\033[0m \\033[2J\\007\\342\\200\\256 %s\\n' "$(printf 'x%.0s' $(seq 300))"
sleep 4
`;

function running(at: Lab, columns: number, env: Record<string, string> = {}) {
  return at.start(["run", at.name, "--root", at.root, "--yes"], {
    through: ["python3", "-c", pty, String(columns)],
    env: { TERM: "xterm", ...env },
  });
}

for (const columns of [80, 53])
  test(`on ${columns} columns the view shows the agent's own last line, in colour, and no line wraps`, async (t) => {
    const at = lab(t, repository);
    defineAttempts(at, { script, trusted: true });
    const said = await running(at, columns).ended;
    assert.equal(said.code, 0, said.stdout);
    const view = said.stdout.slice(0, said.stdout.search(/ succeeded in |\d+ succeeded/));
    assert.match(stripVTControlCharacters(view), /\| loss 5\.3 +x+…/, "cut, without its control sequences");
    assert.doesNotMatch(view, /\u001b\[2J|\u0007|\u202e|\u001b\[31m5/);
    assert.match(view, /\u001b\[32mdone\u001b\[39m/);
    for (const line of stripVTControlCharacters(view).split(/[\r\n]+/))
      assert.ok(displayWidth(line) < columns, `${displayWidth(line)} columns: ${line}`);
  });

test("NO_COLOR leaves colours out, and a failure is red without it", async (t) => {
  const at = lab(t, repository);
  at.define({ stages: { bad: { command: "exit 3", gives: { out: "file" } } } });
  const plain = (await running(at, 80, { NO_COLOR: "1" }).ended).stdout;
  assert.match(plain, /FAILED {2}bad/);
  assert.doesNotMatch(plain, /\u001b\[3\dm/);
  assert.match((await running(at, 80).ended).stdout, /\u001b\[31mFAILED\u001b\[39m {2}bad/);
});

test("the log of an attempt shows what its agent has written so far, and afterwards all of it", async (t) => {
  const at = lab(t, repository);
  defineAttempts(at, { script: `${script}echo 'the last word'`, trusted: true });
  const run = at.start(["run", at.name, "--root", at.root, "--yes"]);
  const log = async (...more: string[]) =>
    (await at.pipeline(["log", stage, "--root", at.root, ...more])).stdout;
  let early = "";
  while (!early.includes("the first word")) early = await log();
  assert.match(early, /running or killed/);
  assert.doesNotMatch(early, /the last word|unreadable/);
  const ended = await run.ended;
  assert.equal(ended.code, 0, ended.stderr);
  assert.doesNotMatch(ended.stderr, /\u001b/, "a pipe gets plain lines");
  const whole = await log();
  assert.match(
    whole,
    /succeeded[\s\S]*\nthe first word\nloss .*\n[\s\S]*\nthe last word\n[\s\S]*== its supervisor/,
  );
  assert.doesNotMatch(whole.replaceAll("\n", ""), /\p{Cc}/u);
  const tail = (await log("--tail", "1")).split("\n");
  assert.ok(tail.findIndex((line) => line.startsWith("== its supervisor")) <= 3, tail.join("\n"));
});
