import { afterEach, expect, it, vi } from "vitest";

vi.hoisted(() => {
  vi.stubGlobal("window", { location: { hash: "", host: "", protocol: "" }, addEventListener: () => undefined });
  vi.stubGlobal("navigator", { language: "en" });
  vi.stubGlobal("document", { addEventListener: () => undefined, hidden: true });
});

const { signal } = await import("@preact/signals");
const { alarms } = await import("../../frame/news");
const { grouped } = await import("./groups");
type Stream = import("../../state/streams").Stream;

const P = "https://sosa-gateway.example/property/";

function stream(sensor: string, property: string, place: string, isSilent = false): Stream {
  return {
    key: `${sensor} ${property} ${place}`,
    sensor,
    property: P + property,
    place,
    latest: signal({
      observation: "urn:o",
      value: { type: "literal", value: "1" },
      unit: undefined,
      at: 0,
      ingested: 0,
      clockSuspect: false,
    }),
    absence: signal(isSilent ? { since: 0, isOffline: false } : null),
    trend: signal([]),
  };
}

afterEach(() => {
  alarms.value = [];
});

const names = (groups: { name: string }[]): string[] => groups.map(({ name }) => name);

it("has rooms by name, then devices that stand in none", () => {
  const all = [
    stream("urn:d:a", "battery", "urn:d:a"),
    stream("urn:d:b", "temperature", "urn:room:10"),
    stream("urn:d:b", "temperature", "urn:room:9"),
  ];
  expect(names(grouped(all, "place", ""))).toEqual(["9", "10", "a"]);
});

it("has first what is silent, and what an alarm names", () => {
  const all = [
    stream("urn:d:a", "temperature", "urn:room:a"),
    stream("urn:d:b", "temperature", "urn:room:b"),
    stream("urn:d:c", "humidity", "urn:room:c"),
    stream("urn:d:c", "temperature", "urn:room:c", true),
  ];
  const groups = grouped(all, "place", "");
  expect(names(groups)).toEqual(["c", "a", "b"]);
  expect(groups[0]?.lines.map(({ name }) => name)).toEqual(["temperature", "humidity"]);
  alarms.value = [{ kind: "x", where: "urn:d:b", what: "", what_to_do: "", since: "", fault: false }];
  expect(names(grouped(all, "place", ""))).toEqual(["b", "c", "a"]);
});

it("groups by property and device, and tells apart what two sensors tell", () => {
  const all = [
    stream("urn:d:a", "temperature", "urn:room:hall"),
    stream("urn:d:b", "temperature", "urn:room:hall"),
    stream("urn:d:b", "humidity", "urn:room:hall"),
  ];
  const [hall] = grouped(all, "place", "");
  expect(hall?.lines.map(({ name }) => name)).toEqual(["humidity", "temperature · a", "temperature · b"]);
  expect(names(grouped(all, "property", ""))).toEqual(["humidity", "temperature"]);
  expect(names(grouped(all, "device", ""))).toEqual(["a", "b"]);
});

it("finds words of places, properties and devices, and what is silent", () => {
  const all = [
    stream("urn:d:a", "temperature", "urn:room:hall"),
    stream("urn:d:b", "humidity", "urn:room:kitchen", true),
  ];
  expect(names(grouped(all, "place", "HALL temp"))).toEqual(["hall"]);
  expect(names(grouped(all, "place", "silent"))).toEqual(["kitchen"]);
  expect(grouped(all, "place", "nowhere")).toEqual([]);
});
