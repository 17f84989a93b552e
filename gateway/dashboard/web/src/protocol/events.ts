/**
 * Server-sent events, read by `fetch`: an EventSource cannot say who asks.
 *
 * A stream that is silent for longer than it promises is given up and opened again.
 */

import { ApiError, type Parameters, send } from "./http";

export interface EventListener<T> {
  onEvent(event: T): void;
  /** Why nothing comes at the moment; "" when it comes again. */
  onProblem?(text: string): void;
}

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 5_000;
const LONGEST_MS = 24 * 60 * 60 * 1000;
const LONGEST_EVENT = 1_000_000;

/** Cuts a text/event-stream into the data of its events, however it is torn. */
export class EventParser {
  private rest = "";
  private data: string[] = [];

  /** The data of the events that are whole now. */
  push(text: string): string[] {
    this.rest += text;
    const found: string[] = [];
    // A \r at the end may be half of a \r\n.
    const lines = this.rest.split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? "";
    if (this.rest.length > LONGEST_EVENT) this.rest = "";
    for (const line of lines) {
      if (line === "") {
        if (this.data.length > 0) found.push(this.data.join("\n"));
        this.data = [];
      } else if (line.startsWith("data:")) this.data.push(line.slice(5).replace(/^ /, ""));
    }
    return found;
  }
}

/** Be told of every event, whose data is JSON, until what this returns is called. */
export function listen<T>(path: string, listener: EventListener<T>, silenceMs: number, parameters?: Parameters): () => void {
  const ends = new AbortController();
  void (async () => {
    let delay = FIRST_DELAY_MS;
    while (!ends.signal.aborted) {
      try {
        await read<T>(path, parameters, ends.signal, silenceMs, (event) => {
          delay = FIRST_DELAY_MS;
          listener.onProblem?.("");
          listener.onEvent(event);
        });
      } catch (error) {
        if (ends.signal.aborted) return;
        listener.onProblem?.((error as Error).message);
        // What is not there, or not allowed, will not be there in a second.
        if (error instanceof ApiError && [403, 404].includes(error.status)) return;
      }
      await pause(delay, ends.signal);
      delay = Math.min(delay * 2, LONGEST_DELAY_MS);
    }
  })();
  return () => ends.abort();
}

async function read<T>(
  path: string,
  parameters: Parameters | undefined,
  ended: AbortSignal,
  silenceMs: number,
  take: (event: T) => void,
): Promise<void> {
  const answer = await send(path, {
    parameters,
    headers: { Accept: "text/event-stream" },
    signal: ended,
    patienceMs: LONGEST_MS,
  });
  const reader = answer.body?.getReader();
  if (!reader) return;
  const parser = new EventParser();
  const decoder = new TextDecoder();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const alive = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => void reader.cancel().catch(() => undefined), silenceMs);
  };
  try {
    alive();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      alive();
      for (const data of parser.push(decoder.decode(value, { stream: true }))) take(JSON.parse(data) as T);
    }
  } finally {
    clearTimeout(timer);
    void reader.cancel().catch(() => undefined);
  }
}

function pause(ms: number, ended: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    ended.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    }, { once: true });
  });
}
