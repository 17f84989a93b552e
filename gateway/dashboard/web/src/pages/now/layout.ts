/** Where each group stands: columns of known heights, so that only what is seen is drawn. */

import type { Grouped } from "./groups";

/** Heights in px, as now.css has them. */
export const LINE = 44;
export const HEAD = 48;
export const GAP = 32;
const NARROWEST = 380;
const MOST_COLUMNS = 4;

export interface Placed {
  group: Grouped;
  column: number;
  top: number;
  height: number;
}

export interface Layout {
  placed: Placed[];
  height: number;
}

export function columnsFor(width: number): number {
  return Math.max(1, Math.min(MOST_COLUMNS, Math.floor((width + GAP) / (NARROWEST + GAP))));
}

export function heightOf(group: Grouped): number {
  return HEAD + group.lines.length * LINE;
}

/** Each group below the shortest column so far: they read from left to right. */
export function laidOut(groups: Grouped[], columns: number): Layout {
  const ends = Array<number>(columns).fill(0);
  const placed = groups.map((group) => {
    const top = Math.min(...ends);
    const column = ends.indexOf(top);
    const height = heightOf(group);
    ends[column] = top + height + GAP;
    return { group, column, top, height };
  });
  return { placed, height: Math.max(0, ...ends) };
}

/** Those that reach into [top, bottom]. */
export function seen(placed: Placed[], top: number, bottom: number): Placed[] {
  return placed.filter((each) => each.top < bottom && each.top + each.height > top);
}

/** First and behind the last line of a group that reach into [top, bottom]. */
export function linesSeen(placed: Placed, top: number, bottom: number): [number, number] {
  const from = Math.floor((top - placed.top - HEAD) / LINE);
  const to = Math.ceil((bottom - placed.top - HEAD) / LINE);
  const count = placed.group.lines.length;
  return [Math.min(Math.max(from, 0), count), Math.min(Math.max(to, 0), count)];
}
