/** Standing questions as `GET /subscriptions` tells them. */

export interface Standing {
  id: string;
  query: string;
  alias?: string;
  owner?: string;
  name?: string;
  tier: string;
  rows: number;
  updates: number;
  cost_us: number;
  kind: "client" | "rule" | "gateway";
}

/** The dearest first. */
export function byCost(all: readonly Standing[]): Standing[] {
  return [...all].sort((a, b) => b.cost_us - a.cost_us || nameOf(a).localeCompare(nameOf(b)));
}

const LONGEST = 80;

/** What it is called; else what it asks, without prefixes. */
export function nameOf({ name, alias, query }: Pick<Standing, "name" | "alias" | "query">): string {
  if (name) return name;
  const text = query.replace(/(?:PREFIX\s+\S*\s*<[^>]*>|BASE\s*<[^>]*>)\s*/gi, "").replace(/\s+/g, " ").trim();
  const said = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  return alias && !/^p\d+$/.test(alias) ? alias : said;
}

/** How many are served by each tier, the most first. */
export function tiers(all: readonly Standing[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const { tier } of all) counts.set(tier, (counts.get(tier) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}
