/** Rows that came and went while somebody looked, the last first. */

import type { Change } from "../../protocol/subscription";
import type { Row, Term } from "../../protocol/terms";

export interface Passing {
  id: number;
  /** ms */
  at: number;
  came: boolean;
  row: Row;
}

export const MOST_PASSING = 100;

/** With what one notification tells; the first answer is what is there, not what came. */
export function passing(before: readonly Passing[], change: Change): Passing[] {
  if (change.first) return [...before];
  let id = before[0]?.id ?? 0;
  const told = (rows: Row[], came: boolean): Passing[] =>
    rows.map((row) => ({ id: (id += 1), at: change.time, came, row }));
  const added = change.added.results?.bindings ?? [];
  const removed = change.removed.results?.bindings ?? [];
  return [...told(removed, false), ...told(added, true)].reverse().concat(before).slice(0, MOST_PASSING);
}

/** How many rows there are now, after a notification. */
export function counted(before: number, change: Change): number {
  const start = change.first ? 0 : before;
  return start + (change.added.results?.bindings.length ?? 0) - (change.removed.results?.bindings.length ?? 0);
}

/** A row in a line: names and values, by `say` where it is a thing or a number. */
export function rowText(row: Row, say: (term: Term) => string): [string, string][] {
  return Object.entries(row).map(([name, term]) => [name, say(term)]);
}

