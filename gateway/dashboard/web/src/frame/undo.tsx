/** What was just done, and the way back, for ten seconds. */

import { signal } from "@preact/signals";
import { texts } from "../texts";

interface Done {
  text: string;
  undo: (() => Promise<unknown>) | null;
}

const SHOWN_MS = 10_000;

const done = signal<Done | null>(null);
let timer: ReturnType<typeof setTimeout> | undefined;

/** Say what was done; `undo` takes it back. */
export function tellDone(text: string, undo: Done["undo"] = null): void {
  clearTimeout(timer);
  done.value = { text, undo };
  timer = setTimeout(() => {
    done.value = null;
  }, SHOWN_MS);
}

export function UndoLine() {
  const one = done.value;
  const back = async (): Promise<void> => {
    done.value = null;
    try {
      await one?.undo?.();
    } catch (error) {
      tellDone((error as Error).message);
    }
  };
  return (
    <div role="status" aria-live="polite">
      {one && (
        <div class="undo">
          <bdi class="told">{one.text}</bdi>
          {one.undo && (
            <button type="button" onClick={() => void back()}>
              {texts.frame.undo}
            </button>
          )}
          <button type="button" aria-label={texts.frame.close} onClick={() => { done.value = null; }}>
            ×
          </button>
        </div>
      )}
    </div>
  );
}
