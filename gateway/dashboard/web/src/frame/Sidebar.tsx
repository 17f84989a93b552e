/** The five words, what calls for attention, and whether the page is live. */

import { age } from "../state/format";
import { address, href } from "../state/address";
import { now } from "../state/clock";
import { me, signOut } from "../protocol/session";
import { connection } from "../protocol/subscription";
import { texts } from "../texts";
import { showKeys } from "./keys";
import { alarms, newDevices } from "./news";
import { isOffered } from "./pages";

const WORDS = ["now", "devices", "ask", "control", "health"] as const;

export function Sidebar() {
  const marks: Record<string, number> = { devices: newDevices.value, health: alarms.value.length };
  return (
    <header class="sidebar">
      <div class="name" title={me.value?.version}>
        <span class="mark" aria-hidden="true">
          ◈
        </span>
        <span>{me.value?.name}</span>
      </div>
      <nav aria-label={texts.frame.pages}>
        <ul>
          {WORDS.filter(isOffered).map((word) => (
            <li key={word}>
              <a href={href(word)} aria-current={address.value.page === word ? "page" : undefined}>
                {texts.pages[word]}
                {(marks[word] ?? 0) > 0 && (
                  <span class={`mark-count ${word === "health" ? "person" : ""}`}>{marks[word]}</span>
                )}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <Foot />
    </header>
  );
}

/** Whether the page is live, and who is signed in; on a phone it stands below the page. */
export function Foot() {
  return (
    <div class="foot">
      <Connected />
      {me.value?.identity && (
        <>
          <bdi class="told">{me.value.identity}</bdi>
          <button type="button" class="plain" onClick={() => void signOut()}>
            {texts.frame.signOut}
          </button>
        </>
      )}
      <button type="button" class="plain" onClick={showKeys} aria-label={texts.frame.keys}>
        <kbd>?</kbd>
      </button>
    </div>
  );
}

function Connected() {
  const { state, since } = connection.value;
  const words = {
    live: texts.frame.live,
    starting: texts.frame.starting,
    "catching up": texts.frame.catchingUp,
    lost: state === "lost" ? texts.frame.lost(age(now.value - since)) : "",
  };
  return (
    <span class={`connection ${state}`} data-connection={state}>
      {words[state]}
    </span>
  );
}
