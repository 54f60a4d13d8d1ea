// The end of an attempt that is nobody's doing inside it: its supervisor was told to end, a provider or the machine
// failed it. What there is then is sealed, and never measured.

/** The signal by which the harness itself was told to end. */
export class Interrupted extends Error {
  constructor(signal: string) {
    super(`the harness was sent ${signal}`);
  }
}

/** How long a program's end may precede the signal that was sent to the harness in the same moment. */
export const sameMomentMs = 100;

/** All of a seal, in an attempt that is told to end: less than the grace of whoever told it. */
export const sealMs = 3_500;

/** Of that, the copy of the submission; what is not copied by then is in the workspace, which is kept. */
export const sealCopyMs = 1_500;
