/** What lies on the desk: the text, what is wrong with it, and what can be done with it. */

import { computed, signal } from "@preact/signals";
import { type Updated, update } from "../../protocol/sparql";
import type { Scope, Windows } from "../../protocol/subscription";
import { address, replaceParameters } from "../../state/address";
import { answer, clear, run, watch } from "./answer";
import type { Mark } from "./codemirror";
import type { Question } from "./question";
import { completed, form, place, wrong } from "./text";
import { read, used } from "./windows";

/** What stands in the editor; it stays while the page is open. */
export const text = signal("");
/** The sentence that wrote it; null where somebody typed. */
export const question = signal<Question | null>(null);
/** Declarations of windows as JSON, beside the text: SPARQL has no words for them; "" for none. */
export const declared = signal("");
/** Windows that the text looks at; null where what is declared is no JSON. */
export const windows = computed<Windows | null>(() => {
  const all = read(declared.value);
  return all && used(all, text.value);
});
/** Which gateways are asked; null for this one alone. */
export const scope = signal<Scope | null>(null);
/** Under which name it was opened; "" for none. */
export const openedAs = signal("");
/** The first UPDATE pasted in is asked about before it is executed. */
export const isUpdate = computed(() => form(text.value) === "UPDATE");
export const updated = signal<Updated | null>(null);
/** Why an UPDATE failed. */
export const refused = signal("");

/** Where the gateway says that the text is wrong; nothing once it is another. */
export const mark = computed<Mark | null>(() => {
  const problem = answer.value?.problem || refused.value;
  const asked = answer.value?.text ?? text.value;
  const at = problem ? place(problem) : null;
  return at && asked === text.value ? { place: at, text: wrong(problem) } : null;
});

/** Somebody types: the sentence no longer says what stands there. */
export function typed(now: string): void {
  text.value = now;
  question.value = null;
  updated.value = null;
  refused.value = "";
}

/** Show a text from elsewhere. */
export function show(now: string, name = "", over: Windows = {}): void {
  typed(now);
  openedAs.value = name;
  declare(over);
  scope.value = null;
}

/** Put windows beside the text. */
export function declare(over: Windows): void {
  declared.value = Object.keys(over).length === 0 ? "" : JSON.stringify(over, null, 2);
}

/** The text with the PREFIX lines that it lacks, in the editor too: lines are those of its errors. */
function prepared(): string {
  const whole = completed(text.peek());
  if (whole !== text.peek()) text.value = whole;
  return whole;
}

export function runNow(): void {
  const whole = prepared();
  const over = windows.peek();
  if (form(whole) === "UPDATE" || !whole.trim() || !over || scope.peek()?.mode === "event") return;
  void run(whole, over, scope.peek());
}

export function watchNow(): void {
  const whole = prepared();
  const over = windows.peek();
  if (form(whole) === "UPDATE" || !whole.trim() || !over) return;
  watch(whole, over, scope.peek());
}

/** Execute the UPDATE that stands there. */
export async function updateNow(): Promise<void> {
  const whole = prepared();
  refused.value = "";
  try {
    updated.value = await update(whole);
  } catch (error) {
    refused.value = (error as Error).message;
  }
}

/** Nothing stands there, nothing is asked. */
export function begin(): void {
  clear();
  show("");
  const { query, windows: over } = address.peek().parameters;
  if (query === undefined && over === undefined) return;
  replaceParameters({ query: undefined, windows: undefined, gateways: undefined, mode: undefined });
}
