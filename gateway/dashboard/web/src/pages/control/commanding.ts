/** Sending commands, and following those that nobody tells us of. */

import { signal } from "@preact/signals";
import { api } from "../../protocol/http";
import type { Actuator, Wanted } from "./actuators";
import { type Command, commandTold, hasEnded, type Told } from "./commands";

const MOST_OWN = 100;
const LOOK_MS = 1000;
const LONGEST_MS = 600_000;

/** Commands of this page, as the gateway answered them. */
export const own = signal<readonly Command[]>([]);
/** Why the last command for an actuator was not taken at all, by its IRI. */
export const refusals = signal<ReadonlyMap<string, string>>(new Map());
/** Whether the graph of actuations, which may not be ours to read, tells of a command. */
let isTold: (id: string) => boolean = () => false;

export function toldBy(look: (id: string) => boolean): void {
  isTold = look;
}

/** Ask for a value. Raises nothing: a refusal is shown where the command was given. */
export async function command(actuator: Actuator, value: Wanted): Promise<void> {
  refuse(actuator, "");
  const asked = Date.now();
  try {
    const told = await api.post<Told>(`/actuators/${encodeURIComponent(actuator.name)}/command`, { value });
    const mine = commandTold(told, actuator.id, value, asked);
    keep(mine);
    if (!hasEnded(mine)) void follow(mine, asked + LONGEST_MS);
  } catch (error) {
    refuse(actuator, (error as Error).message);
  }
}

function keep(mine: Command): void {
  own.value = [...own.value.filter(({ id }) => id !== mine.id), mine].slice(-MOST_OWN);
}

function refuse(actuator: Actuator, why: string): void {
  if (!why && !refusals.value.has(actuator.id)) return;
  const all = new Map(refusals.value);
  if (why) all.set(actuator.id, why);
  else all.delete(actuator.id);
  refusals.value = all;
}

/** Who may command and not read the graph is answered what became of it by asking. */
async function follow(mine: Command, until: number): Promise<void> {
  let last = mine;
  while (!hasEnded(last) && Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    if (isTold(last.id)) return;
    try {
      const told = await api.get<Told>(`/actuations/${encodeURIComponent(last.id)}`);
      last = commandTold(told, last.actuator, last.value, last.requestedAt);
      keep(last);
    } catch (error) {
      // It left the store, or the gateway is away: the next look may tell.
      if ((error as { status?: number }).status === 404) return;
    }
  }
}
