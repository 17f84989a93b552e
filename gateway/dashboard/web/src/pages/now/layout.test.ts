import { expect, it } from "vitest";
import type { Grouped } from "./groups";
import { columnsFor, GAP, HEAD, heightOf, laidOut, LINE, linesSeen, seen } from "./layout";

const group = (key: string, lines: number): Grouped => ({
  key,
  name: key,
  isRoom: true,
  needsLook: false,
  lines: Array.from({ length: lines }, () => ({}) as Grouped["lines"][number]),
});

it("has as many columns as fit, one at least", () => {
  expect(columnsFor(0)).toBe(1);
  expect(columnsFor(358)).toBe(1);
  expect(columnsFor(1032)).toBe(2);
  expect(columnsFor(9000)).toBe(4);
});

it("puts each group below the shortest column, without overlap", () => {
  const { placed, height } = laidOut([group("a", 5), group("b", 1), group("c", 1), group("d", 2)], 2);
  expect(placed.map(({ column }) => column)).toEqual([0, 1, 1, 1]);
  expect(placed[2]?.top).toBe(heightOf(group("b", 1)) + GAP);
  for (const one of placed) {
    for (const other of placed) {
      if (one === other || one.column !== other.column) continue;
      expect(one.top >= other.top + other.height || other.top >= one.top + one.height).toBe(true);
    }
    expect(one.top + one.height).toBeLessThanOrEqual(height);
  }
  expect(laidOut([], 3)).toEqual({ placed: [], height: 0 });
});

it("draws what is seen and nothing else, of one group of ten thousand lines too", () => {
  const { placed } = laidOut([group("a", 10_000), group("b", 3)], 1);
  const [first] = placed;
  if (!first) throw new Error("nothing was placed");
  expect(seen(placed, 0, 800)).toEqual([first]);
  const [from, to] = linesSeen(first, 100 * LINE + HEAD, 120 * LINE + HEAD);
  expect([from, to]).toEqual([100, 120]);
  expect(linesSeen(first, -5000, 0)).toEqual([0, 0]);
  expect(linesSeen(first, 1e9, 1e9 + 800)).toEqual([10_000, 10_000]);
});
