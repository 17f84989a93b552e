import { describe, expect, it } from "vitest";
import { extended, type Flow } from "./flow";
import { diskOf, metricsOf, room } from "./metrics";
import { policyOf, said } from "./rights";
import { byCost, nameOf, ownerOf, type Standing, tiers } from "./standing";

describe("metrics", () => {
  const text = `# HELP sosa_gateway_journal_bytes Bytes
# TYPE sosa_gateway_journal_bytes gauge
sosa_gateway_journal_bytes 7.907158e+06
sosa_gateway_journal_segments{state="unshipped"} 3.0
sosa_gateway_journal_hours_left +Inf
sosa_gateway_journal_full 1.0
`;

  it("are read by name and label", () => {
    expect(diskOf(metricsOf(text))).toMatchObject({ journalBytes: 7907158, unshipped: 3, hoursLeft: Number.POSITIVE_INFINITY, isFull: true });
  });

  it("say of what is not told that it is not known", () => {
    expect(metricsOf("").number("journal_bytes")).toBeNaN();
    expect(diskOf(metricsOf("")).isStoreFailing).toBe(false);
  });

  const words = { hours: (n: number) => `${n} h`, days: (n: number) => `${n} d`, years: "years" };
  it.each([
    [3.9, "3 h"],
    [47, "47 h"],
    [49, "2 d"],
    [24 * 400, "years"],
    [Number.POSITIVE_INFINITY, "years"],
  ])("say room for %d hours as %s", (hours, text) => {
    expect(room(hours, words)).toBe(text);
  });
});

describe("the flow", () => {
  it("remembers the rates of a minute", () => {
    const told = (t: number): Flow => ({
      t,
      stages: [{ name: "messages", count: t, rate: t, rate_10s: t, waiting: 0 }],
      latency_ms: { p50: 1, p99: 2 },
      alarms: 0,
      proposals: 0,
      unknown: 0,
    });
    let trends: ReturnType<typeof extended> = new Map();
    for (let t = 0; t < 100; t += 1) trends = extended(trends, told(t));
    const points = trends.get("messages") ?? [];
    expect(points.length).toBe(60);
    expect(points.at(-1)).toEqual([99, 99]);
  });
});

describe("standing questions", () => {
  const one = (spuid: string, tier: string, cost_us: number): Standing => ({
    ...{ spuid, query: `ASK {${spuid}}`, alias: null, kind: "client", owner: "", tier, members: 1 },
    ...{ notifications: 0, updates: 1, rows: 0, cost_us, worker: false },
  });

  it("have the dearest first, and are counted by tier", () => {
    const all = [one("a", "booster", 5), one("b", "single pattern", 9), one("c", "booster", 1)];
    expect(byCost(all).map(({ spuid }) => spuid)).toEqual(["b", "a", "c"]);
    expect(tiers(all)).toEqual([["booster", 2], ["single pattern", 1]]);
  });

  it("are called by alias or by what they ask, and a rule by its name", () => {
    const query = "PREFIX a: <urn:a>\nPREFIX b: <urn:b>\nSELECT ?s {\n  ?s a:p b:o }";
    expect(ownerOf({ kind: "rule", owner: "urn:rule/fan-on" })).toBe("fan-on");
    expect(ownerOf({ kind: "client", owner: "127.0.0.1" })).toBe("127.0.0.1");
    expect(nameOf({ alias: "mine", query })).toBe("mine");
    expect(nameOf({ alias: "p3", query })).toBe("SELECT ?s { ?s a:p b:o }");
  });
});

describe("rights", () => {
  it("of a device are its topics, and nothing else", () => {
    expect(policyOf({ preset: "device", topics: "home/lamp/#, home/lamp2/# " })).toEqual({
      kind: "device",
      policy: { publish: ["home/lamp/#", "home/lamp2/#"], receive: ["home/lamp/#", "home/lamp2/#"] },
    });
  });

  it("are said in a line", () => {
    const words = { query: "reads", may: "may", none: "nothing" };
    expect(said({ query: ["all"], update: [], may: ["command"] }, words)).toBe("reads all · may command");
    expect(said({}, words)).toBe("nothing");
  });
});
