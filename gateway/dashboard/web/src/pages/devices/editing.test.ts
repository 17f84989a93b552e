import { describe, expect, it } from "vitest";
import { lastHeard, pattern, used } from "./inuse";
import { covers, differing, edits, isSame, missing, ownId, refusal, written } from "./members";
import { isChosen, matched, type Node, tree } from "./payload";
import { baseOf, description, mint, rooms, suggested } from "./rooms";
import type { Stream } from "../../state/streams";

function selectors(node: Node): string[] {
  return [...(node.selector ? [node.selector] : []), ...node.children.flatMap(selectors)];
}

describe("a payload", () => {
  it("is a tree whose members have a path", () => {
    const payload = '{"a": {"b c": 1, "d": [true, null]}, "e": "x"}';
    expect(selectors(tree(payload, "json"))).toEqual(["$.a['b c']", "$.a.d[0]", "$.a.d[1]", "$.e"]);
    expect(selectors(tree('{"ENERGY": {"Power": 1}}', "tasmota"))).toEqual(["ENERGY.Power"]);
    expect(selectors(tree('{"method": "x", "params": {"switch:0": {"apower": 1}}}', "shelly"))).toEqual(["switch:0.apower"]);
    expect(selectors(tree(payload, "homie"))).toEqual([]);
  });

  it("that is no JSON is a line", () => {
    expect(tree("21.5 °C", "text")).toEqual({ name: "", selector: null, text: "21.5 °C", children: [] });
  });

  it("says what a selector chooses", () => {
    const chosen = (selector: string) => {
      const found: string[] = [];
      const walk = (node: Node): void => {
        if (isChosen(node, selector)) found.push(node.selector ?? "");
        node.children.forEach(walk);
      };
      walk(tree('{"a": [{"v": 1}, {"v": 2}], "b": {"c": 1}}', "json"));
      return found;
    };
    expect(chosen("$.b.c")).toEqual(["$.b.c"]);
    expect(chosen("$.a[*].v")).toEqual(["$.a[0].v", "$.a[1].v"]);
    expect(chosen("$.b.*")).toEqual(["$.b.c"]);
    expect(chosen("")).toEqual([]);
    expect(matched("P=12.5 W", "P=(?P<value>[0-9.]+)")).toEqual(["P=", "12.5", " W"]);
    expect(matched("P=12.5 W", "(")).toBeNull();
    expect(matched("P=12.5 W", "Q")).toBeNull();
  });

  it("of a million members is cut, not hung on", () => {
    const wide = JSON.stringify(Array.from({ length: 50_000 }, (_, index) => index));
    expect(tree(wide, "json").children.length).toBeLessThan(2001);
  });
});

describe("a mapping's form", () => {
  it("writes what is said, numbers as numbers", () => {
    expect(written({ id: "urn:1", topic: " a ", unit: "", expiresAfter: "60" as unknown as number, error: "x" })).toEqual({
      id: "urn:1",
      topic: "a",
      expiresAfter: 60,
    });
    expect(missing({ topic: "a", format: "json", property: "p" })).toEqual(["feature", "sensor"]);
  });

  it("knows what is different, and what is to be done then", () => {
    expect(differing({ unit: "W", topic: "a" }, { topic: "b" })).toEqual({ unit: null, topic: "b" });
    expect(isSame({ id: "1", unit: "W" }, { id: "1", unit: "W" })).toBe(true);
    expect(edits({ id: "1" }, { id: "1" })).toEqual({ replace: [{ id: "1" }] });
    expect(edits(null, { id: "1" })).toEqual({ add: [{ id: "1" }] });
    expect(ownId("urn:b", { topic: "a/+", selector: "$.t" })).toBe("urn:b/mapping/own/a%2F%2B/%24.t");
  });

  it("has refusals at their members", () => {
    expect(refusal("mapping <urn:trial:0>, unit: 'grob' is no unit")).toEqual({ member: "unit", text: "'grob' is no unit" });
    expect(refusal("add[0].expiresAfter: too small")).toEqual({ member: "expiresAfter", text: "too small" });
    expect(refusal("the store is full")).toEqual({ member: "", text: "the store is full" });
    expect(refusal("mappings[0].foo: unknown").member).toBe("");
  });

  it("knows the topics of a filter", () => {
    expect(["a/b", "a/c/d", "a"].map((topic) => covers("a/+", topic))).toEqual([true, false, false]);
    expect(covers("a/#", "a/b/c")).toBe(true);
  });
});

describe("rooms", () => {
  const proposals = [{ mapping: { feature: "urn:own" } }] as never[];

  it("are places that are no device, each once", () => {
    const places = [{ iri: "urn:room:a", name: "Office" }, { iri: "urn:own", name: "own" }];
    const mappings = [{ feature: "urn:room:b" }, { feature: "urn:r:{1}" }, { feature: "urn:x/feature/z/1" }];
    expect(rooms(places, mappings, proposals, () => "Attic").map(({ name }) => name)).toEqual(["Attic", "Office"]);
  });

  it("are suggested by the device's name", () => {
    const all = [{ iri: "1", name: "Bath" }, { iri: "2", name: "Guest bath" }];
    expect(suggested(all, "guest bath window")?.iri).toBe("2");
    expect(suggested(all, "bathtub")).toBeUndefined();
  });

  it("are minted under the gateway's base", () => {
    const base = baseOf({ id: "https://h.example/id/g/mapping/zigbee2mqtt/0x1/t" });
    expect(mint(base, " Dining room ")).toBe("https://h.example/id/g/room/Dining%20room");
    expect(mint("", "A")).toBe("urn:sosa-gateway/room/A");
    expect(description("urn:r", 'a"b')).toContain('rdfs:label "a\\"b"');
  });
});

describe("devices in use", () => {
  const stream = (sensor: string, property: string, place: string, at: number): Stream =>
    ({ key: `${sensor} ${place}`, sensor, property, place, latest: { value: { ingested: at } } }) as unknown as Stream;

  it("are proposals' devices, or sensors; a template is each that was heard", () => {
    const mappings = [
      { id: "m1", sensor: "urn:s:{1}", property: "p", feature: "urn:r:{1}" },
      { id: "m2", sensor: "urn:d", property: "q", feature: "urn:r:x" },
    ];
    const proposals = [{ family: "f", device: "lamp", label: "lamp q", mapping: { id: "m2" } }] as never[];
    const heard = [stream("urn:s:a", "p", "urn:r:a", 5), stream("urn:s:b", "p", "urn:r:b", 7), stream("urn:d", "q", "urn:old", 9)];
    const found = used(mappings, proposals, heard, (iri) => iri);
    expect(found.map(({ name, parts }) => [name, parts.length])).toEqual([["lamp", 1], ["urn:s:a", 1], ["urn:s:b", 1]]);
    expect(lastHeard(found[1]?.parts ?? [])).toBe(5);
    expect(lastHeard(found[0]?.parts ?? [])).toBeNaN();
    expect(pattern("urn:s:{1}.x").test("urn:s:a.x")).toBe(true);
    expect(pattern("urn:s:{1}.x").test("urn:s:a-x")).toBe(false);
  });
});
