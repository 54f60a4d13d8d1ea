// The clock of a replay whose tools are recorded: it goes on by the durations of the recording, so that the times of
// the replay are those of the recording on every machine.
export class ReplayClock {
  nowMs = 0;
  /** Of the whole recording. */
  readonly totalMs: number;

  constructor(totalMs: number) {
    this.totalMs = totalMs;
  }

  advance(ms: number): void {
    this.nowMs += ms;
  }
}
