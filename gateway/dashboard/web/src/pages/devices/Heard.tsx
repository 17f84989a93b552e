/** Topics that no mapping reads, those that look alike together. */

import { Age, Told } from "../../parts";
import { href } from "../../state/address";
import { propertyName, short } from "../../state/format";
import { texts } from "../../texts";
import { Column } from "./Column";
import type { Alike } from "./things";
import type { Guess, UnknownTopic } from "./told";

const MOST_TOPICS = 50;
const MOST_GUESSES = 6;
const PAYLOAD = 160;

export function Heard({ groups, forgotten, find }: { groups: Alike[]; forgotten: number; find: string }) {
  return (
    <Column
      name="heard"
      all={groups}
      keyOf={({ key }) => key}
      empty={texts.devices.emptyHeard}
      find={find}
      foot={forgotten > 0 && <p class="quiet small">{texts.devices.forgotten(forgotten)}</p>}
    >
      {(group) => <Group group={group} />}
    </Column>
  );
}

function Group({ group }: { group: Alike }) {
  const [first] = group.topics;
  if (!first) return null;
  const isMany = group.topics.length > 1;
  return (
    <article class="thing">
      <div class="row">
        <h3>
          <Told title={group.filter}>{group.filter}</Told>
        </h3>
        <a class="button" href={editing(group, first, first.guesses[0])}>
          {isMany ? texts.devices.readAll : texts.devices.readIt}
        </a>
      </div>
      <p class="quiet small">
        {isMany && `${texts.devices.topics(group.topics.length)} · `}
        {texts.devices.messages(short(group.count), group.count === 1)} · {texts.devices.last}{" "}
        <Age at={Date.parse(group.last)} />
      </p>
      <Last topic={first} />
      <p class="guesses">
        {first.guesses.slice(0, MOST_GUESSES).map((guess) => (
          <a key={guess.id} class="chip" href={editing(group, first, guess)}>
            {propertyName(guess.mapping.property ?? "")}
          </a>
        ))}
      </p>
      {isMany && (
        <details>
          <summary class="small">{texts.devices.topicsOf}</summary>
          <ul class="small topics">
            {group.topics.slice(0, MOST_TOPICS).map((each) => (
              <li key={each.topic}>
                <a href={href("devices", ["edit"], { topic: each.topic, guess: each.guesses[0]?.id })}>
                  <Told>{each.topic}</Told>
                </a>
              </li>
            ))}
          </ul>
        </details>
      )}
    </article>
  );
}

function editing(group: Alike, topic: UnknownTopic, guess: Guess | undefined): string {
  const filter = group.filter === topic.topic ? undefined : group.filter;
  return href("devices", ["edit"], { topic: topic.topic, filter, guess: guess?.id });
}

function Last({ topic }: { topic: UnknownTopic }) {
  const sample = topic.payloads?.[0];
  if (!sample) return null;
  const text = sample.payload ?? sample.payloadBase64 ?? "";
  return (
    <pre class="payload small">
      <Told>{text.length > PAYLOAD ? `${text.slice(0, PAYLOAD)} …` : text}</Told>
    </pre>
  );
}
