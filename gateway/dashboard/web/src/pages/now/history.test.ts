import { describe, expect, it } from "vitest";
import { bucketed, columns, everyFor, gapMs, markOf, merged, type Point, runs, states, unitChanges } from "./history";

const C = "http://qudt.org/vocab/unit/DEG_C";
const F = "http://qudt.org/vocab/unit/DEG_F";

const bucket = (t: number, value: number, count: number, more: Partial<Point> = {}): Point => ({
  t,
  value,
  min: value - 1,
  max: value + 1,
  count,
  unit: C,
  ...more,
});

describe("merged", () => {
  it("puts pages in order of time, whichever came first", () => {
    const newer = [bucket(3000, 3, 1), bucket(4000, 4, 1)];
    const older = [bucket(1000, 1, 1), bucket(2000, 2, 1)];
    expect(merged(older, newer).map(({ t }) => t)).toEqual([1000, 2000, 3000, 4000]);
    expect(merged(newer, older)).toEqual(merged(older, newer));
  });

  it("makes one bucket of the halves that stand on two pages", () => {
    const [one] = merged([bucket(1000, 10, 3)], [bucket(1000, 20, 1, { min: 5, flags: ["revised"] })]);
    expect(one).toEqual({ t: 1000, value: 12.5, min: 5, max: 21, count: 4, unit: C, flags: ["revised"] });
  });

  it("keeps buckets of two units apart, and readings that differ at one time", () => {
    expect(merged([bucket(1000, 20, 1)], [bucket(1000, 68, 1, { unit: F })])).toHaveLength(2);
    expect(merged([{ t: 1000, value: true }], [{ t: 1000, value: false }])).toHaveLength(2);
    expect(merged([{ t: 1000, value: true }], [{ t: 1000, value: true }])).toHaveLength(1);
  });

  it("adds what comes live to the last bucket", () => {
    const live = bucketed({ t: 61_500, value: 30, unit: C }, 60);
    expect(merged([bucket(60_000, 20, 1)], [live])).toEqual([bucket(60_000, 25, 2, { min: 19, max: 30, flags: [] })]);
    expect(bucketed({ t: 61_500, value: 30 }, 0).t).toBe(61_500);
    expect(bucketed({ t: 61_500, value: true }, 60).t).toBe(61_500);
  });
});

describe("everyFor", () => {
  it("gives one bucket each two pixels, in round steps", () => {
    expect(everyFor(3_600_000, 600)).toBe(15);
    expect(everyFor(86_400_000, 600)).toBe(300);
    expect(everyFor(7 * 86_400_000, 600)).toBe(3600);
  });

  it("asks for single readings where there is room for them", () => {
    expect(everyFor(60_000, 600)).toBe(0);
  });
});

describe("gaps", () => {
  const points = [0, 10, 20, 30, 200, 210].map((s): Point => ({ t: s * 1000, value: s, unit: C }));

  it("are longer than what is usual, or than what the device promises", () => {
    expect(gapMs(points, 0)).toBe(40_000);
    expect(gapMs(points, 60)).toBe(90_000);
    expect(gapMs(points, 0, 600_000)).toBe(600_000);
  });

  it("break the line", () => {
    expect(runs(points, 40_000).map(({ times }) => times)).toEqual([
      [0, 10_000, 20_000, 30_000],
      [200_000, 210_000],
    ]);
    expect(runs(points, 600_000)).toHaveLength(1);
    expect(runs([], 1)).toEqual([]);
  });

  it("so does another unit, which is told", () => {
    const changed = [bucket(0, 20, 1), bucket(1000, 68, 1, { unit: F })];
    expect(runs(changed, 5000)).toHaveLength(2);
    expect(unitChanges(changed)).toEqual([{ t: 1000, from: C, to: F }]);
    expect(columns(runs(changed, 5000))).toEqual([[0, 1], [20, 68], [19, 67], [21, 69]]);
  });

  it("end a state: nobody knows what it was then", () => {
    const told: Point[] = [
      { t: 0, value: false },
      { t: 1000, value: true },
      { t: 2000, value: true },
      { t: 90_000, value: false },
    ];
    expect(states(told, 10_000, 95_000)).toEqual([
      { from: 0, to: 1000, value: "false" },
      { from: 1000, to: 2000, value: "true" },
      { from: 90_000, to: 95_000, value: "false" },
    ]);
  });
});

describe("markOf", () => {
  it("is what says most", () => {
    expect(markOf({ t: 0, value: 1, flags: ["buffered", "revised"] })).toBe("revised");
    expect(markOf({ t: 0, value: 1, flags: ["unheard-of"] })).toBeUndefined();
    expect(markOf({ t: 0, value: 1 })).toBeUndefined();
  });
});
