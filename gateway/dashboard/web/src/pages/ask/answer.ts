/** What was asked and what is answered: once, or for as long as somebody looks. */

import { signal } from "@preact/signals";
import { ask, askOver } from "../../protocol/sparql";
import { subscriptions } from "../../protocol/session";
import type { Change, Federated, Scope, WindowNow, Windows } from "../../protocol/subscription";
import type { Results, Row } from "../../protocol/terms";
import { GATEWAY, withGateways } from "./scope";
import { LiveTable, type Note, type Shown } from "./table";
import { form } from "./text";

export interface Answer {
  /** The text that was sent. */
  text: string;
  /** Windows that it looks at. */
  over: Windows;
  /** Which gateways it was asked of; null for this one alone. */
  scope: Scope | null;
  /** Where they stood last. */
  federation: Federated | null;
  /** What each had when the (first) answer was given. */
  windows: Record<string, WindowNow>;
  isLive: boolean;
  /** Whether the (first) answer has come. */
  isThere: boolean;
  columns: readonly string[];
  rows: readonly Shown[];
  /** Rows, equal ones counted; those that went are not. */
  total: number;
  /** Of an ASK. */
  truth: boolean | null;
  /** How long the (first) answer took. */
  tookMs: number;
  notes: readonly Note[];
  /** The gateway's words where it did not answer. */
  problem: string;
}

const SWEEP_MS = 250;
/** At most so often is what lives drawn anew. */
const DRAW_MS = 100;
/** Rows of events only come: so many of the last are seen. */
const MOST_OF_EVENTS = 500;

export const answer = signal<Answer | null>(null);

/** What is asked: `silence` lets it say nothing any more, `end` gives it up as well. */
interface Asked {
  silence(): void;
  end(): void;
}

let current: Asked | null = null;

function leave(): void {
  current?.silence();
  current?.end();
  current = null;
}

/** Forget the answer and end what stands. */
export function clear(): void {
  leave();
  answer.value = null;
}

/** End the subscription; what it told last stays to be seen. */
export function stopWatching(): void {
  const before = answer.peek();
  leave();
  if (before?.isLive) answer.value = { ...before, isLive: false };
}

function begun(text: string, over: Windows, scope: Scope | null, isLive: boolean): Answer {
  return {
    text,
    over,
    scope,
    federation: null,
    windows: {},
    isLive,
    isThere: false,
    columns: [],
    rows: [],
    total: 0,
    truth: null,
    tookMs: 0,
    notes: [],
    problem: "",
  };
}

/** Ask once: a QUERY, or where there are windows, which are of subscriptions, the first answer of one. */
export async function run(text: string, over: Windows = {}, scope: Scope | null = null): Promise<void> {
  if (Object.keys(over).length > 0) {
    watch(text, over, scope, true);
    return;
  }
  clear();
  const asked = begun(text, over, scope, false);
  const ends = new AbortController();
  current = { silence: () => undefined, end: () => ends.abort() };
  answer.value = asked;
  const start = performance.now();
  try {
    const [told, federation] = scope ? await askOver(text, scope, ends.signal) : [await ask(text, ends.signal), null];
    if (ends.signal.aborted) return;
    answer.value = { ...asked, ...shown(told), federation, isThere: true, tookMs: performance.now() - start };
  } catch (error) {
    if (!ends.signal.aborted) answer.value = { ...asked, problem: (error as Error).message };
  }
}

function shown(told: Results): Partial<Answer> {
  if (told.boolean !== undefined) return { truth: told.boolean };
  const table = new LiveTable();
  const added = told.results?.bindings ?? [];
  table.take({ first: true, sequence: 0, time: Date.now(), added, removed: [] }, 0);
  return { columns: told.head.vars ?? [], rows: [...table.rows.values()], total: added.length };
}

/** Ask, and be told of every change; or `once`. */
export function watch(text: string, over: Windows = {}, scope: Scope | null = null, once = false): void {
  // What was watched ends when this is answered: a window that both look at stays open.
  let before = current;
  const replace = (): void => {
    before?.end();
    before = null;
  };
  before?.silence();
  const asked = begun(text, over, scope, !once);
  answer.value = asked;
  const table = new LiveTable();
  const isTruth = form(text) === "ASK";
  const start = performance.now();
  let columns: readonly string[] = [];
  let tookMs = -1;
  let windows: Record<string, WindowNow> = {};
  let federation: Federated | null = null;
  let drawing: ReturnType<typeof setTimeout> | undefined;
  let isSilent = false;
  const draw = (): void => {
    drawing = undefined;
    const total = table.total;
    const truth = isTruth ? total > 0 : null;
    const rows = isTruth ? [] : [...table.rows.values()];
    answer.value = { ...asked, isThere: true, columns, rows, total, truth, tookMs, windows, federation, notes: once ? [] : table.notes };
  };
  const sweeping = setInterval(() => {
    if (table.sweep(Date.now())) drawing ??= setTimeout(draw, 0);
  }, SWEEP_MS);
  const silence = (): void => {
    isSilent = true;
    clearInterval(sweeping);
    clearTimeout(drawing);
  };
  const onChange = (change: Change): void => {
    replace();
    if (isSilent) return;
    if (tookMs < 0) tookMs = performance.now() - start;
    if (change.first) {
      columns = change.added.head.vars ?? [];
      if (change.events && !columns.includes(GATEWAY)) columns = [...columns, GATEWAY];
      windows = change.windows ?? {};
    }
    federation = change.federation ?? federation;
    table.take(told(change), Date.now());
    if (change.events) table.keep(MOST_OF_EVENTS);
    if (change.first) draw();
    else drawing ??= setTimeout(draw, DRAW_MS);
    if (once) leave();
  };
  const onError = (problem: string): void => {
    replace();
    if (isSilent) return;
    silence();
    answer.value = { ...(answer.peek() ?? asked), isLive: false, problem };
  };
  const held = subscriptions.subscribe(text, { onChange, onError }, over, scope);
  current = {
    silence,
    end: () => {
      held.end();
      replace();
    },
  };
}

function told(change: Change): Parameters<LiveTable["take"]>[0] {
  const rows = (results: Results): Row[] => results.results?.bindings ?? [];
  const { first, sequence, time } = change;
  const added = change.events ? withGateways(rows(change.added), change.events) : rows(change.added);
  return { first, sequence, time, added, removed: rows(change.removed) };
}
