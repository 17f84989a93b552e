import { describe, expect, it } from "vitest";
import { build, column, decimal, type Ground, lacking, type Question, suggested, term, usual } from "./question";
import { windowsOf } from "./lasting";
import cases from "./questions.json";

const UNIT = "http://qudt.org/vocab/unit/";
const P = "https://sosa-gateway.example/property/";

/** questions.json is what tests/gateway/dashboard/test_questions.py asks a store. */
describe("build", () => {
  it.each(cases.map((each) => [each.name, each] as const))("%s", (name, each) => {
    const question = each.question as Question;
    const text = build(question, each.ground as Ground, { sentence: name });
    expect(text.split("\n")).toEqual(each.text);
    expect(windowsOf(question)).toEqual(each.windows);
  });
});

const whole: Question = { kind: "above", property: `${P}temperature`, place: "", limit: "25", unit: "", count: 3, minutes: 10, people: "", over: "", span: 10 };

describe("what is chosen", () => {
  it.each([
    ["25", "25"],
    [" 25,5 ", "25.5"],
    ["-3", "-3"],
    [".5", "0.5"],
    ["+7", "7"],
    ["", null],
    ["1e3", null],
    ["25) . ?s ?p ?o", null],
    ["٢", null],
  ])("number %j", (typed, expected) => expect(decimal(typed)).toBe(expected));

  it("lacks what it lacks", () => {
    expect(lacking(whole)).toBeNull();
    expect(lacking({ ...whole, limit: "warm" })).toBe("limit");
    expect(lacking({ ...whole, property: "" })).toBe("property");
    expect(lacking({ ...whole, kind: "top", count: 0 })).toBe("count");
    expect(lacking({ ...whole, kind: "top", count: 1.5 })).toBe("count");
    expect(lacking({ ...whole, kind: "silent", property: "" })).toBeNull();
  });

  it("cannot end the IRI that it stands in", () => {
    expect(term("urn:a> . ?s ?p <urn:b")).toBe("<urn:a%3E%20.%20?s%20?p%20%3Curn:b>");
    expect(term(`${P}temperature`)).toBe("property:temperature");
    expect(term(`${P}a/b`)).toBe(`<${P}a/b>`);
  });

  it("cannot end the comment that it stands in", () => {
    const text = build(whole, { presence: [], hasUnits: false, keepsMore: false }, { sentence: "a\nDROP ALL\r#" });
    expect(text.split("\n").filter((line) => line.includes("DROP"))).toEqual(["# a DROP ALL #"]);
  });

  it("names its column", () => {
    expect(column(`${P}temperature`)).toBe("temperature");
    expect(column("urn:p:1-µg")).toBe("_1__g");
    expect(column(`${P}unit`)).toBe("value");
  });

  it("begins with what is usual", () => {
    expect(usual([`${UNIT}W`, `${UNIT}KiloW`, `${UNIT}W`])).toBe(`${UNIT}W`);
    expect(usual([])).toBe("");
    expect(suggested(`${P}temperature`, `${UNIT}DEG_F`)).toBe("77");
    expect(suggested(`${P}temperature`, `${UNIT}W`)).toBe("");
    expect(suggested("urn:mine", `${UNIT}W`)).toBe("");
  });
});
