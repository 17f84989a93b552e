/** Whether a stream rises or falls steadily, and how fast. */

type Points = readonly (readonly [number, number])[];

const FEWEST = 6;
const SHORTEST_MS = 60_000;
const LONGEST_MS = 3_600_000;
/** How much of what varies a straight line must explain (R²). */
const STEADY = 0.7;
const HOUR_MS = 3_600_000;

/** Units an hour over the last hour, by least squares; null where it wavers, or too little is known. */
export function ratePerHour(points: Points): number | null {
  const end = points[points.length - 1]?.[0] ?? 0;
  const last = points.filter(([at]) => at >= end - LONGEST_MS);
  const start = last[0]?.[0] ?? end;
  if (last.length < FEWEST || end - start < SHORTEST_MS) return null;
  const meanAt = mean(last.map(([at]) => at - start));
  const meanOf = mean(last.map(([, number]) => number));
  let [both, times, numbers] = [0, 0, 0];
  for (const [at, number] of last) {
    const [x, y] = [at - start - meanAt, number - meanOf];
    both += x * y;
    times += x * x;
    numbers += y * y;
  }
  if (numbers === 0 || (both * both) / (times * numbers) < STEADY) return null;
  return (both / times) * HOUR_MS;
}

function mean(numbers: number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
}

/** Since when a state lasts, ms; null where it was never seen to change. */
export function lastingSince(points: Points): number | null {
  const state = points[points.length - 1]?.[1];
  for (let at = points.length - 2; at >= 0; at--) {
    if (points[at]?.[1] !== state) return points[at + 1]?.[0] ?? null;
  }
  return null;
}
