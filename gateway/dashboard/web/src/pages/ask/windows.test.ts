import { describe, expect, it } from "vitest";
import { duration, windowName, windowsOf } from "./lasting";
import { found, read, readingsOf, used, type WindowTold } from "./windows";

const STREAM = "https://sosa-gateway.example/ns#observations";
const one = { stream: STREAM, range: "PT10M" };

describe("windows of a sentence", () => {
  it("are of its property and its place, and named as its text names them", () => {
    const asked = { property: "urn:p", place: "urn:room", over: "for", span: 30 } as const;
    const narrowed = { stream: STREAM, property: ["urn:p"], feature: ["urn:room"] };
    expect(windowsOf(asked)).toEqual({
      [windowName(30)]: { ...narrowed, range: "PT30M" },
      [windowName(60)]: { ...narrowed, range: "PT1H" },
    });
    expect(windowsOf({ ...asked, place: "", over: "mean" })).toEqual({
      [windowName(30)]: { stream: STREAM, property: ["urn:p"], range: "PT30M" },
    });
    expect(windowsOf({ ...asked, over: "" })).toEqual({});
  });

  it("last as the gateway writes it", () => {
    expect([1, 30, 60, 90, 120].map(duration)).toEqual(["PT1M", "PT30M", "PT1H", "PT90M", "PT2H"]);
  });
});

describe("windows beside a text", () => {
  it.each([
    ["", {}],
    ["  \n", {}],
    ['{"urn:w": {"stream": "urn:s"}}', { "urn:w": { stream: "urn:s" } }],
    ['{"urn:w": 1}', null],
    ["[]", null],
    ["null", null],
    ["{", null],
  ])("%j", (json, expected) => expect(read(json)).toEqual(expected));

  it("are told of where the text names them, in full or by a prefix", () => {
    const all = { "urn:a": one, "urn:b:c": one };
    expect(used(all, "SELECT * { GRAPH <urn:a> { ?s ?p ?o } }")).toEqual({ "urn:a": one });
    expect(used(all, "PREFIX b: <urn:b:> SELECT * { GRAPH b:c { ?s ?p ?o } }")).toEqual({ "urn:b:c": one });
    expect(used(all, "SELECT * { ?s ?p ?o }")).toEqual({});
    expect(used(all, readingsOf("urn:a"))).toEqual({ "urn:a": one });
  });
});

describe("what a window has", () => {
  const told = (names: string[], window: Record<string, unknown>): WindowTold => ({
    window, names, from: null, to: null, complete: true, elements: 1, subscriptions: 1,
    triples: 1, bytes: 1, late: 0, dropped: 0, expired: 0,
  });

  it("is told of the one that is declared alike, where several have its name", () => {
    const hour = told(["urn:w"], { range: "PT1H", stream: STREAM });
    const two = told(["urn:w", "urn:v"], { stream: STREAM, range: "PT10M", property: ["urn:a", "urn:b"] });
    expect(found([hour, two], "urn:w", { ...one, property: ["urn:b", "urn:a"] })).toBe(two);
    expect(found([hour, two], "urn:w", one)).toBeUndefined();
    expect(found([hour], "urn:w", { ...one, range: "PT60M" })).toBe(hour);
    expect(found([hour], "urn:other", one)).toBeUndefined();
  });
});
