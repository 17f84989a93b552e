/** Standing questions as `GET /subscriptions` tells them. */

import type { Windows } from "../../protocol/subscription";
import { localName } from "../../protocol/terms";

export interface Standing {
  spuid: string;
  query: string;
  alias: string | null;
  kind: "client" | "rule" | "gateway";
  /** Identity or address of a client, IRI of a rule. */
  owner: string;
  /** "" where a process of its own serves it. */
  tier: string;
  /** How many share the work, whose cost this is. */
  members: number;
  notifications: number;
  /** UPDATEs that it looked into, and rows that it told. */
  updates: number;
  rows: number;
  cost_us: number;
  worker: boolean;
  /** Where it looks at some. */
  windows?: Windows;
}

/** The dearest first. */
export function byCost(all: readonly Standing[]): Standing[] {
  return [...all].sort((a, b) => b.cost_us - a.cost_us || nameOf(a).localeCompare(nameOf(b)));
}

const LONGEST = 80;

/** Aliases that programs make up: this page's, those of agents. */
const MADE_UP = /^p\d+$|[\da-f]{8}-[\da-f]{4}-/;

/** What it is called; else what it asks, without prefixes. */
export function nameOf({ alias, query }: Pick<Standing, "alias" | "query">): string {
  const text = query.replace(/(?:PREFIX\s+\S*\s*<[^>]*>|BASE\s*<[^>]*>)\s*/gi, "").replace(/\s+/g, " ").trim();
  const said = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  return alias && !MADE_UP.test(alias) ? alias : said;
}

/** Whose it is: a rule by the end of its IRI. */
export function ownerOf({ kind, owner }: Pick<Standing, "kind" | "owner">): string {
  return kind === "rule" ? localName(owner) : owner;
}

/** How many are served by each tier, the most first. */
export function tiers(all: readonly Standing[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const { tier } of all) counts.set(tier, (counts.get(tier) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}
