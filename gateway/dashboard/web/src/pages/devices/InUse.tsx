/** Devices in use: their rooms, what they said last, how they are read. */

import { useState } from "preact/hooks";
import { tellDone } from "../../frame/undo";
import { Age, Badge, Problem, Told } from "../../parts";
import { href } from "../../state/address";
import { unit, value } from "../../state/format";
import { called, calledProperty } from "../../state/streams";
import { texts } from "../../texts";
import { type Into, move } from "./accept";
import { Column } from "./Column";
import { lastHeard, type Part, type Used } from "./inuse";
import { baseOf, isOwn, type Room } from "./rooms";
import { RoomForm } from "./RoomForm";

interface Props {
  devices: Used[];
  rooms: Room[];
  find: string;
  again(): void;
}

export function InUse({ devices, rooms, find, again }: Props) {
  return (
    <Column name="used" all={devices} keyOf={({ key }) => key} empty={texts.devices.emptyUsed} find={find}>
      {(device) => <Device device={device} rooms={rooms} again={again} />}
    </Column>
  );
}

/** Rooms of a device by name; what the device is to itself is none. */
function roomsOf({ parts }: Used): string[] {
  const own = parts.flatMap(({ proposal }) => (proposal ? [proposal] : []));
  return [...new Set(parts.map(({ place }) => place))].filter((place) => !isOwn(place, own)).map(called);
}

function Device({ device, rooms, again }: { device: Used; rooms: Room[]; again(): void }) {
  const [isOpen, setOpen] = useState(false);
  const own = roomsOf(device);
  const at = lastHeard(device.parts);
  return (
    <details class="thing used" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span class="name">
          <Told>{device.name}</Told>
        </span>
        <span class="place quiet">
          {own.length > 0 ? <Told>{own.join(", ")}</Told> : <Badge tone="doubt">{texts.devices.noRoom}</Badge>}
        </span>
        <span class="age quiet small">
          {Number.isFinite(at) ? <Age at={at} /> : <span title={texts.devices.notHeard}>–</span>}
        </span>
      </summary>
      {isOpen && <Inside device={device} rooms={rooms} again={again} />}
    </details>
  );
}

function Inside({ device, rooms, again }: { device: Used; rooms: Room[]; again(): void }) {
  const [isMoving, setMoving] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const proposed = device.parts.flatMap(({ proposal, mapping }) => (proposal ? [{ proposal, mapping }] : []));
  const put = async (into: Into | null): Promise<void> => {
    if (!into) return;
    setBusy(true);
    setProblem("");
    try {
      const done = await move(proposed, into);
      tellDone(texts.devices.doneMoved(device.name, into.name), () => done.undo().finally(again));
      setMoving(false);
    } catch (error) {
      setProblem((error as Error).message);
    }
    setBusy(false);
    again();
  };
  return (
    <>
      <ul class="parts">
        {device.parts.map((part) => (
          <Line key={part.key} part={part} />
        ))}
      </ul>
      <Problem text={problem} />
      {proposed.length > 0 && (
        <div class="decide">
          {isMoving ? (
            <RoomForm
              rooms={rooms}
              base={baseOf(proposed[0]?.mapping ?? {})}
              isBusy={isBusy}
              onDone={(into) => void put(into)}
            />
          ) : (
            <button type="button" class="plain" onClick={() => setMoving(true)}>
              {texts.devices.move}
            </button>
          )}
        </div>
      )}
    </>
  );
}

function Line({ part }: { part: Part }) {
  const last = part.stream?.latest.value;
  return (
    <li class="part">
      <a href={href("devices", ["edit"], { mapping: part.mapping.id })} title={texts.devices.edit}>
        <Told title={part.mapping.topic ?? ""}>{calledProperty(part.mapping.property ?? "")}</Told>
      </a>
      <span class="now">
        {last ? (
          <a href={href("why", ["trail"], { iri: last.observation })} title={texts.devices.why}>
            <Told>{value(last.value, part.mapping.property)}</Told> {unit(last.unit)}
          </a>
        ) : (
          <span class="quiet">{texts.devices.notHeard}</span>
        )}
      </span>
      {last && (
        <span class="age quiet small">
          <Age at={last.ingested} />
        </span>
      )}
      {part.mapping.error && (
        <span class="marks">
          <Badge tone="person">{part.mapping.error}</Badge>
        </span>
      )}
    </li>
  );
}
