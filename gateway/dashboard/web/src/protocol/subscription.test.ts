import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Change } from "./subscription";

interface Sent {
  subscribe?: {
    alias: string;
    sparql?: string;
    windows?: unknown;
    spuid?: string;
    sequence?: number;
    authorization?: string;
  };
  unsubscribe?: { spuid: string };
}

/** A socket whose other end is the test. */
class Socket {
  static OPEN = 1;
  static all: Socket[] = [];
  readyState = 0;
  sent: Sent[] = [];
  onopen: () => void = () => undefined;
  onmessage: (event: { data: string }) => void = () => undefined;
  onclose: () => void = () => undefined;

  constructor() {
    Socket.all.push(this);
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text) as Sent);
  }

  close(): void {
    this.readyState = 3;
    this.onclose();
  }

  async accept(): Promise<void> {
    this.readyState = 1;
    this.onopen();
    await vi.advanceTimersByTimeAsync(0);
  }

  say(message: unknown): void {
    this.onmessage({ data: JSON.stringify(message) });
  }

  notify(alias: string, spuid: string, sequence: number, value: string): void {
    const rows = (bindings: unknown[]) => ({ head: { vars: ["v"] }, results: { bindings } });
    const addedResults = rows([{ v: { type: "literal", value } }]);
    this.say({ notification: { spuid, alias, sequence, addedResults, removedResults: rows([]) } });
  }
}

const last = (): Socket => Socket.all[Socket.all.length - 1] as Socket;

let bearer: string | null = null;

