/** A table that lives: rows that came, went and changed are marked for two seconds. */

import { isBoolean, isNumeric, type Row, rowKey, type Term, XSD } from "../../protocol/terms";

export const MARKED_MS = 2000;
const MOST_NOTES = 200;
const MOST_TOLD = 100;

export interface Shown {
  id: number;
  key: string;
  row: Row;
  /** How often the answer has it; 0 for one that has gone and is still seen. */
  count: number;
  mark: "" | "came" | "went" | "changed";
  until: number;
  /** Columns that have another value since. */
  changed: readonly string[];
}

/** A notification as it came. */
export interface Note {
  sequence: number;
  time: number;
  added: number;
  removed: number;
  /** The first rows of each. */
  rows: readonly { sign: "+" | "−"; row: Row }[];
}

export interface Told {
  first: boolean;
  sequence: number;
  time: number;
  added: readonly Row[];
  removed: readonly Row[];
}

const TIMES = new Set(["dateTime", "dateTimeStamp", "date", "time"].map((name) => XSD + name));

/** Whether a term says which thing a row is about, rather than how it is. */
function isIdentity(term: Term): boolean {
  return term.type === "uri" || (!isNumeric(term) && !isBoolean(term) && !TIMES.has(term.datatype ?? ""));
}

/** What a row is about: equal before and after where only its values have changed; "" for nothing. */
export function identity(row: Row): string {
  const about = Object.entries(row).filter(([, term]) => isIdentity(term));
  return about.length === 0 ? "" : rowKey(Object.fromEntries(about));
}

/** A bag of rows in the order in which they came. */
export class LiveTable {
  readonly rows = new Map<number, Shown>();
  notes: readonly Note[] = [];
  private readonly byKey = new Map<string, number>();
  private next = 0;

  /** Rows of the answer, each as often as it is in it. */
  get total(): number {
    let sum = 0;
    for (const each of this.rows.values()) sum += each.count;
    return sum;
  }

  /** Take a notification up. What was not there cannot be removed. */
  take(told: Told, now: number): void {
    if (told.first) this.start(told.added);
    else this.change(told, now);
    const rows = [
      ...told.removed.slice(0, MOST_TOLD).map((row) => ({ sign: "−" as const, row })),
      ...told.added.slice(0, MOST_TOLD).map((row) => ({ sign: "+" as const, row })),
    ];
    const { sequence, time } = told;
    const note = { sequence, time, added: told.added.length, removed: told.removed.length, rows };
    this.notes = [note, ...this.notes.slice(0, MOST_NOTES - 1)];
  }

  /** Rows that were marked long enough are as others, or away; true where something changed. */
  sweep(now: number): boolean {
    let isChanged = false;
    for (const each of this.rows.values()) {
      if (each.mark === "" || each.until > now) continue;
      isChanged = true;
      if (each.count === 0) this.rows.delete(each.id);
      else this.rows.set(each.id, { ...each, mark: "", changed: [] });
    }
    return isChanged;
  }

  /** The last `most` rows alone: where they only come. */
  keep(most: number): void {
    for (const each of this.rows.values()) {
      if (this.rows.size <= most) return;
      this.rows.delete(each.id);
      if (this.byKey.get(each.key) === each.id) this.byKey.delete(each.key);
    }
  }

  /** Nothing is marked any more, as after a change by the person. */
  settle(): void {
    this.sweep(Number.POSITIVE_INFINITY);
  }

  private start(rows: readonly Row[]): void {
    this.rows.clear();
    this.byKey.clear();
    for (const row of rows) this.add(row, "", 0);
  }

  private change({ added, removed }: Told, now: number): void {
    const until = now + MARKED_MS;
    const pairs = paired(added, removed);
    const skipped = new Set<Row>();
    for (const [before, after] of pairs) {
      if (!this.replace(before, after, until)) continue;
      skipped.add(before);
      skipped.add(after);
    }
    for (const row of removed) if (!skipped.has(row)) this.remove(row, until);
    for (const row of added) if (!skipped.has(row)) this.add(row, "came", until);
  }

  private add(row: Row, mark: Shown["mark"], until: number): void {
    const key = rowKey(row);
    const id = this.byKey.get(key);
    const there = id === undefined ? undefined : this.rows.get(id);
    if (there) {
      this.rows.set(there.id, { ...there, count: there.count + 1, mark: mark || there.mark, until, changed: [] });
      return;
    }
    const one: Shown = { id: this.next++, key, row, count: 1, mark, until, changed: [] };
    this.rows.set(one.id, one);
    this.byKey.set(key, one.id);
  }

  private remove(row: Row, until: number): void {
    const key = rowKey(row);
    const id = this.byKey.get(key);
    const there = id === undefined ? undefined : this.rows.get(id);
    if (!there || there.count === 0) return;
    const count = there.count - 1;
    this.rows.set(there.id, { ...there, count, mark: count === 0 ? "went" : "changed", until, changed: [] });
    if (count === 0) this.byKey.delete(key);
  }

  /** Whether the row could be shown as one whose values have changed. */
  private replace(before: Row, after: Row, until: number): boolean {
    const key = rowKey(before);
    const id = this.byKey.get(key);
    const there = id === undefined ? undefined : this.rows.get(id);
    const newKey = rowKey(after);
    if (!there || there.count !== 1 || this.byKey.has(newKey)) return false;
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    const changed = [...names].filter((name) => before[name]?.value !== after[name]?.value);
    this.byKey.delete(key);
    this.byKey.set(newKey, there.id);
    this.rows.set(there.id, { ...there, key: newKey, row: after, mark: "changed", until, changed });
    return true;
  }
}

/** Rows that went and came about the same thing, one each: their values have changed. */
function paired(added: readonly Row[], removed: readonly Row[]): [Row, Row][] {
  if (added.length === 0 || removed.length === 0) return [];
  const went = alone(removed);
  const pairs: [Row, Row][] = [];
  for (const [about, after] of alone(added)) {
    const before = went.get(about);
    if (before && after) pairs.push([before, after]);
  }
  return pairs;
}

/** Rows by what they are about; null where several are about the same. */
function alone(rows: readonly Row[]): Map<string, Row | null> {
  const found = new Map<string, Row | null>();
  for (const row of rows) {
    const about = identity(row);
    if (about) found.set(about, found.has(about) ? null : row);
  }
  return found;
}
