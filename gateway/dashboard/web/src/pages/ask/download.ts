/** Answers as files: CSV as SPARQL 1.1 writes it, and the JSON of SPARQL results. */

import type { Row, Term } from "../../protocol/terms";
import type { Shown } from "./table";

/** Rows as often as the answer has them. */
export function bag(rows: readonly Shown[]): Row[] {
  return rows.flatMap(({ row, count }) => Array<Row>(count).fill(row));
}

function cell(term: Term | undefined): string {
  if (!term) return "";
  const text = term.type === "bnode" ? `_:${term.value}` : term.value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** SPARQL 1.1 Query Results CSV: values without their kind, lines that end as RFC 4180 says. */
export function csv(columns: readonly string[], rows: readonly Shown[]): string {
  const lines = bag(rows).map((row) => columns.map((name) => cell(row[name])).join(","));
  return [columns.join(","), ...lines].map((line) => `${line}\r\n`).join("");
}

/** SPARQL 1.1 Query Results JSON. */
export function json(columns: readonly string[], rows: readonly Shown[]): string {
  return `${JSON.stringify({ head: { vars: columns }, results: { bindings: bag(rows) } }, null, 1)}\n`;
}

const KEPT_MS = 60_000;

/** Give the browser a file to keep. */
export function download(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}
