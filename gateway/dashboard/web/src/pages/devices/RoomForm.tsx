/** The one thing that is asked: which room. */

import { useId, useState } from "preact/hooks";
import { texts } from "../../texts";
import type { Into } from "./accept";
import { mint, type Room } from "./rooms";

const NEW = "new";
const NONE = "none";

interface Props {
  rooms: Room[];
  suggested?: Room | undefined;
  base: string;
  /** Whether a device may stay in no room. */
  hasNone?: boolean;
  isBusy: boolean;
  onDone(into: Into | null): void;
}

export function RoomForm({ rooms, suggested, base, hasNone = false, isBusy, onDone }: Props) {
  const first = suggested?.iri ?? (rooms.length > 0 ? "" : NEW);
  const [touched, setTouched] = useState<string | null>(null);
  const chosen = touched ?? first;
  const [name, setName] = useState("");
  const id = useId();
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (chosen === NONE) return onDone(null);
    const wanted = name.trim();
    const there = rooms.find((room) =>
      chosen === NEW ? room.name.toLowerCase() === wanted.toLowerCase() : room.iri === chosen,
    );
    if (there) onDone({ ...there, isNew: false });
    else if (chosen === NEW && wanted) onDone({ iri: mint(base, wanted), name: wanted, isNew: true });
  };
  const isReady = chosen !== "" && (chosen !== NEW || name.trim() !== "");
  return (
    <form class="room" onSubmit={submit}>
      <label class="hidden" for={id}>
        {texts.devices.room}
      </label>
      <select id={id} value={chosen} onChange={(event) => setTouched(event.currentTarget.value)}>
        <option value="" disabled>
          {texts.devices.chooseRoom}
        </option>
        {rooms.map((room) => (
          <option key={room.iri} value={room.iri}>
            {room.name}
          </option>
        ))}
        <option value={NEW}>{texts.devices.newRoom}</option>
        {hasNone && <option value={NONE}>{texts.devices.noRoom}</option>}
      </select>
      {chosen === NEW && (
        <input
          aria-label={texts.devices.newRoomName}
          placeholder={texts.devices.newRoomName}
          value={name}
          maxLength={200}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      )}
      <button class="main" disabled={isBusy || !isReady}>
        {chosen === NONE ? texts.devices.take : texts.devices.putIntoRoom}
      </button>
    </form>
  );
}
