/** Devices that say what they are: put into a room with one step. */

import { useEffect, useState } from "preact/hooks";
import { tellDone } from "../../frame/undo";
import { Badge, Problem, Told } from "../../parts";
import { may } from "../../protocol/session";
import { href } from "../../state/address";
import { useAction } from "../../state/load";
import { propertyName, unit } from "../../state/format";
import { called } from "../../state/streams";
import { texts } from "../../texts";
import { accept, type Answers, type Into } from "./accept";
import { Ask, membersOf } from "./Ask";
import { Column } from "./Column";
import { inWords, lastSeen, seenKey } from "./last";
import { baseOf, type Room, suggested } from "./rooms";
import { RoomForm } from "./RoomForm";
import { type Device, partName, questionOf } from "./things";
import { type Proposal, reject, reopen, type Seen } from "./told";

interface Props {
  devices: Device[];
  rejected: Device[];
  rooms: Room[];
  find: string;
  again(): void;
}

export function Proposed({ devices, rejected, rooms, find, again }: Props) {
  return (
    <Column
      name="proposed"
      all={devices}
      keyOf={({ key }) => key}
      empty={texts.devices.emptyProposed}
      find={find}
      foot={rejected.length > 0 && <Rejected devices={rejected} again={again} />}
    >
      {(device) => <Card device={device} rooms={rooms} again={again} />}
    </Column>
  );
}

function Card({ device, rooms, again }: { device: Device; rooms: Room[]; again(): void }) {
  const [answers, setAnswers] = useState<Record<string, string | null>>({});
  const { isBusy, problem, once: act } = useAction();
  const seen = useLast(device.parts);
  const once = (action: () => Promise<void>): Promise<void> => act(action).then(again);
  const put = (into: Into | null): Promise<void> =>
    once(async () => {
      const given = membersFor(device.parts, answers);
      const done = await accept(device.parts, into, given);
      const left = done.left + Object.values(given).filter((each) => each === null).length;
      tellDone(
        [
          texts.devices.doneAccepted(device.name, into?.name ?? ""),
          left > 0 ? texts.devices.doneLeft(left) : "",
          done.isUnnamed ? texts.devices.roomUnnamed : "",
        ].join(" "),
        () => done.undo().finally(again),
      );
    });
  const refuse = (): Promise<void> =>
    once(async () => {
      const ids = device.parts.map(({ id }) => id);
      await reject(ids);
      tellDone(texts.devices.doneRejected(device.name), () => reopen(ids).finally(again));
    });
  const isAccepted = device.parts.some((part) => !questionOf(part) || typeof answers[part.id] === "string");
  return (
    <article class="thing" aria-label={device.name}>
      <h3>
        <Told>{device.name}</Told> <Badge>{device.family}</Badge>
      </h3>
      <ul class="parts">
        {device.parts.map((part) => (
          <Part
            key={part.id}
            name={partName(device.name, part)}
            part={part}
            seen={seen.get(seenKey(part.mapping))}
            answer={answers[part.id]}
            onAnswer={(answer) => setAnswers({ ...answers, [part.id]: answer })}
          />
        ))}
      </ul>
      <Problem text={problem} />
      <div class="decide">
        {isAccepted && (
          <RoomForm
            rooms={rooms}
            suggested={suggested(rooms, device.name)}
            base={baseOf(device.parts[0]?.mapping ?? {})}
            hasNone
            isBusy={isBusy}
            onDone={(into) => void put(into)}
          />
        )}
        <button type="button" class="plain" disabled={isBusy} onClick={() => void refuse()}>
          {texts.devices.reject}
        </button>
      </div>
    </article>
  );
}

/** What is asked has to be answered; what is not asked is taken as it is proposed. */
function membersFor(parts: Proposal[], answers: Record<string, string | null>): Answers {
  const given: Answers = {};
  for (const part of parts) {
    const question = questionOf(part);
    if (question) given[part.id] = membersOf(part, question, answers[part.id]);
  }
  return given;
}

interface PartProps {
  name: string;
  part: Proposal;
  seen: Seen | undefined;
  answer: string | null | undefined;
  onAnswer(answer: string | null): void;
}

function Part({ name, part, seen, answer, onAnswer }: PartProps) {
  const question = questionOf(part);
  const { property = "", feature = "" } = part.mapping;
  const symbol = unit(part.mapping.unit);
  return (
    <li class={part.known ? "part" : "part unknown"}>
      <a href={href("devices", ["edit"], { proposal: part.id })} title={texts.devices.edit}>
        <Told title={`${name} ${called(feature)}`}>{part.known ? propertyName(property) : name}</Told>
      </a>
      <span class={seen ? "now" : "now quiet"}>{seen ? inWords(seen) : symbol}</span>
      <span class="marks">
        {!part.known && <Badge title={texts.devices.ownWordMeans}>{texts.devices.ownWord}</Badge>}
        {part.command && <Badge>{texts.devices.canBeSet}</Badge>}
        {part.status === "changed" && <Badge tone="doubt">{texts.devices.changedMeans}</Badge>}
        {part.status === "moved" && <Badge tone="doubt">{texts.devices.movedMeans}</Badge>}
      </span>
      {question && (
        <Ask part={part} question={question} last={seen ? inWords(seen) : ""} answer={answer} onAnswer={onAnswer} />
      )}
    </li>
  );
}

/** What the parts would give of the last message, asked once when a device is shown. */
function useLast(parts: Proposal[]): Map<string, Seen> {
  const [seen, setSeen] = useState(new Map<string, Seen>());
  const ids = parts.map(({ id }) => id).join();
  useEffect(() => {
    if (!may("operations")) return undefined;
    const ends = new AbortController();
    // A value is an addition to the words: a device without a message yet has none.
    const sound = parts.filter(({ error }) => !error).map(({ mapping }) => mapping);
    void lastSeen(sound, ends.signal).then(setSeen, () => undefined);
    return () => ends.abort();
  }, [ids]);
  return seen;
}

function Rejected({ devices, again }: { devices: Device[]; again(): void }) {
  const back = async (device: Device): Promise<void> => {
    const ids = device.parts.map(({ id }) => id);
    await reopen(ids);
    tellDone(texts.devices.doneReopened(device.name), () => reject(ids).finally(again));
    again();
  };
  return (
    <details class="rejected">
      <summary>{texts.devices.rejected(devices.length)}</summary>
      <ul class="things">
        {devices.map((device) => (
          <li key={device.key} class="row">
            <Told>{device.name}</Told>
            <button type="button" class="plain" onClick={() => void back(device)}>
              {texts.devices.reopen}
            </button>
          </li>
        ))}
      </ul>
    </details>
  );
}
