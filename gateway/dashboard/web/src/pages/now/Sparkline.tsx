/** The last numbers of a stream as a line without axes. */

import type { Signal } from "@preact/signals";
import type { Stream } from "../../state/streams";

const WIDTH = 72;
const HEIGHT = 20;
const EDGE = 2;

/** "x,y x,y …" within the box; equal numbers are a line in the middle. */
export function path(points: readonly (readonly [number, number])[]): string {
  const times = points.map(([at]) => at);
  const numbers = points.map(([, number]) => number);
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const x = (at: number): number => (last === first ? WIDTH / 2 : ((at - first) / (last - first)) * WIDTH);
  const y = (number: number): number =>
    high === low ? HEIGHT / 2 : HEIGHT - EDGE - ((number - low) / (high - low)) * (HEIGHT - 2 * EDGE);
  return points.map(([at, number]) => `${x(at).toFixed(1)},${y(number).toFixed(1)}`).join(" ");
}

export function Sparkline({ trend }: { trend: Signal<Stream["trend"]["value"]> }) {
  const points = trend.value;
  return (
    <svg class="sparkline" width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      {points.length > 1 && <polyline points={path(points)} />}
    </svg>
  );
}
