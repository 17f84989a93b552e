/**
 * How many rows questions have now: followed one after the other, behind what somebody waits for.
 *
 * The gateway tries the first answer of a large query in a process of its own, one at a time for each
 * client, so a list of counts would keep the question waiting that somebody has just asked.
 */

import { effect, type Signal, untracked } from "@preact/signals";
import { subscriptions } from "../../protocol/session";
import type { Listener, Windows } from "../../protocol/subscription";
import { isThere } from "../../state/streams";
import { answer } from "./answer";

/** So many are followed at once: those that are seen. */
const MOST = 20;

interface Followed {
  sparql: string;
  windows: Windows;
  count: Signal<number | null>;
  end: (() => void) | null;
}

const wanted = new Set<Followed>();
let first: Followed | null = null;

/** Follow a query's rows until what is returned is called. */
export function follow(sparql: string, windows: Windows, count: Signal<number | null>): () => void {
  const one: Followed = { sparql, windows, count, end: null };
  wanted.add(one);
  next();
  return () => {
    wanted.delete(one);
    one.end?.();
    one.count.value = null;
    if (first === one) answered();
    else next();
  };
}

function answered(): void {
  first = null;
  next();
}

function isBusy(): boolean {
  const asked = answer.value;
  return !isThere.value || (asked !== null && !asked.isThere && !asked.problem);
}

function next(): void {
  if (first || untracked(isBusy)) return;
  const followed = [...wanted].filter(({ end }) => end !== null).length;
  const one = [...wanted].find(({ end }) => end === null);
  if (!one || followed >= MOST) return;
  first = one;
  const listener: Listener = {
    onChange: ({ first: isFirst, added, removed }) => {
      const before = isFirst ? 0 : (one.count.value ?? 0);
      const gone = isFirst ? 0 : (removed.results?.bindings.length ?? 0);
      one.count.value = before + (added.results?.bindings.length ?? 0) - gone;
      if (first === one) answered();
    },
    // What may not be read, or cannot be followed, has no count.
    onError: () => {
      one.count.value = null;
      if (first === one) answered();
    },
  };
  const held = subscriptions.subscribe(one.sparql, listener, one.windows);
  one.end = () => held.end();
}

effect(() => {
  if (!isBusy()) untracked(next);
});
