import { expect, it } from "vitest";
import { lastingSince, ratePerHour } from "./trend";

const line = (count: number, stepMs: number, value: (at: number) => number): [number, number][] =>
  Array.from({ length: count }, (_, at) => [at * stepMs, value(at)]);

it("is the slope of a straight line, an hour", () => {
  expect(ratePerHour(line(20, 60_000, (at) => 20 + at / 60))).toBeCloseTo(1);
  expect(ratePerHour(line(20, 60_000, (at) => 20 - at / 60))).toBeCloseTo(-1);
});

it("is nothing where it wavers, stands still, is short or has few points", () => {
  expect(ratePerHour(line(20, 60_000, (at) => (at % 2) * 5 + at / 60))).toBeNull();
  expect(ratePerHour(line(20, 60_000, () => 20))).toBeNull();
  expect(ratePerHour(line(20, 1_000, (at) => at))).toBeNull();
  expect(ratePerHour(line(5, 60_000, (at) => at))).toBeNull();
  expect(ratePerHour([])).toBeNull();
});

it("looks at the last hour alone", () => {
  const fell = line(60, 60_000, (at) => 100 - at);
  const rises = line(30, 120_000, (at) => 40 + at).map(([at, value]): [number, number] => [at + 3_720_000, value]);
  expect(ratePerHour([...fell, ...rises])).toBeCloseTo(30);
});

it("knows since when a state lasts, where it was seen to change", () => {
  expect(lastingSince([[1, 0], [2, 1], [3, 0], [4, 0], [5, 0]])).toBe(3);
  expect(lastingSince([[1, 1], [2, 0]])).toBe(2);
  expect(lastingSince([[1, 1], [2, 1]])).toBeNull();
  expect(lastingSince([])).toBeNull();
});
