/**
 * SUBSCRIBE over one WebSocket (SPARQL 1.1 Secure Event protocol), with resume after a loss.
 *
 * A socket that is cut may take minutes to say so: one that has said nothing for two seconds is
 * doubted, and the gateway asked whether it is there; so it is when the page is seen again.
 */

import { signal } from "@preact/signals";
import { send } from "./http";
import type { Results } from "./terms";

/** Declarations of windows by the IRIs that a text names, as the gateway takes them (docs/windows.md). */
export type Windows = Record<string, Record<string, unknown>>;

/** What the first answer says of a window; times as xsd:dateTime. */
export interface WindowNow {
  from: string | null;
  to: string | null;
  complete: boolean;
  elements: number;
}

/** Which gateways a question is asked of, and how they answer together (docs/federation.md). */
export interface Scope {
  gateways: "all" | readonly string[];
  mode: "union" | "each" | "event";
}

/** Where gateways stood, by their ids: who has told nothing yet, and who is away since then (µs). */
export interface Federated {
  positions: Record<string, string>;
  missing?: string[];
  stale?: Record<string, number>;
  merged?: boolean;
}

/** An event that answered with so many of the added rows, which stand in the order of the events. */
export interface EventRows {
  gateway: string;
  time: number;
  rows: number;
}

export interface Change {
  /** Whether this is the whole answer: forget what was told before. */
  first: boolean;
  sequence: number;
  added: Results;
  removed: Results;
  /** Engine's clock, ms since the Unix epoch. */
  time: number;
  /** What each window has; with the whole answer alone. */
  windows?: Record<string, WindowNow>;
  /** Of what was asked of several gateways. */
  federation?: Federated;
  /** Of what was asked of each event. */
  events?: EventRows[];
}

export interface Listener {
  onChange(change: Change): void;
  /** Ended for good, or not taken: the error object's text. */
  onError?(message: string): void;
}

export interface Subscription {
  end(): void;
}

/** `starting` before the first answer; `catching up` on a new socket; `lost` since then. */
export interface Connection {
  state: "starting" | "live" | "catching up" | "lost";
  since: number;
}

interface Message {
  notification?: {
    spuid: string;
    alias?: string;
    sequence: number;
    time?: number;
    windows?: Record<string, WindowNow>;
    federation?: Federated;
    events?: EventRows[];
    addedResults: Results;
    removedResults: Results;
  };
  resumed?: { spuid: string; alias?: string };
  unsubscribed?: { spuid: string };
  error?: string;
  error_description?: string;
  status_code?: number;
  alias?: string;
  spuid?: string;
}

const HEARTBEAT_MS = 2_000;
/** Changes of so long come together: nobody sees more than five of them a second. */
const PAUSE_MS = 200;
const PATIENCE_MS = 2_500;
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 3_000;

export const connection = signal<Connection>({ state: "starting", since: Date.now() });

class Held implements Subscription {
  spuid: string | null = null;
  sequence = -1;
  /** Whether this socket has answered it. */
  answered = false;

  constructor(
    readonly alias: string,
    readonly sparql: string,
    readonly listener: Listener,
    readonly windows: Windows,
    readonly scope: Scope | null,
    private readonly owner: Subscriptions,
  ) {}

  end(): void {
    this.owner.forget(this);
  }
}

export class Subscriptions {
  private held = new Map<string, Held>();
  private socket: WebSocket | null = null;
  private count = 0;
  private delay = FIRST_DELAY_MS;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private beating: ReturnType<typeof setTimeout> | undefined;
  /** When the gateway last said anything; ms of the window's clock. */
  private heard = 0;

  constructor(
    private readonly token: (fresh: boolean) => Promise<string | null>,
    private readonly url: () => string = ownUrl,
  ) {}

  /** Be told of an answer and of every change of it, until `end`. */
  subscribe(sparql: string, listener: Listener, windows: Windows = {}, scope: Scope | null = null): Subscription {
    const one = new Held(`p${++this.count}`, sparql, listener, windows, scope, this);
    this.held.set(one.alias, one);
    if (this.socket?.readyState === WebSocket.OPEN) void this.ask(one);
    else this.open();
    return one;
  }

  /** Begin anew with another identity: nothing is resumed. */
  restart(): void {
    for (const one of this.held.values()) one.spuid = null;
    this.socket?.close();
    if (!this.socket) this.open();
  }

  /** Nothing is subscribed any more, and no socket is open. */
  close(): void {
    this.held.clear();
    this.settle();
  }

  /** Whether this page asks it. */
  asks(sparql: string): boolean {
    return [...this.held.values()].some((each) => each.sparql === sparql);
  }

  forget(one: Held): void {
    if (this.held.get(one.alias) !== one) return;
    this.held.delete(one.alias);
    if (one.spuid !== null) this.write({ unsubscribe: { spuid: one.spuid } });
    if (this.held.size === 0) this.settle();
  }

  /** What is known to be lost is tried again now: the page is seen again, or the network is back. */
  wake(): void {
    if (this.socket) void this.beat();
    else if (this.held.size > 0) this.open();
  }

  private settle(): void {
    clearTimeout(this.timer);
    clearTimeout(this.beating);
    const socket = this.socket;
    this.socket = null;
    socket?.close();
    tell("starting");
  }

