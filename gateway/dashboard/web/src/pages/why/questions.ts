/** Standing questions that somebody may wonder about: saved, of profiles, of rules, asked now. */

import { type Standing, nameOf, ownerOf } from "../health/standing";
import type { Rule } from "../control/rules";

export interface Named {
  name: string;
  sparql: string;
  label?: string;
}

export interface Choice {
  key: string;
  title: string;
  detail: string;
  asked: { name?: string; query?: string };
}

export interface Source {
  kind: "saved" | "rules" | "live" | "profiles";
  choices: Choice[];
}

interface Known {
  saved: readonly Named[];
  profiles: readonly Named[];
  rules: readonly Rule[];
  live: readonly Standing[];
}

const LONGEST = 120;

/** What there is by where it stands, each question once, and of these those with `find` in them.
 * `isOwn` tells what the page asks to draw itself.
 */
export function sources(
  { saved, profiles, rules, live }: Known,
  find: string,
  isOwn: (query: string) => boolean = () => false,
): Source[] {
  // What has a name, or is asked by this page for itself, is not told again by its text.
  const seen = new Set([...saved, ...profiles].map(({ sparql }) => plain(sparql)));
  const named = ({ name, label, sparql }: Named): Choice => ({
    key: name,
    title: label || name,
    detail: label ? name : plain(sparql),
    asked: { name },
  });
  const ofRule = (rule: Rule): Choice[] => {
    const asked = rule.query ? { name: rule.query } : { query: rule.text };
    return rule.query || rule.text ? [{ key: rule.iri, title: rule.name, detail: `→ ${rule.topic}`, asked }] : [];
  };
  const ofLive = (each: Standing): Choice[] => {
    const text = plain(each.query);
    if (seen.has(text) || isOwn(each.query)) return [];
    seen.add(text);
    return [{ key: each.spuid, title: nameOf(each), detail: ownerOf(each), asked: { query: each.query } }];
  };
  const wanted = find.trim().toLowerCase();
  const all: Source[] = [
    { kind: "saved", choices: saved.map(named) },
    { kind: "profiles", choices: profiles.map(named) },
    { kind: "rules", choices: rules.flatMap(ofRule) },
    { kind: "live", choices: live.filter(({ kind }) => kind === "client").flatMap(ofLive) },
  ];
  return all
    .map(({ kind, choices }) => ({
      kind,
      choices: choices.filter(({ title, detail }) => `${title}\n${detail}`.toLowerCase().includes(wanted)),
    }))
    .filter(({ choices }) => choices.length > 0);
}

/** A query without what it begins with, in a line. */
export function plain(sparql: string): string {
  const text = sparql.replace(/(?:PREFIX\s+\S*\s*<[^>]*>|BASE\s*<[^>]*>)\s*/gi, "").replace(/\s+/g, " ").trim();
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
