/** An answer that stays: the rows of one subscription, as a bag. */

import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { subscriptions } from "../protocol/session";
import type { Change } from "../protocol/subscription";
import { prologue, type Row, rowKey } from "../protocol/terms";

export interface Entry {
  key: string;
  row: Row;
  /** How often the answer has it: answers are bags. */
  count: number;
}

/** What notifications add up to. */
export class Bag {
  readonly entries = new Map<string, Entry>();

  /** Take one notification up. Raises nothing: what was not there cannot be removed. */
  take(change: Change): void {
    if (change.first) this.entries.clear();
    for (const row of change.removed.results?.bindings ?? []) {
      const key = rowKey(row);
      const entry = this.entries.get(key);
      if (!entry) continue;
      if (entry.count > 1) entry.count -= 1;
      else this.entries.delete(key);
    }
    for (const row of change.added.results?.bindings ?? []) {
      const key = rowKey(row);
      const entry = this.entries.get(key);
      if (entry) entry.count += 1;
      else this.entries.set(key, { key, row, count: 1 });
    }
  }
}

/** A standing answer: its rows, whether they have come, and why they never will. */
export class Live {
  readonly rows = signal<Row[]>([]);
  readonly isThere = signal(false);
  readonly problem = signal("");
  private readonly bag = new Bag();
  private readonly end: () => void;

  constructor(text: string) {
    const held = subscriptions.subscribe(prologue(text) + text, {
      onChange: (change) => {
        this.bag.take(change);
        this.rows.value = [...this.bag.entries.values()].flatMap(({ row, count }) => Array<Row>(count).fill(row));
        this.isThere.value = true;
      },
      onError: (message) => {
        this.problem.value = message;
      },
    });
    this.end = () => held.end();
  }

  close(): void {
    this.end();
  }
}

/** A standing answer for as long as a component is shown; null for no question. */
export function useLive(text: string | null): Live | null {
  const [live, setLive] = useState<Live | null>(null);
  useEffect(() => {
    if (text === null) {
      setLive(null);
      return undefined;
    }
    const one = new Live(text);
    setLive(one);
    return () => one.close();
  }, [text]);
  return live;
}
