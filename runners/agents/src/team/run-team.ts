// Runs an agent that is a team: its members work side by side in one sandbox, with one budget, one record and one
// submission. Each is run as it would be alone, with its own view of the supervision.
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { endedAs } from "../attempt/attempt-ledger.ts";
import { openProgram } from "../attempt/run-program.ts";
import { type ScaffoldParts, type Shown, startScaffold } from "../attempt/run-scaffold.ts";
import { refuse, type Started, type SupervisedRun, supervise } from "../attempt/supervise.ts";
import type { AgentSupervision, Supervision } from "../attempt/supervision.ts";
import type { Ending } from "../attempt/watch-program.ts";
import { gatewayFacts } from "../gateway/gateway-provider.ts";
import { outputLog } from "../record/output-log.ts";
import type { BoardAccess, BoardMessage } from "../scaffold/scaffold.ts";
import { BoardFiles } from "./board-files.ts";
import { messagesIn, type Past, pastOf, resultOf } from "./member-past.ts";
import { MemberWaits } from "./member-waits.ts";
import { isSame, MessageBoard } from "./message-board.ts";
import type { TeamMember } from "./team-request.ts";
import { memberEnvironment, memberFolder, memberPart, teamText } from "./team-text.ts";

export type MemberParts = ReadonlyMap<string, ScaffoldParts | undefined>;

/** `parts`: of the llm members. Throws as runProgram and runScaffold do. */
export async function runTeam(
  supervision: Supervision,
  shown: Shown,
  parts: MemberParts,
): Promise<SupervisedRun> {
  const team = new Team(supervision, shown, parts);
  await team.open();
  const ran = await supervise(supervision, (failed) => team.start(failed)).finally(() => team.close());
  team.recordEnds(ran.ending);
  return ran;
}

/** A member at work. */
type Working = {
  supervision: AgentSupervision;
  /** Ends its model calls. */
  stop?: (() => void) | undefined;
};

/** Between two looks at the outboxes. */
const lookMs = 500;

class Team {
  readonly #supervision: Supervision;
  readonly #shown: Shown;
  readonly #parts: MemberParts;
  readonly #members: readonly TeamMember[];
  /** Messages before a restart. */
  readonly #earlier: readonly BoardMessage[];
  readonly #board: MessageBoard;
  readonly #files: BoardFiles;
  readonly #waits: MemberWaits;
  readonly #working = new Map<string, Working>();
  /** Resolved when those that wait for the member may start. */
  readonly #handedOver: Map<string, PromiseWithResolvers<void>>;
  /** Resolved with an end that ends the whole team. */
  readonly #over = Promise.withResolvers<Ending>();
  #looks: NodeJS.Timeout | undefined;
  /** Takes what may not be thrown where it happens. */
  #failed: (error: unknown) => void = () => {};
  #stopped = false;

  constructor(supervision: Supervision, shown: Shown, parts: MemberParts) {
    const { request, sandbox, clock, meter } = supervision;
    this.#supervision = supervision;
    this.#shown = shown;
    this.#parts = parts;
    this.#members = request.team!.members;
    const names = this.#members.map(({ name }) => name);
    const write = (event: TrajectoryEvent) => this.#write(event);
    const earlier = messagesIn(request.earlier?.counted ?? []);
    this.#earlier = earlier;
    this.#board = new MessageBoard({ members: names, earlier, write });
    this.#files = new BoardFiles({ sandbox, board: this.#board, names, scratch: request.scratch });
    this.#waits = new MemberWaits({ meter, sandbox, clock, write });
    this.#handedOver = new Map(names.map((name) => [name, Promise.withResolvers()]));
    this.#board.onSent((message) => this.#sent(message));
    for (const message of earlier) this.#sent(message);
  }

  /** To be called before `start`, when no program runs. */
  open(): Promise<void> {
    return this.#files.open(this.#earlier);
  }

