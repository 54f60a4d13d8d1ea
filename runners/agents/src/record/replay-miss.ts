/** A replay does not fit its recording. The message is one sentence for people. */
export class ReplayMiss extends Error {
  constructor(what: string) {
    super(`the replay does not fit its recording: ${what}`);
  }
}
