// The sandbox is not available, or ended under its agent. The machine caused it, so nothing was measured.
export class SandboxTrouble extends Error {}
