/** Exact conversion of a number between units that measure the same, as the gateway converts. */

import { UNIT } from "../../protocol/terms";
import scales from "./scales.json";

/** A fraction; the divisor is above zero. */
type Fraction = readonly [bigint, bigint];

const known = scales as unknown as Record<string, [dimension: string, factor: string, offset: string]>;
const DIGITS = 16;
const LONGEST = 40;

function fraction(text: string): Fraction {
  const [over = "0", under = "1"] = text.split("/");
  const [whole = "0", behind = ""] = over.split(".");
  return [BigInt(whole + behind), BigInt(under) * 10n ** BigInt(behind.length)];
}

const plus = ([a, b]: Fraction, [c, d]: Fraction): Fraction => [a * d + c * b, b * d];
const times = ([a, b]: Fraction, [c, d]: Fraction): Fraction => [a * c, b * d];
const over = (one: Fraction, [c, d]: Fraction): Fraction => times(one, c < 0n ? [-d, -c] : [d, c]);
const minus = (one: Fraction, [c, d]: Fraction): Fraction => plus(one, [-c, d]);

/** As a decimal: exact where its expansion ends, else with 16 significant digits. */
function decimal([above, below]: Fraction): string {
  const sign = above < 0n ? "-" : "";
  const size = above < 0n ? -above : above;
  const whole = String(size / below);
  let rest = size % below;
  let digits = "";
  while (rest !== 0n && digits.length < LONGEST) {
    rest *= 10n;
    digits += String(rest / below);
    rest %= below;
  }
  if (rest === 0n) return digits ? `${sign}${whole}.${digits}` : `${sign}${whole}`;
  return String(Number(Number(`${sign}${whole}.${digits}`).toPrecision(DIGITS)));
}

function local(unit: string): string {
  return unit.startsWith(UNIT) ? unit.slice(UNIT.length) : "";
}

/** Units (IRIs) that a value in this one can be told in, this one first; it alone where none is known. */
export function alike(unit: string): string[] {
  const dimension = known[local(unit)]?.[0];
  if (dimension === undefined) return [unit];
  const others = Object.keys(known).filter((name) => known[name]?.[0] === dimension && UNIT + name !== unit);
  return [unit, ...others.map((name) => UNIT + name)];
}

/**
 * A decimal number in one unit as one in another. Both must measure the same (`alike`).
 * An exponent is not understood.
 */
export function converted(number: string, from: string, to: string): string {
  const one = known[local(from)];
  const other = known[local(to)];
  if (from === to || !one || !other) return number;
  const reference = times(plus(fraction(number), fraction(one[2])), fraction(one[1]));
  return decimal(minus(over(reference, fraction(other[1])), fraction(other[2])));
}

/** How many steps of the second unit one step of the first is: a decimal number. */
export function step(from: string, to: string): string {
  const one = known[local(from)];
  const other = known[local(to)];
  return from === to || !one || !other ? "1" : decimal(over(fraction(one[1]), fraction(other[1])));
}
