import { expect, it, vi } from "vitest";

vi.hoisted(() => {
  vi.stubGlobal("window", { location: { hash: "" }, addEventListener: () => undefined });
});

const { askHref, isAbout, streamQuery } = await import("./links");

const PROPERTY = "https://sosa-gateway.example/property/temperature";

it("knows the questions that name a property, by IRI or by prefix", () => {
  const base = "PREFIX property: <https://sosa-gateway.example/property/>\n";
  expect(isAbout(`SELECT * { ?o ?p <${PROPERTY}> }`, PROPERTY)).toBe(true);
  expect(isAbout(`${base}SELECT * { ?o ?p property:temperature }`, PROPERTY)).toBe(true);
  expect(isAbout(`${base}SELECT * { ?o ?p property:temperature_raw }`, PROPERTY)).toBe(false);
  expect(isAbout(`${base}SELECT * { ?o ?p property:humidity }`, PROPERTY)).toBe(false);
});

it("asks about a stream with prefixes that are declared", () => {
  const stream = { sensor: "urn:s", property: PROPERTY, place: "urn:room" };
  const hash = askHref(stream);
  const asked = new URLSearchParams(hash.split("?")[1]).get("query") ?? "";
  expect(asked).toContain("PREFIX sosa:");
  expect(asked).toContain("PREFIX qudt:");
  expect(asked.endsWith(streamQuery(stream))).toBe(true);
});
