/** Messages with a fault: why, what they said; sent through again, or dropped. */

import { useState } from "preact/hooks";
import { Age, Badge, Empty, Problem, Skeleton, Told } from "../../parts";
import { tellDone } from "../../frame/undo";
import { api } from "../../protocol/http";
import { address, href } from "../../state/address";
import { bytes, short } from "../../state/format";
import { useLoad } from "../../state/load";
import { texts } from "../../texts";

interface Fault {
  reason: string;
  detail: string;
  mapping: string | null;
}

interface Entry {
  id: string;
  received_at: string;
  topic: string;
  retained: boolean;
  payload_bytes: number;
  is_whole: boolean;
  faults: Fault[];
  payload?: string;
  payload_base64?: string;
}

interface Page {
  entries: Entry[];
  next: string | null;
}

interface Outcome {
  id: string;
  done: boolean;
  observations: number;
  faults: Fault[];
}

const PAGE = 50;
const EVERY_MS = 10_000;

export function Quarantine() {
  const { reason, topic, before, entry } = address.value.parameters;
  const { value, problem, again } = useLoad(
    `quarantine ${reason} ${topic} ${before} ${entry}`,
    (ends) => (entry ? one(entry, ends) : api.get<Page>("/quarantine", { reason, topic, before, limit: PAGE }, ends)),
    before || entry ? 0 : EVERY_MS,
  );
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set());
  const leave = (id: string): void => setGone((all) => new Set([...all, id].slice(-10 * PAGE)));
  if (!value) return problem ? <Problem text={problem} again={again} /> : <Skeleton lines={6} />;
  const entries = value.entries.filter(({ id }) => !gone.has(id));
  const isFiltered = Boolean(reason ?? topic ?? before ?? entry);
  return (
    <>
      {isFiltered && (
        <p class="filter">
          {reason && <Badge>{reason}</Badge>} {topic && <Badge><bdi class="told">{topic}</bdi></Badge>}{" "}
          <a href={href("health", ["quarantine"])}>{texts.health.allOfThem}</a>
        </p>
      )}
      <Problem text={problem} again={again} />
      {entries.length === 0 && <Empty>{isFiltered ? texts.health.noneLikeThis : texts.health.noQuarantine}</Empty>}
      <ul class="quarantine">
        {entries.map((each) => (
          <One key={each.id} entry={each} leave={leave} isOne={entry !== undefined} />
        ))}
      </ul>
      {value.next && (
        <a class="next" href={href("health", ["quarantine"], { reason, topic, before: value.next })}>
          {texts.health.older}
        </a>
      )}
    </>
  );
}

async function one(id: string, ends: AbortSignal): Promise<Page> {
  return { entries: [await api.get<Entry>(`/quarantine/${encodeURIComponent(id)}`, {}, ends)], next: null };
}

function One({ entry, leave, isOne }: { entry: Entry; leave(id: string): void; isOne: boolean }) {
  const [isOpen, setOpen] = useState(isOne);
  const [told, setTold] = useState<{ text: string; isGood: boolean } | null>(null);
  const replay = async (): Promise<void> => {
    try {
      const outcome = await api.post<Outcome>(`/quarantine/${entry.id}/replay`);
      const text = outcome.done
        ? texts.health.replayed(short(outcome.observations))
        : texts.health.stays(outcome.faults.map(({ detail }) => detail).join("; "));
      setTold({ text, isGood: outcome.done });
      if (outcome.done) {
        tellDone(text);
        leave(entry.id);
      }
    } catch (error) {
      setTold({ text: (error as Error).message, isGood: false });
    }
  };
  const drop = async (): Promise<void> => {
    try {
      await api.delete(`/quarantine/${entry.id}`);
      tellDone(texts.health.dropped(entry.topic));
      leave(entry.id);
    } catch (error) {
      setTold({ text: (error as Error).message, isGood: false });
    }
  };
  return (
    <li data-quarantined={entry.id}>
      <div class="line-of">
        <span class="reasons">
          {[...new Set(entry.faults.map((fault) => fault.reason))].map((reason) => (
            <a key={reason} class="badge doubt" href={href("health", ["quarantine"], { reason })}>
              {reason.replace(/_/g, " ")}
            </a>
          ))}
        </span>
        <span class="what">
          <Told>{entry.topic}</Told>
          <span class="quiet small">
            <bdi class="told">{entry.faults.map((fault) => fault.detail).join("; ")}</bdi>
          </span>
        </span>
        <span class="quiet small">
          <Age at={Date.parse(entry.received_at)} />
        </span>
        <span class="acts">
          <button type="button" class="plain" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {texts.health.payload}
          </button>
          {entry.is_whole && (
            <button type="button" onClick={() => void replay()}>
              {texts.health.replay}
            </button>
          )}
          <Twice text={texts.health.drop} sure={texts.health.dropSure} act={() => void drop()} />
        </span>
      </div>
      {told && <p role="status" class={told.isGood ? "quiet" : "person"}><bdi class="told">{told.text}</bdi></p>}
      {isOpen && <Payload entry={entry} />}
    </li>
  );
}

function Payload({ entry }: { entry: Entry }) {
  const { value, problem, again } = useLoad(entry.id, (ends) => api.get<Entry>(`/quarantine/${entry.id}`, {}, ends));
  if (!value) return problem ? <Problem text={problem} again={again} /> : <Skeleton lines={2} />;
  const mappings = [...new Set(value.faults.flatMap(({ mapping }) => (mapping ? [mapping] : [])))];
  return (
    <div class="payload">
      <pre tabIndex={0}>
        <bdi>{value.payload || value.payload_base64}</bdi>
      </pre>
      <p class="quiet small">
        {bytes(value.payload_bytes)}
        {!value.is_whole && ` · ${texts.health.cut}`}
        {!value.payload && value.payload_base64 && ` · ${texts.health.noText}`}
        {value.retained && ` · ${texts.now.badges.retained}`}
      </p>
      {mappings.map((mapping) => (
        <a key={mapping} href={href("devices", ["edit"], { mapping })}>
          {texts.health.openMapping}
        </a>
      ))}
    </div>
  );
}

/** What cannot be taken back asks once more, in its place. */
export function Twice({ text, sure, act }: { text: string; sure: string; act(): void }) {
  const [isAsked, setAsked] = useState(false);
  if (!isAsked) {
    return (
      <button type="button" class="plain" onClick={() => setAsked(true)}>
        {text}
      </button>
    );
  }
  return (
    <span class="twice">
      <button type="button" class="sure" autofocus onClick={act} onBlur={() => setTimeout(() => setAsked(false), 200)}>
        {sure}
      </button>
    </span>
  );
}
