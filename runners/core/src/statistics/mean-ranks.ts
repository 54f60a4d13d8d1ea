// Ranks over tasks, for tasks without a common scale.

/**
 * The mean over tasks of each agent's rank at the task: 1 is best, equal values share the mean of their ranks.
 * `tasks[t][i]` is agent i's value at task t, higher being better. Undefined without tasks.
 */
export function meanRanks(tasks: readonly (readonly number[])[]): number[] | undefined {
  const first = tasks[0];
  return first?.map((_, agent) => {
    const ranks = tasks.map((values) => rank(values, agent));
    return ranks.reduce((sum, each) => sum + each, 0) / tasks.length;
  });
}

function rank(values: readonly number[], agent: number): number {
  const own = values[agent]!;
  const better = values.filter((value) => value > own).length;
  const equal = values.filter((value) => value === own).length;
  return better + (equal + 1) / 2;
}
