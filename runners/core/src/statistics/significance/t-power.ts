// The power of a t interval, before a run is paid for: the difference at which it excludes zero, in units of the spread
// between attempts.
import { normalCdf } from "../normal.ts";
import { studentT } from "../student-t.ts";

export type TDesign = {
  /** One mean against a fixed value (e.g. a trivial baseline), or two agents' means, each of `attempts` values. */
  means: 1 | 2;
  attempts: number;
  /** Two-sided: 0.05 for a 95 % interval. */
  alpha: number;
};

/**
 * The chance that the t interval of level 1 − alpha excludes zero when the true difference is `shift` standard
 * deviations between attempts (normal values; equal spread for two means). By the non-central t distribution
 * (Cohen 1988, chapter 2), integrated over the chi distribution by Simpson's rule; error under 1e-7 for
 * alpha ≥ 0.005. Throws on fewer than two attempts.
 */
export function tPower(design: TDesign, shift: number): number {
  const { degrees, root } = shape(design);
  const critical = studentT(degrees, 1 - design.alpha);
  const centre = shift * root;
  return 1 - noncentralT(critical, degrees, centre) + noncentralT(-critical, degrees, centre);
}

/** The smallest shift, in standard deviations between attempts, that is detected with `power`, to about 1e-6. */
export function detectableShift(design: TDesign, { power = 0.8 }: { power?: number } = {}): number {
  if (!(power > design.alpha && power < 1)) throw new Error(`bug: a power of ${power}`);
  let high = 1;
  while (tPower(design, high) < power) high *= 2;
  let low = 0;
  while (high - low > 1e-6 * high) {
    const middle = (low + high) / 2;
    if (tPower(design, middle) < power) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Degrees of freedom, and the factor from a shift to the centre of t. */
function shape({ means, attempts, alpha }: TDesign): { degrees: number; root: number } {
  if (!Number.isSafeInteger(attempts) || attempts < 2) {
    throw new Error(`bug: a t interval of ${attempts} attempts`);
  }
  if (!(alpha > 0 && alpha < 1)) throw new Error(`bug: the level ${alpha} of a test`);
  return { degrees: means * (attempts - 1), root: Math.sqrt(attempts / means) };
}

/** Even; twice as many change the power by less than 1e-8. */
const strips = 4000;

/** P((Z + centre) / U ≤ t), U the root of a chi-squared variable over its degrees of freedom. */
function noncentralT(t: number, degrees: number, centre: number): number {
  const reach = 12 / Math.sqrt(2 * degrees);
  const low = Math.max(0, 1 - reach);
  const width = (1 + reach - low) / strips;
  let below = 0;
  let all = 0;
  for (let index = 0; index <= strips; index++) {
    const u = low + index * width;
    const simpson = index === 0 || index === strips ? 1 : index % 2 === 1 ? 4 : 2;
    // up to a constant that `all` cancels
    const logPower = degrees === 1 ? 0 : (degrees - 1) * Math.log(u);
    const density = simpson * Math.exp(logPower - (degrees * (u * u - 1)) / 2);
    all += density;
    below += density * normalCdf(t * u - centre);
  }
  return below / all;
}
