/** What a person decides about a device: into a room, rejected, and the way back. */

import { ApiError } from "../../protocol/http";
import { update } from "../../protocol/sparql";
import { prologue } from "../../protocol/terms";
import { differing } from "./members";
import { description } from "./rooms";
import { confirm, type Mapping, type Proposal, undo } from "./told";

/** Where a device goes; `isNew` has to be described first. */
export interface Into {
  iri: string;
  name: string;
  isNew: boolean;
}

/** Members that answers set, by the proposal's id; null leaves it out. */
export type Answers = Record<string, Mapping | null>;

export interface Accepted {
  changes: string[];
  left: number;
  /** Whether the new room's name could not be written. */
  isUnnamed: boolean;
  undo(): Promise<void>;
}

/** One request for all that needs no members of its own, one for each that does. */
export function plan(parts: Proposal[], into: Into | null, answers: Answers): [string[], Mapping][] {
  const together: string[] = [];
  const alone: [string[], Mapping][] = [];
  for (const part of parts) {
    const answer = answers[part.id];
    if (answer === null) continue;
    if (answer && Object.keys(answer).length > 0) alone.push([[part.id], { ...answer, ...featureOf(part, into) }]);
    else together.push(part.id);
  }
  const isOwn = parts.filter(({ id }) => together.includes(id)).every(({ kind }) => kind === "diagnostic");
  const shared: Mapping = into && !isOwn ? { feature: into.iri } : {};
  return together.length > 0 ? [[together, shared], ...alone] : alone;
}

/** A device's own battery is in no room. */
function featureOf(part: Proposal, into: Into | null): Mapping {
  return into && part.kind !== "diagnostic" ? { feature: into.iri } : {};
}

/** Take what is not left out into use. Raises ApiError where nothing of it can be. */
export async function accept(parts: Proposal[], into: Into | null, answers: Answers): Promise<Accepted> {
  return settle(plan(parts, into, answers), into);
}

/** Another room for what is in use: what a person has set besides stays. */
export async function move(parts: { proposal: Proposal; mapping: Mapping }[], into: Into): Promise<Accepted> {
  const together: string[] = [];
  const alone: [string[], Mapping][] = [];
  for (const { proposal, mapping } of parts) {
    if (proposal.kind === "diagnostic" && parts.length > 1) continue;
    const members = differing(proposal.mapping, { ...mapping, feature: into.iri }) as Mapping;
    if (Object.keys(members).join() === "feature") together.push(proposal.id);
    else alone.push([[proposal.id], members]);
  }
  return settle(together.length > 0 ? [[together, { feature: into.iri }], ...alone] : alone, into);
}

async function settle(steps: [string[], Mapping][], into: Into | null): Promise<Accepted> {
  const isUnnamed = into?.isNew ? !(await describe(into)) : false;
  const changes: string[] = [];
  const back = async (): Promise<void> => {
    await undo(changes);
    if (into?.isNew && !isUnnamed) await write("DELETE", into);
  };
  let left = 0;
  try {
    for (const [ids, members] of steps) {
      const told = await confirm(ids, members);
      if (told.change) changes.push(told.change.id);
      left += told.left?.length ?? 0;
    }
  } catch (error) {
    // One decision: all of it, or nothing.
    await back();
    throw error;
  }
  return { changes, left, isUnnamed, undo: back };
}

/** Whether the room's name could be written: who may not write the graph puts devices there all the same. */
async function describe(room: Into): Promise<boolean> {
  try {
    await write("INSERT", room);
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return false;
    throw error;
  }
}

async function write(verb: "INSERT" | "DELETE", room: Into): Promise<void> {
  const text = `${verb} DATA { ${description(room.iri, room.name)} }`;
  await update(prologue(text) + text);
}
