/** One line: is everything all right, and what there is. */

import { short } from "../state/format";
import { href } from "../state/address";
import { isThere, streams, structure } from "../state/streams";
import { connection } from "../protocol/subscription";
import { texts } from "../texts";
import { alarms, isKnown, newDevices, rate, silent } from "./news";
import { isOffered } from "./pages";

export function Truth() {
  structure.value;
  const faults = alarms.value.length;
  // Who has not heard from the gateway, or may not ask, claims nothing.
  const isSure = isKnown.value && isThere.value && connection.value.state !== "lost";
  return (
    <div class="truth" role="status">
      {faults > 0 ? (
        <a class="person" href={href("health")}>
          {texts.frame.look(faults)}
        </a>
      ) : (
        isSure && silent.value === 0 && <strong>{texts.frame.allIsWell}</strong>
      )}
      {silent.value > 0 && (
        <a class="doubt" href={href("now", [], { find: "silent" })}>
          {texts.frame.silent(silent.value)}
        </a>
      )}
      {isThere.value && (
        <>
          <span class="quiet">{texts.frame.streams(short(streams.size))}</span>
          <span class="quiet">{texts.frame.rate(short(rate.value))}</span>
        </>
      )}
      {newDevices.value > 0 && isOffered("devices") && (
        <a href={href("devices")}>{texts.frame.newDevices(newDevices.value)}</a>
      )}
    </div>
  );
}
