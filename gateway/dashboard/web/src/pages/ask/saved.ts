/** Questions with a name: those that people saved, and those of the profiles. */

import { signal } from "@preact/signals";
import { api } from "../../protocol/http";
import type { Windows } from "../../protocol/subscription";

export interface Named {
  name: string;
  sparql: string;
  label: string;
  /** What it looks at beside the store. */
  windows: Windows;
  /** Whether somebody saved it; others stand in a profile. */
  isSaved: boolean;
}

/** As the gateway tells it. */
interface Told extends Pick<Named, "name" | "sparql" | "label"> {
  windows?: Windows;
}

/** null until they have come. */
export const named = signal<readonly Named[] | null>(null);
export const problem = signal("");

/** Queries that the gateway asks itself: they answer what other pages show better. */
const OWN = new Set(["STREAMS", "SERIES", "WATCHED", "CAPABILITIES", "MAPPINGS", "RULES", "ACTUATORS", "REQUESTED"]);

export async function load(): Promise<void> {
  try {
    const [{ saved }, { queries }] = await Promise.all([
      api.get<{ saved: Told[] }>("/saved"),
      api.get<{ queries: Omit<Told, "label">[] }>("/profiles/queries"),
    ]);
    named.value = [
      ...saved.map((each) => ({ ...each, windows: each.windows ?? {}, isSaved: true })),
      ...queries
        .filter(({ name }) => !OWN.has(name))
        .map((each) => ({ ...each, windows: each.windows ?? {}, label: "", isSaved: false })),
    ];
    problem.value = "";
  } catch (error) {
    problem.value = (error as Error).message;
  }
}

/** Keep a query. Raises ApiError: a name that a profile has, a text that is none. */
export async function keep(name: string, { sparql, label, windows }: Pick<Named, "sparql" | "label" | "windows">): Promise<void> {
  await api.put(`/saved/${encodeURIComponent(name)}`, { sparql, label, windows });
  await load();
}

export async function forget(name: string): Promise<void> {
  await api.delete(`/saved/${encodeURIComponent(name)}`);
  await load();
}

const LONGEST_NAME = 64;

/** A name as the gateway takes it, made of what a person calls it; "" where nothing is left. */
export function nameOf(label: string): string {
  const plain = label.normalize("NFD").replace(/[\u0300-\u036f]/g, "");
  const name = plain.toUpperCase().replace(/[^A-Z0-9]+/g, "_").replace(/^_+|_+$/g, "");
  return (/^[0-9]/.test(name) ? `_${name}` : name).slice(0, LONGEST_NAME);
}

/** What a query is called in a list. */
export function title({ name, label }: Pick<Named, "name" | "label">): string {
  return label || name.toLowerCase().replace(/[_-]+/g, " ");
}