async function started() {
  const { Subscriptions, connection } = await import("./subscription");
  const changes: Change[] = [];
  const errors: string[] = [];
  const own = new Subscriptions(async (fresh) => (fresh ? "new" : bearer), () => "ws://gateway/subscribe");
  const held = own.subscribe("SELECT ?v {}", {
    onChange: (change) => changes.push(change),
    onError: (message) => errors.push(message),
  });
  await last().accept();
  return { own, held, changes, errors, connection };
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.resetModules();
  Socket.all = [];
  bearer = null;
  vi.stubGlobal("WebSocket", Socket);
  vi.stubGlobal("document", { hidden: true });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("a subscription", () => {
  it("is asked for, told, and ended by its name at the gateway", async () => {
    const { held, changes, connection } = await started();
    expect(last().sent).toEqual([{ subscribe: { alias: "p1", sparql: "SELECT ?v {}" } }]);
    last().notify("p1", "s:1", 0, "a");
    expect(changes.map(({ first, sequence }) => [first, sequence])).toEqual([[true, 0]]);
    expect(connection.value.state).toBe("live");
    held.end();
    expect(last().sent.at(-1)).toEqual({ unsubscribe: { spuid: "s:1" } });
  });

  it("goes on where it was when its socket was cut", async () => {
    const { changes, connection } = await started();
    last().notify("p1", "s:1", 0, "a");
    last().notify("p1", "s:1", 1, "b");
    last().close();
    expect(connection.value.state).toBe("lost");
    await vi.advanceTimersByTimeAsync(5_000);
    await last().accept();
    expect(Socket.all).toHaveLength(2);
    expect(last().sent[0]?.subscribe).toEqual({ alias: "p1", spuid: "s:1", sequence: 1 });
    expect(connection.value.state).toBe("catching up");
    last().say({ resumed: { spuid: "s:1", alias: "p1", sequence: 1 } });
    expect(connection.value.state).toBe("live");
    last().notify("p1", "s:1", 2, "c");
    expect(changes.map(({ first }) => first)).toEqual([true, false, false]);
  });

  it("asks for the whole answer where it cannot go on, or where something is missing", async () => {
    const { changes } = await started();
    last().notify("p1", "s:1", 0, "a");
    last().close();
    await vi.advanceTimersByTimeAsync(5_000);
    await last().accept();
    last().say({ error: "cannot_resume", status_code: 410, alias: "p1" });
    await vi.advanceTimersByTimeAsync(0);
    expect(last().sent[1]?.subscribe).toEqual({ alias: "p1", sparql: "SELECT ?v {}" });
    last().notify("p1", "s:2", 0, "b");
    last().notify("p1", "s:2", 2, "d");
    await vi.advanceTimersByTimeAsync(0);
    expect(last().sent.at(-1)?.subscribe).toEqual({ alias: "p1", sparql: "SELECT ?v {}" });
    expect(changes.map(({ first }) => first)).toEqual([true, true]);
  });

  it("is asked for once more with another token when its own has ended", async () => {
    bearer = "old";
    const { errors } = await started();
    last().notify("p1", "s:1", 0, "a");
    last().say({ error: "invalid_grant", status_code: 401, alias: "p1", spuid: "s:1" });
    await vi.advanceTimersByTimeAsync(0);
    expect(last().sent.at(-1)?.subscribe?.authorization).toBe("Bearer new");
    last().say({ error: "invalid_grant", error_description: "revoked", status_code: 401, alias: "p1" });
    expect(errors).toEqual(["revoked"]);
  });

  it("that is refused is told so, and no other is touched", async () => {
    const { own, errors, changes } = await started();
    own.subscribe("SELECT nonsense", { onChange: () => undefined, onError: (message) => errors.push(message) });
    await vi.advanceTimersByTimeAsync(0);
    last().say({ error: "sparql_syntax", error_description: "no", status_code: 400, alias: "p2" });
    last().notify("p1", "s:1", 0, "a");
    expect(errors).toEqual(["no"]);
    expect(changes).toHaveLength(1);
  });

  it("has its windows, told of with the whole answer, again where it cannot go on", async () => {
    const { own } = await started();
    const windows = { "urn:w": { stream: "urn:s", range: "PT10M" } };
    const seen: unknown[] = [];
    own.subscribe("SELECT ?v {}", { onChange: (change) => seen.push(change.windows) }, windows);
    await vi.advanceTimersByTimeAsync(0);
    expect(last().sent[1]).toEqual({ subscribe: { alias: "p2", sparql: "SELECT ?v {}", windows } });
    const whole = { "urn:w": { from: null, to: null, complete: false, elements: 0 } };
    const none = { head: { vars: ["v"] }, results: { bindings: [] } };
    const told = { spuid: "s:2", alias: "p2", addedResults: none, removedResults: none };
    last().say({ notification: { ...told, sequence: 0, windows: whole } });
    last().say({ notification: { ...told, sequence: 1 } });
    expect(seen).toEqual([whole, undefined]);
    last().close();
    await vi.advanceTimersByTimeAsync(5_000);
    await last().accept();
    expect(last().sent[1]?.subscribe).toEqual({ alias: "p2", spuid: "s:2", sequence: 1 });
    last().say({ error: "cannot_resume", status_code: 410, alias: "p2" });
    await vi.advanceTimersByTimeAsync(0);
    expect(last().sent.at(-1)?.subscribe).toEqual({ alias: "p2", sparql: "SELECT ?v {}", windows });
  });

  describe("whose socket is seen", () => {
    const asked: string[] = [];
    let answer: () => Promise<unknown>;

    beforeEach(() => {
      asked.length = 0;
      answer = async () => new Response("{}");
      vi.stubGlobal("document", { hidden: false });
      vi.stubGlobal("fetch", (path: string) => {
        asked.push(path);
        return answer();
      });
    });

    it("is not doubted while it speaks, and is asked when it has been silent", async () => {
      const { connection } = await started();
      for (let turn = 0; turn < 10; turn++) {
        last().notify("p1", "s:1", turn, "a");
        await vi.advanceTimersByTimeAsync(1_500);
      }
      expect(asked).toEqual([]);
      await vi.advanceTimersByTimeAsync(2_000);
      expect(asked).toEqual(["/ready"]);
      await vi.advanceTimersByTimeAsync(4_100);
      expect(asked).toHaveLength(3);
      expect(connection.value.state).toBe("live");
    });

    it("is given up within five seconds where nobody answers", async () => {
      const { connection } = await started();
      last().notify("p1", "s:1", 0, "a");
      answer = () => Promise.reject(new TypeError("no route"));
      await vi.advanceTimersByTimeAsync(5_000);
      expect(connection.value.state).toBe("lost");
    });
  });
});
