import { describe, expect, it } from "vitest";
import { UNIT } from "../../protocol/terms";
import { alike, converted } from "./units";

const u = (name: string): string => UNIT + name;

describe("converted", () => {
  it.each([
    ["25", "DEG_C", "DEG_F", "77"],
    ["25", "DEG_C", "K", "298.15"],
    ["77", "DEG_F", "DEG_C", "25"],
    ["-40", "DEG_F", "DEG_C", "-40"],
    ["26.5", "DEG_C", "DEG_F", "79.7"],
    ["-0.5", "DEG_C", "K", "272.65"],
    ["100", "W", "KiloW", "0.1"],
    ["1.5", "KiloW", "W", "1500"],
    ["1", "M-PER-SEC", "KiloM-PER-HR", "3.6"],
    ["55", "PERCENT", "UNITLESS", "0.55"],
    ["1", "DEG_F", "DEG_C", "-17.22222222222222"],
    ["7", "LUX", "W", "7"],
  ])("%s %s in %s", (number, from, to, expected) => {
    if (alike(u(from)).includes(u(to))) expect(converted(number, u(from), u(to))).toBe(expected);
    else expect(alike(u(from))).toEqual([u(from)]);
  });
});

describe("alike", () => {
  it("has the unit itself first, and never another quantity", () => {
    expect(alike(u("W"))[0]).toBe(u("W"));
    expect(alike(u("W"))).toContain(u("KiloW"));
    expect(alike(u("W"))).not.toContain(u("VA"));
    expect(alike("urn:my:unit")).toEqual(["urn:my:unit"]);
  });
});
