import { expect, it } from "vitest";
import { path } from "./Sparkline";

it("goes from left to right and from lowest to highest within its box", () => {
  expect(path([[0, 1], [50, 3], [100, 2]])).toBe("0.0,18.0 36.0,2.0 72.0,10.0");
});

it("is a line in the middle where nothing changes, and a point where there is one", () => {
  expect(path([[0, 5], [10, 5]])).toBe("0.0,10.0 72.0,10.0");
  expect(path([[0, 5]])).toBe("36.0,10.0");
  expect(path([])).toBe("");
});
