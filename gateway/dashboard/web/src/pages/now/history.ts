/** What the journal has of a stream: its pages put together, with what came since. */

/** A reading, or where `count` is there a bucket of them with their mean in `value`. */
export interface Point {
  /** When it was measured, or where its bucket begins; ms. */
  t: number;
  value: number | boolean | string | null;
  min?: number;
  max?: number;
  count?: number;
  unit?: string;
  flags?: readonly string[];
}

export interface Page {
  points: Point[];
  next?: string | null;
}

/** Two lists in order of time as one: buckets that both have are one bucket, readings that both have are one. */
export function merged(one: readonly Point[], other: readonly Point[]): Point[] {
  const sorted = [...one, ...other].sort((a, b) => a.t - b.t);
  const all: Point[] = [];
  for (const point of sorted) {
    const at = twin(all, point);
    if (at < 0) all.push(point);
    else all[at] = both(all[at] as Point, point);
  }
  return all;
}

/** Where the same bucket, or the same reading, stands at the end of `all`; -1 for nowhere. */
function twin(all: readonly Point[], point: Point): number {
  for (let at = all.length - 1; at >= 0 && all[at]?.t === point.t; at--) {
    const other = all[at] as Point;
    if (other.unit !== point.unit) continue;
    if (isBucket(other) && isBucket(point)) return at;
    if (!isBucket(other) && !isBucket(point) && other.value === point.value) return at;
  }
  return -1;
}

function isBucket(point: Point): boolean {
  return point.count !== undefined && typeof point.value === "number";
}

function both(one: Point, other: Point): Point {
  const flags = [...new Set([...(one.flags ?? []), ...(other.flags ?? [])])];
  if (!isBucket(one)) return { ...one, flags };
  const [a, b] = [one.count ?? 0, other.count ?? 0];
  const mean = ((one.value as number) * a + (other.value as number) * b) / Math.max(a + b, 1);
  return {
    ...one,
    value: mean,
    min: Math.min(lowest(one), lowest(other)),
    max: Math.max(highest(one), highest(other)),
    count: a + b,
    flags,
  };
}

export function lowest(point: Point): number {
  return point.min ?? (point.value as number);
}

export function highest(point: Point): number {
  return point.max ?? (point.value as number);
}

/** A reading as the bucket that it falls into; itself where there are none (everyS 0). */
export function bucketed(point: Point, everyS: number): Point {
  if (everyS === 0 || typeof point.value !== "number") return point;
  const every = everyS * 1000;
  return { ...point, t: Math.floor(point.t / every) * every, min: point.value, max: point.value, count: 1 };
}

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400, 604800];
const PIXELS = 2;

/** How many seconds a bucket has, so that a width shows a span with one each two pixels; 0 for none. */
export function everyFor(spanMs: number, width: number): number {
  const wanted = (spanMs / 1000 / Math.max(width, 100)) * PIXELS;
  if (wanted < 1) return 0;
  return STEPS.find((step) => step >= wanted) ?? (STEPS[STEPS.length - 1] as number);
}

/** As rates vary, so many times the usual distance is still no gap. */
const PATIENCE = 4;

/**
 * How long nothing may have been heard before it is a gap, ms.
 *
 * What the device promises, where it promises; else several times what is usual between its readings.
 */
export function gapMs(points: readonly Point[], everyS: number, promisedMs = 0): number {
  const least = everyS * 1500;
  if (promisedMs > 0) return Math.max(promisedMs, least);
  const distances: number[] = [];
  for (let at = 1; at < points.length; at++) distances.push((points[at] as Point).t - (points[at - 1] as Point).t);
  distances.sort((a, b) => a - b);
  const usual = distances[Math.floor(distances.length / 2)] ?? Number.POSITIVE_INFINITY;
  return Math.max(usual * PATIENCE, least);
}

/** What is one line: no gap in it, one unit. Times in ms. */
export interface Run {
  times: number[];
  means: number[];
  lows: number[];
  highs: number[];
}

/** The line breaks in gaps and where the unit changes: nothing was measured between. */
export function runs(points: readonly Point[], gap: number): Run[] {
  const found: Run[] = [];
  let before: Point | undefined;
  for (const point of points) {
    if (typeof point.value !== "number") continue;
    let last = found[found.length - 1];
    if (!last || !before || point.t - before.t > gap || before.unit !== point.unit) {
      last = { times: [], means: [], lows: [], highs: [] };
      found.push(last);
    }
    last.times.push(point.t);
    last.means.push(point.value);
    last.lows.push(lowest(point));
    last.highs.push(highest(point));
    before = point;
  }
  return found;
}

/** Columns as uPlot has them: seconds, mean, lowest, highest. */
export type Columns = [number[], number[], number[], number[]];

export function columns(lines: readonly Run[]): Columns {
  return [
    lines.flatMap(({ times }) => times.map((at) => at / 1000)),
    lines.flatMap(({ means }) => means),
    lines.flatMap(({ lows }) => lows),
    lines.flatMap(({ highs }) => highs),
  ];
}

export interface UnitChange {
  t: number;
  from: string | undefined;
  to: string | undefined;
}

export function unitChanges(points: readonly Point[]): UnitChange[] {
  const found: UnitChange[] = [];
  let before: Point | undefined;
  for (const point of points) {
    if (typeof point.value !== "number") continue;
    if (before && before.unit !== point.unit) found.push({ t: point.t, from: before.unit, to: point.unit });
    before = point;
  }
  return found;
}

export interface State {
  from: number;
  to: number;
  value: string;
}

/** How long each state lasted: until the next one, or until nothing was heard any more. */
export function states(points: readonly Point[], gap: number, until: number): State[] {
  const found: State[] = [];
  points.forEach(({ t, value }, at) => {
    if (value === null) return;
    const next = points[at + 1]?.t ?? until;
    const to = next - t > gap ? t : Math.max(next, t);
    const last = found[found.length - 1];
    if (last && last.value === String(value) && last.to === t) last.to = to;
    else found.push({ from: t, to, value: String(value) });
  });
  return found;
}

/** Marks that can be drawn, those that say most first. */
export const MARKS = ["revised", "refused", "clock", "retained", "repeated", "buffered"] as const;
export type Mark = (typeof MARKS)[number];

export function markOf(point: Point): Mark | undefined {
  return MARKS.find((mark) => point.flags?.includes(mark));
}
