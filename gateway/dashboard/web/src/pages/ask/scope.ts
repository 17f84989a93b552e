/** Which gateways a question is asked of, and what its rows say of where they come from. */

import type { EventRows, Federated, Scope } from "../../protocol/subscription";
import type { Row } from "../../protocol/terms";

/** The column that says which gateway a row came from, where it is known. */
export const GATEWAY = "gateway";

export const MODES = ["union", "each", "event"] as const;

/** As an address has it: `gateways` "all" or names with commas; null for none. */
export function read(gateways: string | undefined, mode: string | undefined): Scope | null {
  if (!gateways) return null;
  const names = gateways.split(",").filter((name) => name !== "");
  return { gateways: gateways === "all" ? "all" : names, mode: MODES.find((each) => each === mode) ?? "union" };
}

/** The rows of events, each with the gateway of its own. */
export function withGateways(rows: readonly Row[], events: readonly EventRows[]): Row[] {
  const names = events.flatMap(({ gateway, rows: count }) => Array<string>(count).fill(gateway));
  return rows.map((row, index) => {
    const name = names[index];
    return name === undefined || GATEWAY in row ? row : { ...row, [GATEWAY]: { type: "literal", value: name } };
  });
}

export interface Standing {
  name: string;
  /** `stale`: away, and shown as it was last; `missing`: not in the answer. */
  state: "there" | "stale" | "missing";
  /** Since when it is away; ms, NaN where it is not. */
  since: number;
  position: string;
}

/** How each gateway is in an answer, by name: who is not there first. `awaySince` is in ms, undefined for one that is not. */
export function standing(
  { positions, missing = [] }: Federated,
  awaySince: (name: string) => number | undefined,
): Standing[] {
  // Who has told by now has a position: the first answer alone says who was missing then.
  const names = new Set([...Object.keys(positions), ...missing]);
  const all = [...names].map((name): Standing => {
    const since = awaySince(name);
    const state = missing.includes(name) ? "missing" : since === undefined ? "there" : "stale";
    return { name, state, since: since ?? Number.NaN, position: positions[name] ?? "" };
  });
  return all.sort((a, b) => Number(a.state === "there") - Number(b.state === "there") || a.name.localeCompare(b.name));
}
