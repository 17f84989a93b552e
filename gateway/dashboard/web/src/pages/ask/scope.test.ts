import { describe, expect, it } from "vitest";
import { read, standing, withGateways } from "./scope";

const literal = (value: string) => ({ type: "literal" as const, value });

describe("the scope of an address", () => {
  it.each([
    [undefined, "each", null],
    ["", undefined, null],
    ["all", undefined, { gateways: "all", mode: "union" }],
    ["attic,hall", "each", { gateways: ["attic", "hall"], mode: "each" }],
    ["attic,", "nonsense", { gateways: ["attic"], mode: "union" }],
  ])("%s %s", (gateways, mode, expected) => expect(read(gateways, mode)).toEqual(expected));
});

describe("rows of events", () => {
  const event = (gateway: string, rows: number) => ({ gateway, rows, time: 0 });

  it("have the gateway of their own event", () => {
    const rows = ["1", "2", "3"].map((value) => ({ v: literal(value) }));
    const told = withGateways(rows, [event("attic", 2), event("cellar", 0), event("hall", 1)]);
    expect(told.map((row) => "gateway" in row && row.gateway.value)).toEqual(["attic", "attic", "hall"]);
  });

  it("keep what they say themselves, and need no event", () => {
    const own = { gateway: literal("mine") };
    expect(withGateways([own], [event("attic", 1)])).toEqual([own]);
    expect(withGateways([{ v: literal("1") }], [])).toEqual([{ v: literal("1") }]);
  });
});

describe("how gateways stand", () => {
  it("has those first who are not there", () => {
    const positions = { a: "1-1.0", b: "1-2.0", c: "1-3.0" };
    const told = standing({ positions, missing: ["d"] }, (name) => (name === "c" ? 2000 : undefined));
    expect(told.map(({ name, state, since }) => [name, state, since])).toEqual([
      ["c", "stale", 2000],
      ["d", "missing", Number.NaN],
      ["a", "there", Number.NaN],
      ["b", "there", Number.NaN],
    ]);
  });
});
