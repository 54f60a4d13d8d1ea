// Words the limits that the programs of a sandbox met, the same for all kinds of walls.

export const overLimits = {
  memory: ({ memoryBytes }: { memoryBytes: number }) => ({
    limit: "memory" as const,
    detail: `its programs together took more than ${memoryBytes} bytes of memory`,
  }),
  processes: ({ processes }: { processes: number }) => ({
    limit: "processes" as const,
    detail: `more than ${processes} processes and threads at once`,
  }),
};
