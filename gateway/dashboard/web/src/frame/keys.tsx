/** `/` searches, `g n` goes to Now, `?` lists the keys. */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { go } from "../state/address";
import { texts } from "../texts";

const PAGES: Record<string, string> = { n: "now", d: "devices", a: "ask", c: "control", h: "health" };
const WITHIN_MS = 1500;

const isShown = signal(false);
let prefixed = 0;

function isTyping(target: EventTarget | null): boolean {
  const element = target as HTMLElement | null;
  return !!element?.closest?.("input, textarea, select, [contenteditable]");
}

function press(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") isShown.value = false;
  if (isTyping(event.target)) return;
  const page = PAGES[event.key];
  if (page && event.timeStamp - prefixed < WITHIN_MS) go(page);
  else if (event.key === "/") {
    const field = document.querySelector<HTMLInputElement>("main input[type=search]");
    if (!field) return;
    field.focus();
    event.preventDefault();
  } else if (event.key === "?") isShown.value = !isShown.value;
  prefixed = event.key === "g" ? event.timeStamp : 0;
}

export function showKeys(): void {
  isShown.value = true;
}

export function Keys() {
  useEffect(() => {
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, []);
  if (!isShown.value) return null;
  return (
    <section class="keys" aria-label={texts.frame.keys}>
      <h2>{texts.frame.keys}</h2>
      <dl>
        {texts.frame.keyList.map(([key, what]) => [
          <dt key={key}>
            <kbd>{key}</kbd>
          </dt>,
          <dd key={what}>{what}</dd>,
        ])}
      </dl>
      <button type="button" onClick={() => { isShown.value = false; }}>
        {texts.frame.close}
      </button>
    </section>
  );
}