  start(failed: (error: unknown) => void): Started {
    this.#failed = failed;
    const look = () => {
      for (const { supervision } of this.#working.values()) supervision.output.flush();
      return this.#files.look();
    };
    const pauseMs = Math.min(lookMs, this.#supervision.request.pollMs ?? lookMs);
    this.#looks = setInterval(() => void look().catch(failed), pauseMs);
    const all = Promise.all(this.#members.map((member, at) => this.#run(member, at)));
    all.catch(() => {}); // the race reports it, or the team is over
    return {
      running: Promise.race([all.then(bestEnding), this.#over.promise]),
      stop: () => {
        this.#stopped = true;
        for (const { stop } of this.#working.values()) stop?.();
      },
      silence: this.#supervision.silence,
    };
  }

  close(): void {
    this.#stopped = true;
    clearInterval(this.#looks);
  }

  /** Of those that the end of the team ended. */
  recordEnds(ending: Ending): void {
    for (const [member, { supervision }] of this.#working) {
      supervision.output.end();
      this.#write({ event: "member-end", member, result: resultOf(ending) });
    }
  }

  #write(event: TrajectoryEvent): void {
    const { trajectory, tally } = this.#supervision;
    trajectory.add(event);
    tally!.take(event);
  }

  #sent({ from, to, purpose }: BoardMessage): void {
    if (purpose === "hand-over") this.#handedOver.get(from)?.resolve();
    // soon, for those that read files
    if (this.#looks && to !== from) void this.#files.look().catch(() => {}); // the next look in turn reports it
  }

  /** From its start, or from where it was before a restart, to its end. */
  async #run(member: TeamMember, at: number): Promise<Ending> {
    const { name, after } = member;
    const past = pastOf(this.#supervision.request.earlier, name);
    if (!past?.ending) {
      await Promise.all(after.map((one) => this.#handedOver.get(one)!.promise));
      if (this.#stopped) return over;
      if (!past) this.#recordStart(member);
    }
    const ending = past?.ending ?? (await this.#work(member, at, past));
    if (this.#stopped) return ending; // by the end of the team, which records it
    this.#working.delete(name);
    if (!past?.ended) this.#write({ event: "member-end", member: name, result: resultOf(ending) });
    await this.#waits.ended(name);
    this.#handedOver.get(name)!.resolve();
    if (endsTeam(ending)) this.#over.resolve(ending);
    return ending;
  }

  async #work(member: TeamMember, at: number, past: Past | undefined): Promise<Ending> {
    const { name, kind } = member;
    const supervision = this.#viewOf(member, at, past);
    const working: Working = { supervision };
    this.#working.set(name, working);
    this.#waits.started(name);
    let ending: Ending;
    if (kind === "llm") {
      const shown = { ...this.#shown, prompt: this.#shown.prompt + teamText(this.#team, name) };
      const started = startScaffold(this.#parts.get(name)!, supervision, shown);
      working.stop = started.stop;
      ending = await started.running;
    } else {
      const program = await openProgram(supervision);
      try {
        if (this.#stopped) return over;
        const started = program.start(this.#failed);
        working.stop = started.stop;
        ending = await started.running;
      } finally {
        await program.close();
      }
      if (this.#stopped) return ending;
      supervision.output.end();
      program.recordEnd(ending);
    }
    if (this.#stopped) return ending;
    refuse({ agent: `${this.#supervision.request.agent}, member ${name}` }, ending);
    await this.#files.look(); // what it sent last counts before its end
    return ending;
  }

  get #team() {
    return this.#supervision.request.team!;
  }

  #recordStart({ name, agent, kind, role, gateway }: TeamMember): void {
    const parts = this.#parts.get(name);
    this.#write({
      ...{ event: "member-start", member: name, agent, kind },
      ...(role !== undefined && { role }),
      ...(parts && { model: parts.model, scaffold: parts.scaffold }),
      ...(gateway && { gateway: gatewayFacts(gateway) }),
    });
  }

  #viewOf(member: TeamMember, at: number, past: Past | undefined): AgentSupervision {
    const { request, sandbox, meter, interventions, counts, silence, downloads } = this.#supervision;
    const { name, agent, kind, command, llm, gateway } = member;
    const { earlier, ...common } = request;
    const part = memberPart(request, at);
    const write = (event: TrajectoryEvent) => this.#write({ ...event, member: name });
    return {
      request: {
        ...{ ...common, agent, kind, command },
        ...(part.cpus !== undefined && { cpus: part.cpus }),
        ...(llm && { llm }),
        ...(gateway && { gateway }),
        ...(earlier && past && { earlier: { ...earlier, tape: past.tape, step: past.step } }),
      },
      ...{ sandbox, interventions, counts, silence },
      ...(downloads && { downloads }),
      output: outputLog({ write, redact: request.redact ?? ((text) => text) }),
      trajectory: { add: write },
      meter: {
        leftMs: () => meter.leftMs(),
        deadline: () => meter.deadline(),
        usedShare: () => meter.usedShare(),
        waiting: (why, wait) => this.#waits.waiting(name, why, wait),
        waited: (why, ms) => this.#waits.waited(name, why, ms),
        hold: (most) => meter.hold(most),
        charge: (spent, held) => meter.charge(spent, held),
        over: () => meter.over(),
        overCap: (most) => meter.overCap(most),
        spending: () => meter.spending(),
      },
      member: {
        env: memberEnvironment(sandbox, this.#team, { name, part }),
        folder: memberFolder(this.#team, name),
        board: this.#boardOf(name, past?.unanswered ?? []),
      },
    };
  }

  /** `unanswered`: what it had sent before a restart by a tool whose result is not on record. */
  #boardOf(name: string, unanswered: readonly BoardMessage[]): BoardAccess {
    const left = [...unanswered];
    return {
      member: name,
      read: 0,
      send: (asked) => {
        const message = { from: name, ...asked };
        const at = left.findIndex((sent) => isSame(message, sent));
        return at < 0 ? this.#board.send(message) : void left.splice(at, 1);
      },
      received: () => this.#board.receivedBy(name),
      next: (ms, signal) => this.#waits.idle(name, () => this.#board.next(name, ms, signal)),
    };
  }
}

/** Of a member that the end of the team kept from starting. */
const over: Ending = { kind: "time-limit" };

/** Whether the budget of all is used up, or the disk that all share is full. */
function endsTeam(ending: Ending): boolean {
  const result = resultOf(ending);
  if (result.kind === "over-budget") return result.limit !== "turns";
  return "over" in result && result.over?.limit === "disk";
}

/** How members end by themselves, from the end that says most for the team to the one that says least. */
const ranks = ["submitted", "finished", "gave-up", "turn-limit", "silent", "refusal", "agent-error"];

/** A team whose members all ended by themselves ends as the one that came furthest. */
function bestEnding(endings: Ending[]): Ending {
  const rank = (ending: Ending) => ranks.indexOf(endedAs(ending));
  return endings.toSorted((a, b) => rank(a) - rank(b))[0]!;
}
