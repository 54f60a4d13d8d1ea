// Two-sided quantiles of Student's t. Degrees of freedom are whole numbers here (attempts minus one), for which
// the distribution is a finite sum of cosines: no gamma function, no library.
import { bisect } from "./normal.ts";

/** The two-sided 95 % point of the normal distribution. */
export const normal95 = 1.959963984540054;

const expansionFrom = 1000;

/**
 * t with P(|T| ≤ t) = 0.95 at `degrees` degrees of freedom (1, 2, 3, …), correct to about 1e-12.
 * Up to 1000: Abramowitz and Stegun 26.7.3 and 26.7.4, solved by bisection in θ = atan(t / √degrees),
 * which keeps t bounded. Above: their expansion 26.7.5, whose next term is under 1e-14 there.
 * Throws when `degrees` is not a positive whole number.
 */
export function studentT95(degrees: number): number {
  if (!Number.isSafeInteger(degrees) || degrees < 1) {
    throw new Error(`bug: ${degrees} degrees of freedom; no interval is defined for fewer than two values`);
  }
  if (degrees > expansionFrom) return expansion(degrees, normal95);
  const angle = bisect([0, Math.PI / 2], 60, (middle) => coverage(middle, degrees) < 0.95);
  return Math.tan(angle) * Math.sqrt(degrees);
}

/** P(|T| ≤ t) at t = tan(angle) · √degrees. */
function coverage(angle: number, degrees: number): number {
  const cosine = Math.cos(angle);
  const odd = degrees % 2 === 1;
  if (degrees === 1) return (2 * angle) / Math.PI;
  let term = odd ? cosine : 1;
  let sum = term;
  for (let k = odd ? 3 : 2; k <= degrees - 2; k += 2) {
    term *= ((k - 1) / k) * cosine * cosine;
    sum += term;
  }
  return odd ? (2 / Math.PI) * (angle + Math.sin(angle) * sum) : Math.sin(angle) * sum;
}

function expansion(degrees: number, z: number): number {
  const terms = [
    z,
    (z ** 3 + z) / 4,
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96,
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384,
    (79 * z ** 9 + 776 * z ** 7 + 1482 * z ** 5 - 1920 * z ** 3 - 945 * z) / 92160,
  ];
  return terms.reduceRight((sum, term) => sum / degrees + term, 0);
}
