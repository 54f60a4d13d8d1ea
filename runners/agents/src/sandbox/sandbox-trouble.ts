// The sandbox cannot be had, or ended under its agent: the machine's doing, so that nothing was measured.
export class SandboxTrouble extends Error {}
