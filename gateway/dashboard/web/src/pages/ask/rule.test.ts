import { describe, expect, it } from "vitest";
import { lacking, made, newIri, quoted, restored, unknown, unmade } from "./rule";

const rule = { sparql: 'SELECT ?room { ?room <urn:is> "a\\b" }', topic: "fan/{room}/set", payload: '{"on":true}', on: "added" as const };

describe("a rule", () => {
  it("is triples in the graph of mappings, its texts escaped", () => {
    const text = made("urn:r", rule, "fan\n\"on\"");
    expect(text).toContain('gw:sparql "SELECT ?room { ?room <urn:is> \\"a\\\\b\\" }" ;');
    expect(text).toContain('gw:payloadTemplate "{\\"on\\":true}" ;');
    expect(text).toContain('"fan\\n\\"on\\""');
    expect(text).toContain("gw:on gw:Added");
    expect(made("urn:r", { ...rule, on: "removed" }, "")).toContain("gw:on gw:Removed");
    expect(unmade("urn:r")).toBe(
      "DELETE WHERE { GRAPH <https://sosa-gateway.example/graph/mappings> { <urn:r> ?p ?o } }",
    );
  });
  it("comes back as it was", () => {
    const rows = [{ p: { type: "uri" as const, value: "urn:p" }, o: { type: "literal" as const, value: 'a"b' } }];
    expect(restored("urn:r", rows)).toBe(
      'INSERT DATA { GRAPH <https://sosa-gateway.example/graph/mappings> {\n<urn:r> <urn:p> "a\\"b" .\n} }',
    );
  });
  it("names variables that its query has", () => {
    expect(unknown("fan/{room}/{who}/{who}", ["room"])).toEqual(["who"]);
    expect(unknown('{"state":"{room}"}', ["room"])).toEqual([]);
  });
  it.each([
    ["fan/set", ""],
    [" ", "topic"],
    ["fan/+/set", "wildcard"],
    ["fan/#", "wildcard"],
  ])("publishes to %j", (topic, expected) => expect(lacking({ ...rule, topic })).toBe(expected));
  it("has an IRI of its own", () => {
    expect(newIri()).toMatch(/^urn:sosa-gateway:rule:[0-9a-f]{32}$/);
    expect(newIri()).not.toBe(newIri());
  });
  it("escapes what strings cannot have", () => expect(quoted('a"\\\n\r\t')).toBe('"a\\"\\\\\\n\\r\\t"'));
});
