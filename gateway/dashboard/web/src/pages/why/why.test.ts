import { beforeAll, describe, expect, it, vi } from "vitest";
import type { Change } from "../../protocol/subscription";
import type { Row } from "../../protocol/terms";
import { counted, MOST_PASSING, type Passing, passing } from "./changes";
import { plain, sources } from "./questions";
import type { Quiet } from "./stations";

// The rest of the page asks the browser where it is, and what its language is.
let stations: typeof import("./stations");
let wording: typeof import("./wording");
beforeAll(async () => {
  const nothing = (): void => undefined;
  vi.stubGlobal("window", { location: { hash: "" }, addEventListener: nothing });
  vi.stubGlobal("document", { hidden: true, addEventListener: nothing });
  vi.stubGlobal("navigator", { language: "en" });
  stations = await import("./stations");
  wording = await import("./wording");
});

const row = (value: string): Row => ({ room: { type: "uri", value } });
const change = (added: Row[], removed: Row[], first = false): Change => ({
  first,
  sequence: 0,
  added: { head: {}, results: { bindings: added } },
  removed: { head: {}, results: { bindings: removed } },
  time: 1000,
});

describe("rows that pass", () => {
  it("are those that come and go, not those that were there", () => {
    const before = passing([], change([row("urn:a")], [], true));
    expect(before).toEqual([]);
    const after = passing(before, change([row("urn:b")], [row("urn:a")]));
    expect(after.map(({ came, row: { room } }) => [came, room?.value])).toEqual([
      [true, "urn:b"],
      [false, "urn:a"],
    ]);
  });

  it("are bounded, each with a key of its own", () => {
    let all: Passing[] = [];
    for (let at = 0; at < 300; at += 1) all = passing(all, change([row(`urn:${at}`)], []));
    expect(all.length).toBe(MOST_PASSING);
    expect(new Set(all.map(({ id }) => id)).size).toBe(MOST_PASSING);
    expect(all[0]?.row.room?.value).toBe("urn:299");
  });

  it("leave so many rows", () => {
    expect(counted(7, change([row("urn:a"), row("urn:b")], [], true))).toBe(2);
    expect(counted(2, change([], [row("urn:a")]))).toBe(1);
  });
});

const words = {
  alone: "alone",
  joined: "joined",
  starves: "starves",
  rows: "Rows",
  noRows: "No rows",
  count: (count: number, most: number) => (count >= most ? `${most}+` : String(count)),
};

describe("a quiet question", () => {
  const quiet: Quiet = {
    query: "",
    rows: 0,
    patterns: [
      { text: "a", alone: 100, joined: 100 },
      { text: "b", alone: 3, joined: 0 },
      { text: "c", alone: 5, joined: 0 },
    ],
    first_starved: 1,
    near: [],
    most: 100,
    whole: true,
  };

  it("is broken at the first part that starves, and what is behind waits", () => {
    const parts = stations.partsOf(quiet, words);
    expect(parts.map(({ status }) => status)).toEqual(["ok", "broken", "waiting", "waiting"]);
    expect(parts[0]?.items[0]?.value).toBe("100+");
    expect(parts.map(({ share }) => share)).toEqual([1, 0, 0, undefined]);
  });

  it("that has rows is broken nowhere", () => {
    const parts = stations.partsOf({ ...quiet, rows: 2, first_starved: null }, words);
    expect(parts.map(({ status }) => status)).toEqual(["ok", "ok", "ok", "ok"]);
  });
});

describe("a station", () => {
  it("leads on to each thing that has a page", () => {
    expect(stations.linkHref({ kind: "mapping", id: "urn:m" })).toBe("#/devices/edit?mapping=urn%3Am");
    expect(stations.linkHref({ kind: "rule", id: "urn:r" })).toBe("#/why/quiet?rule=urn%3Ar");
    expect(stations.linkHref({ kind: "command", id: "urn:c" })).toBe("#/why/trail?command=urn%3Ac");
    expect(stations.linkHref({ kind: "nothing", id: "urn:x" })).toBeNull();
  });

  it("is mended where it is broken, by the thing that it is about", () => {
    const items = [
      { name: "topic", value: "a/b", link: { kind: "topic", id: "a/b" } },
      { name: "mapping", value: "urn:m", link: { kind: "mapping", id: "urn:m" } },
    ];
    const station = { kind: "mapping", title: "", items };
    expect(stations.mendLink({ ...station, status: "broken" })?.id).toBe("urn:m");
    expect(stations.mendLink({ ...station, status: "ok" })).toBeNull();
  });

  it("says things as people do", () => {
    const say = (value: string, kind = ""): string =>
      wording.itemValue({ name: "", value, ...(kind ? { link: { kind, id: value } } : {}) });
    expect(say("urn:room:kitchen", "place")).toBe("kitchen");
    expect(say("https://sosa-gateway.example/property/set_point", "property")).toBe("set point");
    expect(say("21.10 http://qudt.org/vocab/unit/DEG_C")).toBe("21.10 °C");
    expect(say("/etc/house.jsap: extended.mappings[0]")).toBe("house.jsap: extended.mappings[0]");
    expect(wording.itemName({ name: "rule urn:rule:cool-it", value: "" })).toBe("rule cool-it");
  });
});

const STANDING = {
  kind: "client" as const,
  owner: "127.0.0.1",
  tier: "booster",
  members: 1,
  notifications: 0,
  updates: 0,
  rows: 0,
  cost_us: 0,
  worker: false,
};

describe("questions to choose from", () => {
  const known = {
    saved: [{ name: "WARM", sparql: "SELECT ?a {}", label: "warm rooms" }],
    profiles: [{ name: "ABSENT", sparql: "PREFIX a: <urn:a>\nSELECT ?b { ?b a:c ?d }" }],
    rules: [],
    live: [],
  };

  it("are found by name and by text", () => {
    expect(sources(known, "").map(({ kind }) => kind)).toEqual(["saved", "profiles"]);
    expect(sources(known, "ROOMS").flatMap(({ choices }) => choices.map(({ asked }) => asked))).toEqual([{ name: "WARM" }]);
    expect(sources(known, "a:c")[0]?.choices[0]?.title).toBe("ABSENT");
    expect(sources(known, "nothing")).toEqual([]);
  });

  it("that have a name, or that the page asks for itself, are told once", () => {
    const asked = (query: string, alias: string) => ({ ...STANDING, spuid: query, query, alias });
    const live = [asked("SELECT ?a {}", "agent"), asked("SELECT ?own {}", "p1"), asked("SELECT ?z {}", "agent-2f724fbb-2e16-440b")];
    const told = sources({ ...known, live }, "", (query) => query === "SELECT ?own {}");
    expect(told.find(({ kind }) => kind === "live")?.choices.map(({ title }) => title)).toEqual(["SELECT ?z {}"]);
  });

  it("are told without what they begin with", () => {
    expect(plain("BASE <urn:x> PREFIX a: <urn:a>\n SELECT ?b\n{ }")).toBe("SELECT ?b { }");
  });
});