  private open(): void {
    clearTimeout(this.timer);
    if (this.socket || this.held.size === 0) return;
    const socket = new WebSocket(this.url());
    this.socket = socket;
    socket.onopen = () => {
      this.delay = FIRST_DELAY_MS;
      if (connection.value.state === "lost") tell("catching up");
      for (const one of this.held.values()) {
        one.answered = false;
        void this.ask(one);
      }
      this.heard = performance.now();
      this.beatIn(HEARTBEAT_MS);
    };
    socket.onmessage = (event) => {
      this.heard = performance.now();
      this.hear(JSON.parse(String(event.data)) as Message);
    };
    socket.onclose = () => {
      if (this.socket === socket) this.lose();
    };
  }

  private lose(): void {
    clearTimeout(this.beating);
    this.socket = null;
    if (this.held.size === 0) return;
    tell("lost");
    this.timer = setTimeout(() => this.open(), this.delay * (0.75 + Math.random() / 2));
    this.delay = Math.min(this.delay * 2, LONGEST_DELAY_MS);
  }

  private beatIn(ms: number): void {
    clearTimeout(this.beating);
    this.beating = setTimeout(() => {
      const rest = this.heard + HEARTBEAT_MS - performance.now();
      if (rest > 0) this.beatIn(rest);
      else void this.beat();
    }, ms);
  }

  /** Ask whether the gateway is there, now; and again when nothing has been heard for a while. */
  private async beat(): Promise<void> {
    const socket = this.socket;
    if (!socket) return;
    this.beatIn(HEARTBEAT_MS + PATIENCE_MS);
    if (document.hidden) return;
    try {
      await send("/ready", { patienceMs: PATIENCE_MS });
    } catch (error) {
      if (this.socket !== socket) return;
      // A gateway that is too busy, 503, is there.
      if ((error as { status?: number }).status === undefined) {
        this.lose();
        socket.close();
        return;
      }
    }
    if (this.socket !== socket) return;
    this.heard = performance.now();
    this.beatIn(HEARTBEAT_MS);
  }

  private async ask(one: Held, fresh = false): Promise<void> {
    const socket = this.socket;
    let bearer: string | null;
    try {
      bearer = await this.token(fresh);
    } catch (error) {
      if ((error as { status?: number }).status === undefined) socket?.close();
      else this.giveUp(one, (error as Error).message);
      return;
    }
    if (this.held.get(one.alias) !== one) return;
    const authorization = bearer === null ? {} : { authorization: `Bearer ${bearer}` };
    const resume = one.spuid === null ? {} : { spuid: one.spuid, sequence: one.sequence };
    const over = Object.keys(one.windows).length > 0 ? { windows: one.windows } : {};
    const text = one.spuid === null ? { sparql: one.sparql, ...over, ...one.scope } : {};
    this.write({ subscribe: { alias: one.alias, ...text, ...resume, ...authorization } });
  }

  private write(message: unknown): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  private hear(message: Message): void {
    const { notification, resumed } = message;
    if (notification) {
      const one = this.held.get(notification.alias ?? "");
      if (one) this.change(one, notification);
      // Ended by us before its first answer came.
      else this.write({ unsubscribe: { spuid: notification.spuid } });
    } else if (resumed) {
      const one = this.held.get(resumed.alias ?? "");
      if (one) this.answered(one);
    } else if (message.error !== undefined) this.fail(message);
  }

  private change(one: Held, told: NonNullable<Message["notification"]>): void {
    const first = told.sequence === 0;
    if (!first && (told.spuid !== one.spuid || told.sequence !== one.sequence + 1)) {
      // A gap cannot be on a socket; were there one, the whole answer is asked for again.
      one.spuid = null;
      void this.ask(one);
      return;
    }
    one.spuid = told.spuid;
    one.sequence = told.sequence;
    this.answered(one);
    one.listener.onChange({
      first,
      sequence: told.sequence,
      added: told.addedResults,
      removed: told.removedResults,
      time: (told.time ?? Date.now() * 1000) / 1000,
      ...(told.windows ? { windows: told.windows } : {}),
      ...(told.federation ? { federation: told.federation } : {}),
      ...(told.events ? { events: told.events } : {}),
    });
  }

  private answered(one: Held): void {
    if (one.answered) return;
    one.answered = true;
    if ([...this.held.values()].every((each) => each.answered)) tell("live");
  }

  private fail(message: Message): void {
    const one = this.held.get(message.alias ?? "");
    if (!one) return;
    if (one.spuid !== null && message.status_code === 410) {
      one.spuid = null;
      void this.ask(one);
      return;
    }
    if (message.status_code === 401 && one.spuid !== null) {
      // The token ended, not the session.
      one.spuid = null;
      void this.ask(one, true);
      return;
    }
    this.giveUp(one, message.error_description ?? message.error ?? "");
  }

  private giveUp(one: Held, why: string): void {
    if (this.held.get(one.alias) !== one) return;
    this.held.delete(one.alias);
    this.answered(one);
    one.listener.onError?.(why);
  }
}

function tell(state: Connection["state"]): void {
  if (connection.value.state !== state) connection.value = { state, since: Date.now() };
}

function ownUrl(): string {
  const { protocol, host } = window.location;
  return `${protocol === "https:" ? "wss" : "ws"}://${host}/subscribe?pause=${PAUSE_MS}`;
}
