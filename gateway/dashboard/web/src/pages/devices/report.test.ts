import { describe, expect, it, vi } from "vitest";
import { plan } from "./accept";
import { squares } from "./Qr";
import { answers, asked, differingMessages, nameOf, sum } from "./report";
import type { Proposal, Report } from "./told";
import { bySubject, inStore, parsed, shortened, termInStore } from "./triples";

// Numbers are written by the browser's locale, and there is no browser here.
vi.hoisted(() => vi.stubGlobal("navigator", { language: "en" }));

const none: Report = {
  messages: 0,
  kept: 0,
  same: 0,
  counts: {},
  observations: [],
  faults: [],
  triples: { added: [], removed: [] },
  subscriptions: [],
  subscriptions_skipped: "",
};

describe("a rehearsal", () => {
  it("is said in a sentence", () => {
    const difference = { topic: "a", received_at: "1", old: null, new: null, fields: [] };
    const report = { ...none, messages: 412, kept: 412, observations: [difference, difference, { ...difference, received_at: "2" }] };
    expect(differingMessages(report)).toBe(2);
    expect(sum(report)).toBe("Of 412 kept messages 410 give the same, 2 differ.");
    expect(sum(none)).toContain("No message");
  });

  it("names the questions that would answer otherwise", () => {
    const one = { query: "SELECT ?a { ?a ?b ?c }", error: "", added: [{ a: "1" }], removed: [], counts: { added: 3 } };
    const names = new Map([[asked("PREFIX a: <urn:a>\nSELECT ?a\n{ ?a ?b ?c }"), "WARM_AND_EMPTY"]]);
    expect(answers({ ...none, subscriptions: [one] }, names)).toEqual(["WARM_AND_EMPTY would gain 3 rows"]);
    expect(answers({ ...none, subscriptions: [{ ...one, error: "too much" }] }, names)[0]).toContain("too much");
    expect(nameOf("PREFIX a: <urn:a>\nSELECT  ?x {}", new Map())).toBe("SELECT ?x {}");
  });
});

describe("triples", () => {
  const line = '<urn:s> <http://www.w3.org/ns/sosa/hasSimpleResult> "1 \\"2\\""^^<http://www.w3.org/2001/XMLSchema#string> .';

  it("are read and shortened", () => {
    expect(parsed(line)?.predicate).toBe("<http://www.w3.org/ns/sosa/hasSimpleResult>");
    expect(parsed("no triple")).toBeNull();
    expect(shortened("<http://www.w3.org/ns/sosa/hasSimpleResult>")).toBe("sosa:hasSimpleResult");
    expect(shortened("<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>")).toBe("a");
    expect(shortened('"1 \\"2\\""^^<urn:t>')).toBe('1 "2"');
    expect(bySubject([line, line, "x"])[0]?.[1]).toHaveLength(2);
  });

  it("of a trial are those of the store where its message gave them", () => {
    const first = "https://g/observation/1795476544-196";
    expect(inStore("https://g/observation/0-2/result", first)).toBe("https://g/observation/1795476544-197/result");
    expect(inStore("https://g/message/0-1", first)).toBeNull();
    expect(inStore("urn:room:a", null)).toBe("urn:room:a");
    expect(inStore("https://g/observation/0-1", null)).toBeNull();
    expect(termInStore('"1"', first)).toBe('"1"');
  });
});

describe("accepting", () => {
  const part = (id: string, kind = "measurement"): Proposal => ({ id, kind }) as Proposal;
  const room = { iri: "urn:room", name: "Room", isNew: false };

  it("is one request for what is not asked, one for each answer, none for what is left", () => {
    expect(plan([part("a"), part("b"), part("c"), part("d")], room, { b: { unit: "°F" }, c: null, d: {} })).toEqual([
      [["a", "d"], { feature: "urn:room" }],
      [["b"], { unit: "°F", feature: "urn:room" }],
    ]);
  });

  it("leaves a battery with its device", () => {
    expect(plan([part("a", "diagnostic")], room, {})).toEqual([[["a"], {}]]);
    expect(plan([part("a", "diagnostic"), part("b")], room, { a: { unit: "%" } })).toEqual([
      [["b"], { feature: "urn:room" }],
      [["a"], { unit: "%" }],
    ]);
    expect(plan([part("a")], null, {})).toEqual([[["a"], {}]]);
  });
});

it("a QR code has its three finders and a quiet margin", () => {
  const { path, size } = squares("mqtt://192.0.2.7:1883");
  expect(size).toBe(25 + 8);
  for (const corner of ["M4 4h", `M${size - 5} 4h`, `M4 ${size - 5}h`]) expect(path).toContain(corner);
  expect(path).not.toMatch(/M[0-3] /);
});
