/** What can be told of a SPARQL text without understanding it: its kind, prefixes, variables, order. */

import { PREFIXES } from "../../protocol/terms";

/** Prefixes that a text gets by itself where it uses them. */
export const WELL_KNOWN: Record<string, string> = {
  ...PREFIXES,
  ssn: "http://www.w3.org/ns/ssn/",
  time: "http://www.w3.org/2006/time#",
  schema: "https://schema.org/",
  owl: "http://www.w3.org/2002/07/owl#",
};

export type Form = "SELECT" | "ASK" | "CONSTRUCT" | "DESCRIBE" | "UPDATE" | "";

/** Where the gateway says that a text is wrong; both from 1. */
export interface Place {
  line: number;
  column: number;
}

export interface Order {
  column: string;
  descending: boolean;
}

const OPAQUE =
  /<[^<>"{}|^`\\\s]*>|"""(?:[^\\]|\\[^])*?"""|'''(?:[^\\]|\\[^])*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|#[^\n]*/g;
const DECLARED = /\bPREFIX\s+([\p{L}\p{N}_.-]*):/giu;
const USED = /(?:^|[^\p{L}\p{N}_:.-])([\p{L}][\p{L}\p{N}_-]*):/gu;
const UPDATES = /^(INSERT|DELETE|LOAD|CLEAR|CREATE|DROP|COPY|MOVE|ADD|WITH)\b/i;
const BEGINS = /\b(SELECT|ASK|CONSTRUCT|DESCRIBE|INSERT|DELETE|LOAD|CLEAR|CREATE|DROP|COPY|MOVE|ADD|WITH)\b/i;

/** The text with IRIs, strings and comments blank, and every character where it was. */
export function bare(text: string): string {
  return text.replace(OPAQUE, (found) => found.replace(/[^\n]/g, " "));
}

/** What kind of request it is; "" for an empty one, or one that is none. */
export function form(text: string): Form {
  const found = BEGINS.exec(bare(text).replace(/\b(?:PREFIX\s+\S*|BASE)\s+/gi, " "))?.[0].toUpperCase();
  if (!found) return "";
  return UPDATES.test(found) ? "UPDATE" : (found as Form);
}

/** Names of prefixes that it declares. */
export function declared(text: string): Set<string> {
  return new Set([...bare(text).matchAll(DECLARED)].map((match) => match[1] ?? ""));
}

/** PREFIX lines for the well-known prefixes that a text uses and does not declare; "" for none. */
export function missing(text: string): string {
  const there = declared(text);
  const used = new Set([...bare(text).matchAll(USED)].map((match) => match[1] ?? ""));
  return Object.entries(WELL_KNOWN)
    .filter(([name]) => used.has(name) && !there.has(name))
    .map(([name, iri]) => `PREFIX ${name}: <${iri}>\n`)
    .join("");
}

/** The text with those lines before it. */
export function completed(text: string): string {
  return missing(text) + text;
}

/** Variables in order of appearance, without `?`. */
export function variables(text: string): string[] {
  return [...new Set([...bare(text).matchAll(/[?$]([\p{L}\p{N}_]+)/gu)].map((match) => match[1] ?? ""))];
}

/** Where the gateway's error points to; null where it names no place. */
export function place(message: string): Place | null {
  const found = /\bat line (\d+), column (\d+)/.exec(message);
  return found ? { line: Number(found[1]), column: Number(found[2]) } : null;
}

/** Its message without place and advice: what is wrong there. */
export function wrong(message: string): string {
  return message.replace(/ at line \d+, column \d+/, "").replace(/ \(correct the SPARQL text\)$/, "");
}

/** Start and end of what stands at a place: a word, or the character; at the end the last character. */
export function span(text: string, { line, column }: Place): [number, number] {
  let start = 0;
  for (let at = 1; at < line; at += 1) {
    const end = text.indexOf("\n", start);
    if (end < 0) break;
    start = end + 1;
  }
  start = Math.min(start + column - 1, text.length);
  if (start >= text.trimEnd().length) {
    const last = text.trimEnd().length;
    return [Math.max(last - 1, 0), last];
  }
  const word = /^(?:[\p{L}\p{N}_?$:.@-]+|<[^>\s]*>|.)/u.exec(text.slice(start))?.[0] ?? " ";
  return [start, start + word.length];
}

/** How the rows of the outermost query are ordered, where it is by variables alone. */
export function ordering(text: string): Order[] {
  const found = /\bORDER\s+BY\s+((?:(?:ASC|DESC)\s*\(\s*[?$]\w+\s*\)\s*|[?$]\w+\s*)+)(?=(?:LIMIT|OFFSET)\b[^}]*$|$)/i.exec(
    bare(text).trim(),
  );
  if (!found?.[1]) return [];
  return [...found[1].matchAll(/(ASC|DESC)?\s*\(?\s*[?$](\w+)/gi)].map((match) => ({
    column: match[2] ?? "",
    descending: match[1]?.toUpperCase() === "DESC",
  }));
}

/** What the first comment says, without the words before it; "" for none. */
export function saidIn(text: string, before: string): string {
  const comment = /^# *(.+)$/m.exec(text)?.[1] ?? "";
  const said = comment.replace(before, "").trim();
  return said.charAt(0).toUpperCase() + said.slice(1, 200);
}
