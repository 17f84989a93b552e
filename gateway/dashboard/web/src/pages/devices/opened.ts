/** What the editor begins with: a mapping in force, a proposal, a guess, or nothing. */

import { api } from "../../protocol/http";
import { may } from "../../protocol/session";
import { baseOf } from "./rooms";
import { ownId, sampled } from "./members";
import { asked } from "./report";
import { widened } from "./things";
import { type Given, given, look, type Mapping, messages, type Proposal, type UnknownTopic } from "./told";

/** A message to look at; `observation` is the first that it gave when it came. */
export interface Example {
  message: Given;
  at: number;
  observation: string | null;
  /** How long it was where only its beginning is kept, bytes. */
  whole: number | null;
}

export interface Opened {
  form: Mapping;
  /** What is in force; null for what is new. */
  before: Mapping | null;
  proposal: Proposal | null;
  base: string;
  examples: Example[];
}

const MOST = 20;

/** Raises ApiError where there is no such thing. */
export async function opened(wanted: Record<string, string | undefined>, signal: AbortSignal): Promise<Opened | null> {
  const house = await look(signal);
  const base = baseOf([...house.mappings, ...house.proposals.map(({ mapping }) => mapping)].find(baseOf) ?? {});
  const proposals = new Map(house.proposals.map((each) => [each.mapping.id, each]));
  const start = async (): Promise<Omit<Opened, "examples" | "base"> | null> => {
    if (wanted.mapping) {
      const before = house.mappings.find(({ id }) => id === wanted.mapping) ?? null;
      return before && { form: before, before, proposal: proposals.get(before.id) ?? null };
    }
    if (wanted.proposal) {
      const proposal = house.proposals.find(({ id }) => id === wanted.proposal);
      const before = house.mappings.find(({ id }) => id === proposal?.mapping.id) ?? null;
      return proposal ? { form: before ?? proposal.mapping, before, proposal } : null;
    }
    return { form: begun(house.topics, wanted), before: null, proposal: null };
  };
  const found = await start();
  if (!found) return null;
  const topic = found.form.topic ?? "";
  const unknown = house.topics.filter((each) => each.topic === (wanted.topic ?? topic));
  return { ...found, base, examples: await examples(topic, unknown, signal) };
}

/** The guess about an unknown topic, for all topics of a filter where one is wanted. */
function begun(topics: UnknownTopic[], wanted: Record<string, string | undefined>): Mapping {
  const { topic, filter, guess } = wanted;
  if (!topic) return { format: "json" };
  const heard = topics.find((each) => each.topic === topic);
  const members = heard?.guesses.find(({ id }) => id === guess)?.mapping ?? heard?.guesses[0]?.mapping;
  const base: Mapping = members ?? { topic, format: heard?.family ?? "json" };
  return filter ? widened(base, topic, filter) : base;
}

/** Kept messages of a filter, the last first; those of an unknown topic where they are not shown. */
async function examples(topic: string, unknown: UnknownTopic[], signal: AbortSignal): Promise<Example[]> {
  if (topic && may("operations")) {
    const kept = await messages(topic, MOST, signal);
    if (kept.length > 0) {
      return kept.map((each) => ({
        message: given(each),
        at: Date.parse(each.received_at),
        observation: each.observation,
        whole: null,
      }));
    }
  }
  return unknown.flatMap((each) => {
    const sample = each.payloads?.[0];
    if (!sample) return [];
    const shown = sample.payload?.length ?? sample.bytes;
    return [
      {
        message: sampled(each),
        at: Date.parse(sample.receivedAt),
        observation: null,
        whole: shown < sample.bytes ? sample.bytes : null,
      },
    ];
  });
}

/** A mapping with the id that it will have. */
export function named(members: Mapping, { before, proposal, base }: Opened): Mapping {
  const id = before?.id ?? proposal?.mapping.id ?? members.id ?? ownId(base, members);
  return { ...members, id };
}

/** What queries of profiles and saved ones are called, by what they ask. */
export async function questionNames(): Promise<Map<string, string>> {
  const [profiles, own] = await Promise.all([
    api.get<{ queries: { name: string; sparql: string }[] }>("/profiles/queries"),
    api.get<{ saved: { name: string; sparql: string; label: string }[] }>("/saved"),
  ]);
  const listed = profiles.queries.map(({ name, sparql }) => [asked(sparql), name] as const);
  return new Map([...listed, ...own.saved.map(({ name, sparql, label }) => [asked(sparql), label || name] as const)]);
}
