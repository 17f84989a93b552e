/** What a rehearsal found, in sentences. */

import { short } from "../../state/format";
import { texts } from "../../texts";
import type { Report } from "./told";

/** Messages by which something is different: at least so many where not all are told one by one. */
export function differingMessages(report: Pick<Report, "observations" | "faults">): number {
  return new Set([...report.observations, ...report.faults].map((each) => `${each.received_at} ${each.topic}`)).size;
}

/** "Of 412 kept messages 398 give the same, 14 differ." */
export function sum(report: Report): string {
  const words = texts.devices.edits;
  if (report.messages === 0) return words.sumNone;
  const differ = differingMessages(report);
  return words.sum(short(report.messages), short(report.messages - differ), short(differ));
}

/** What a query asks, without its prefixes, in one line. */
export function asked(query: string): string {
  return query.replace(/PREFIX\s+\S*:\s*<[^>]*>\s*/gi, "").replace(/\s+/g, " ").trim();
}

/** What a query is called: its name, or how it begins. */
export function nameOf(query: string, names: Map<string, string>): string {
  const text = asked(query);
  const name = names.get(text);
  if (name) return name;
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

/** A line for each standing question that would answer otherwise, or could not be asked. */
export function answers(report: Report, names: Map<string, string>): string[] {
  const words = texts.devices.edits;
  return report.subscriptions.flatMap(({ query, error, added, removed, counts }) => {
    const name = nameOf(query, names);
    if (error) return [words.notAsked(name, error)];
    const [more, less] = [counts.added ?? added.length, counts.removed ?? removed.length];
    return [...(more > 0 ? [words.wouldGain(name, more)] : []), ...(less > 0 ? [words.wouldLose(name, less)] : [])];
  });
}
