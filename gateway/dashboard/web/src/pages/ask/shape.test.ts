import { describe, expect, it } from "vitest";
import { type Row, type Term, XSD } from "../../protocol/terms";
import { csv, json } from "./download";
import { aligned, columnsOf, groupedBy, lines, oneNumber, sorted } from "./shape";
import type { Shown } from "./table";

const uri = (value: string): Term => ({ type: "uri", value });
const number = (value: string): Term => ({ type: "literal", value, datatype: `${XSD}decimal` });
const time = (value: string): Term => ({ type: "literal", value, datatype: `${XSD}dateTime` });
const rows = (...all: Row[]): Shown[] =>
  all.map((row, id) => ({ id, key: String(id), row, count: 1, mark: "", until: 0, changed: [] }));

describe("an answer", () => {
  const some = rows(
    { place: uri("urn:a"), t: number("2"), at: time("2026-01-01T00:00:10Z"), note: { type: "literal", value: "x" } },
    { place: uri("urn:b"), t: number("10"), at: time("2026-01-01T00:00:05Z") },
    { place: uri("urn:a"), t: number("9.5"), at: time("2026-01-01T00:00:00Z") },
  );
  const names = ["place", "t", "at", "note"];
  it("has columns of kinds", () => {
    expect(columnsOf(names, some, new Set())).toEqual({
      numbers: ["t"],
      times: ["at"],
      places: ["place"],
      things: ["place", "note"],
    });
    expect(columnsOf(["x"], rows({ x: uri("urn:room") }), new Set(["urn:room"])).places).toEqual(["x"]);
    expect(columnsOf(["x"], [], new Set()).numbers).toEqual([]);
  });
  it("is sorted by value, not by text, and grouped by place", () => {
    const by = (column: string, descending = false) => sorted(some, [{ column, descending }]).map(({ id }) => id);
    expect(by("t")).toEqual([0, 2, 1]);
    expect(by("t", true)).toEqual([1, 2, 0]);
    expect(by("note")).toEqual([1, 2, 0]);
    expect(groupedBy(some, "place").map(({ id }) => id)).toEqual([0, 2, 1]);
  });
  it("is one number where it is", () => {
    expect(oneNumber(["n"], rows({ n: number("3") }))?.column).toBe("n");
    expect(oneNumber(["n", "unit"], rows({ n: number("3"), unit: uri("urn:u") }))?.column).toBe("n");
    expect(oneNumber(["n", "m"], rows({ n: number("3"), m: number("4") }))).toBeNull();
    expect(oneNumber(["n"], rows({ n: uri("urn:x") }))).toBeNull();
    expect(oneNumber(["n"], rows({ n: number("3") }, { n: number("4") }))).toBeNull();
  });
  it("is lines over time, gaps where one has no value", () => {
    const all = lines(some, "at", "t", "place");
    expect(all.map(({ name, points }) => [name, points.map(([, value]) => value)])).toEqual([
      ["urn:a", [9.5, 2]],
      ["urn:b", [10]],
    ]);
    expect(aligned(all).map((each) => [...each])).toEqual([
      [1767225600, 1767225605, 1767225610],
      [9.5, null, 2],
      [null, 10, null],
    ]);
  });
  it("is a file, equal rows as often as they are", () => {
    const twice = [{ ...(some[0] as Shown), count: 2 }, { ...(some[1] as Shown), count: 0 }];
    expect(csv(["place", "t", "nothing"], twice)).toBe("place,t,nothing\r\nurn:a,2,\r\nurn:a,2,\r\n");
    expect(JSON.parse(json(["t"], twice)).results.bindings).toHaveLength(2);
    const hostile = rows({ a: { type: "literal", value: 'x","\ny' }, b: { type: "bnode", value: "b0" } });
    expect(csv(["a", "b"], hostile)).toBe('a,b\r\n"x"",""\ny",_:b0\r\n');
  });
});
