/** What an answer looks like: one number, something over time, bars, or a table. */

import { isNumeric, type Row, type Term, XSD } from "../../protocol/terms";
import type { Shown } from "./table";
import type { Order } from "./text";

export interface Columns {
  numbers: string[];
  times: string[];
  /** Columns of places. */
  places: string[];
  /** Columns that name things. */
  things: string[];
}

const LOOKED_AT = 50;
const PLACES = new Set(["place", "room", "feature", "where", "location", "field", "machine"]);

export function isTime(term: Term | undefined): boolean {
  return term?.datatype === `${XSD}dateTime` || term?.datatype === `${XSD}dateTimeStamp`;
}

/** What columns have, judged by the first rows: all that are bound are of the kind. */
export function columnsOf(names: readonly string[], rows: readonly Shown[], places: ReadonlySet<string>): Columns {
  const first = rows.slice(0, LOOKED_AT).map(({ row }) => row);
  const all = (is: (term: Term, name: string) => boolean): string[] =>
    names.filter((name) => {
      const bound = first.map((row) => row[name]).filter((term) => term !== undefined);
      return bound.length > 0 && bound.every((term) => is(term, name));
    });
  return {
    numbers: all(isNumeric),
    times: all(isTime),
    places: all((term, name) => term.type === "uri" && (PLACES.has(name) || places.has(term.value))),
    things: all((term) => term.type === "uri" || (term.type === "literal" && !isNumeric(term) && !isTime(term))),
  };
}

/** The one number that an answer is: its column; null where it is more. */
export function oneNumber(names: readonly string[], rows: readonly Shown[]): { column: string; row: Row } | null {
  const [only, another] = rows.filter(({ count }) => count > 0);
  if (!only || another || only.count !== 1) return null;
  const bound = names.filter((name) => only.row[name] !== undefined && name !== "unit");
  const [column] = bound;
  return bound.length === 1 && column && isNumeric(only.row[column]) ? { column, row: only.row } : null;
}

export interface Line {
  name: string;
  points: [ms: number, number: number][];
}

const MOST_LINES = 12;
const MOST_POINTS = 20_000;

/** Numbers over a time column, a line for each thing of `by`, points in the order of time. */
export function lines(rows: readonly Shown[], time: string, number: string, by: string): Line[] {
  const found = new Map<string, Line>();
  for (const { row, count } of rows.slice(0, MOST_POINTS)) {
    const [at, value] = [row[time], row[number]];
    if (count === 0 || !at || !value) continue;
    const name = by ? (row[by]?.value ?? "") : "";
    let line = found.get(name);
    if (!line) {
      if (found.size >= MOST_LINES) continue;
      line = { name, points: [] };
      found.set(name, line);
    }
    const point: [number, number] = [Date.parse(at.value), Number(value.value)];
    if (point.every(Number.isFinite)) line.points.push(point);
  }
  for (const line of found.values()) line.points.sort((a, b) => a[0] - b[0]);
  return [...found.values()];
}

/** Lines as uPlot takes them: all times, and of each line the value there or nothing. */
export function aligned(all: readonly Line[]): [number[], ...(number | null)[][]] {
  const times = [...new Set(all.flatMap(({ points }) => points.map(([at]) => at)))].sort((a, b) => a - b);
  const values = all.map(({ points }) => {
    const at = new Map(points);
    return times.map((time) => at.get(time) ?? null);
  });
  return [times.map((time) => time / 1000), ...values];
}

/** Terms in the order of ORDER BY: nothing, things, numbers by value, the rest by text. */
export function compare(a: Term | undefined, b: Term | undefined): number {
  if (a && b && isNumeric(a) && isNumeric(b)) return Number(a.value) - Number(b.value);
  const rank = (term: Term | undefined): number => (!term ? 0 : term.type === "uri" ? 1 : isNumeric(term) ? 2 : 3);
  return rank(a) - rank(b) || (a?.value ?? "").localeCompare(b?.value ?? "");
}

/** Rows by columns; equal ones stay as they stand. */
export function sorted(rows: readonly Shown[], by: readonly Order[]): readonly Shown[] {
  if (by.length === 0) return rows;
  return [...rows].sort((a, b) => {
    for (const { column, descending } of by) {
      const order = compare(a.row[column], b.row[column]);
      if (order !== 0) return descending ? -order : order;
    }
    return 0;
  });
}

/** Rows of one place behind one another, places in the order in which they first stand. */
export function groupedBy(rows: readonly Shown[], column: string): readonly Shown[] {
  const groups = new Map<string, Shown[]>();
  for (const each of rows) {
    const name = each.row[column]?.value ?? "";
    const group = groups.get(name);
    if (group) group.push(each);
    else groups.set(name, [each]);
  }
  return [...groups.values()].flat();
}
