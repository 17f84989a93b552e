/** Rights of clients, in the words of `sosa-gateway client add`. */

export const PRESETS = ["viewer", "commander", "integrator", "operator", "everything", "device"] as const;
export type Preset = (typeof PRESETS)[number];
export type Policy = Record<string, string[]>;

export interface Given {
  preset: Preset;
  /** Topic filters of a device, by spaces or commas. */
  topics: string;
}

const SEES: Policy = { query: ["all"], subscribe: ["all"] };

const POLICIES: Record<Exclude<Preset, "device">, Policy> = {
  viewer: SEES,
  commander: { ...SEES, may: ["command"] },
  integrator: { ...SEES, update: ["all"], receive: ["#"], may: ["command", "mappings"] },
  operator: { ...SEES, receive: ["#"], may: ["operations"] },
  everything: {
    ...SEES,
    update: ["all"],
    publish: ["#"],
    receive: ["#"],
    may: ["command", "mappings", "operations", "system"],
  },
};

/** What `POST /clients` is sent: kind and policy. */
export function policyOf({ preset, topics }: Given): { kind: string; policy: Policy } {
  if (preset !== "device") return { kind: "user", policy: POLICIES[preset] };
  const filters = topics.split(/[\s,]+/).filter((each) => each !== "");
  return { kind: "device", policy: { publish: filters, receive: filters } };
}

/** A policy in a line: `sees all · commands · publishes home/lamp/#`. */
export function said(policy: Policy, words: Record<string, string> & { none: string }): string {
  const parts = Object.entries(policy).flatMap(([kind, what]) => {
    if (what.length === 0) return [];
    return [`${words[kind] ?? kind} ${what.join(", ")}`];
  });
  return parts.length > 0 ? parts.join(" · ") : words.none;
}
