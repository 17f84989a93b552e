/** Beside a stream's history: the mapping that gives it, the questions about it, its raw messages. */

import { Badge, Empty, Skeleton, Told } from "../../parts";
import { api } from "../../protocol/http";
import { may } from "../../protocol/session";
import { href } from "../../state/address";
import { bytes, timeOfDay, whole } from "../../state/format";
import { type Loaded, useLoad } from "../../state/load";
import type { Stream } from "../../state/streams";
import { texts } from "../../texts";
import { isAbout } from "./links";

interface MappingTold {
  id: string;
  topic: string;
  format: string;
  selector?: string;
  source?: string;
}

interface WhyTold {
  observations: { message: { topic: string } | null; mappings: MappingTold[]; certain: boolean }[];
}

export interface Why {
  mappings: MappingTold[];
  isCertain: boolean;
  /** A topic, or a filter, of which its messages are. */
  topic: string | undefined;
}

/** Where the stream's last value came from, asked once for each stream that is opened. */
export function useWhy(stream: Stream): Loaded<Why> {
  return useLoad(stream.key, async (signal) => {
    const iri = stream.latest.peek().observation;
    const told = await api.get<WhyTold>("/mappings/why", { iri }, signal);
    const first = told.observations[0];
    const mappings = first?.mappings ?? [];
    return { mappings, isCertain: first?.certain ?? false, topic: first?.message?.topic ?? mappings[0]?.topic };
  });
}

export function Mapping({ why }: { why: Loaded<Why> }) {
  if (why.problem || (why.value && why.value.mappings.length === 0 && !may("mappings"))) return null;
  return (
    <section>
      <h3>{texts.now.mapping}</h3>
      {!why.value && <Skeleton lines={1} />}
      {why.value?.mappings.length === 0 && <p class="quiet">{texts.now.noMapping}</p>}
      <ul class="facts">
        {why.value?.mappings.map(({ id, topic, selector }) => (
          <li key={id}>
            <span>
              <code>
                <Told>{topic}</Told>
              </code>{" "}
              {selector && (
                <code>
                  <Told>{selector}</Told>
                </code>
              )}
            </span>
            {may("mappings") && <a href={href("devices", ["edit", id])}>{texts.now.edit}</a>}
          </li>
        ))}
      </ul>
    </section>
  );
}

interface Question {
  name: string;
  label?: string;
  sparql: string;
}

/** Saved queries and those of the profiles, by name; what is not allowed is not there. */
async function loadQuestions(signal: AbortSignal): Promise<Question[]> {
  const [saved, given] = await Promise.all([
    api.get<{ saved: Question[] }>("/saved", {}, signal),
    api.get<{ queries: Question[] }>("/profiles/queries", {}, signal),
  ]);
  return [...saved.saved, ...given.queries];
}

export function Questions({ property }: { property: string }) {
  const { value, problem } = useLoad("questions", loadQuestions);
  if (problem) return null;
  const found = value?.filter(({ sparql }) => isAbout(sparql, property));
  return (
    <section>
      <h3>{texts.now.questions}</h3>
      {found?.length === 0 && <p class="quiet">{texts.now.noQuestions}</p>}
      <ul class="facts">
        {found?.map(({ name, label }) => (
          <li key={name}>
            <a href={href("ask", [name])}>
              <Told>{label || name}</Told>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface Message {
  number: number;
  received_at: string;
  topic: string;
  retained: boolean;
  observations: number;
  payload: string;
  payload_base64: string;
}

const LAST = 20;
const EVERY_MS = 5_000;
/** Of a payload, how much is shown; the rest is in the ring of messages. */
const LONGEST = 600;

/** The last raw messages of its topic, newest first, asked again every few seconds. */
export function Messages({ topic }: { topic: string | undefined }) {
  const isAllowed = may("operations");
  const { value, problem } = useLoad(
    isAllowed && topic !== undefined ? topic : null,
    (signal) => api.get<{ messages: Message[] }>("/messages", { topic, limit: LAST }, signal),
    EVERY_MS,
  );
  if (!isAllowed || topic === undefined || problem) return null;
  return (
    <section>
      <h3>{texts.now.messages}</h3>
      {value?.messages.length === 0 && <Empty>{texts.now.noMessages}</Empty>}
      <ol class="messages">
        {value?.messages.map((each) => (
          <MessageLine key={each.number} message={each} />
        ))}
      </ol>
    </section>
  );
}

function MessageLine({ message }: { message: Message }) {
  const at = Date.parse(message.received_at);
  const text = message.payload || message.payload_base64;
  return (
    <li>
      <p class="small quiet">
        <time dateTime={message.received_at} title={whole(at)}>
          {timeOfDay(at)}
        </time>
        <Told>{message.topic}</Told>
        <span>{texts.now.observationsOf(message.observations)}</span>
        {message.retained && <Badge tone="doubt">{texts.now.retainedMessage}</Badge>}
      </p>
      <pre>
        <Told>{text.slice(0, LONGEST)}</Told>
        {text.length > LONGEST && <span class="quiet"> {texts.now.clipped(bytes(text.length))}</span>}
      </pre>
    </li>
  );
}
