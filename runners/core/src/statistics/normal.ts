// The normal distribution, which Math lacks. Its uses (the power of a t test, an effect in standard deviations)
// need about ten digits; both functions give twelve or more.

/**
 * The x with P(Z ≤ x) = `probability`, by bisection. Throws unless 0 < probability < 1. Near 1 a double
 * cannot distinguish probabilities: use the other tail there.
 */
export function normalQuantile(probability: number): number {
  if (!(probability > 0 && probability < 1)) throw new Error(`bug: the quantile at ${probability}`);
  if (probability > 0.5) return -normalQuantile(1 - probability);
  return bisect([-40, 0], 64, (x) => lowerTail(x) < probability);
}

/** The x in a range at which `isBelow` turns false, after a number of halvings. */
export function bisect(
  [least, most]: [number, number],
  halvings: number,
  isBelow: (x: number) => boolean,
): number {
  let [low, high] = [least, most];
  for (let halving = 0; halving < halvings; halving++) {
    const middle = (low + high) / 2;
    if (isBelow(middle)) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** P(Z ≤ x) of a standard normal Z, for x ≤ 0; relative error about 1e-13. */
export function lowerTail(x: number): number {
  const density = Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
  return x < -2 ? density / continuedFraction(-x) : 0.5 - density * oddSeries(-x);
}

/** x + x³/3 + x⁵/(3·5) + …: Abramowitz and Stegun 26.2.11. Every term is positive, so no digits are lost. */
function oddSeries(x: number): number {
  let term = x;
  let sum = x;
  for (let odd = 3; term > 1e-17 * sum; odd += 2) {
    term *= (x * x) / odd;
    sum += term;
  }
  return sum;
}

/** x + 1/(x + 2/(x + 3/(x + …))): Abramowitz and Stegun 26.2.14; 100 levels leave 1e-14 from x = 2 on. */
function continuedFraction(x: number): number {
  let value = x;
  for (let level = 100; level >= 1; level--) value = x + level / value;
  return value;
}
