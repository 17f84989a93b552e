import { describe, expect, it } from "vitest";
import { bare, completed, declared, form, missing, ordering, place, span, variables, wrong } from "./text";

describe("form", () => {
  it.each([
    ["SELECT * { ?s ?p ?o }", "SELECT"],
    ["# ASK\nPREFIX ask: <urn:ask#> \n select ?s { ?s ask:x 1 }", "SELECT"],
    ["BASE <urn:select> ASK {}", "ASK"],
    ["PREFIX a: <urn:a#>\nINSERT DATA { <urn:a> a:b 1 }", "UPDATE"],
    ["PREFIX delete: <urn:a#> DESCRIBE delete:x", "DESCRIBE"],
    ["with <urn:g> delete { ?s ?p ?o } where { ?s ?p ?o }", "UPDATE"],
    ["CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }", "CONSTRUCT"],
    ["", ""],
    ["SELEC * {}", ""],
  ])("%s", (text, expected) => expect(form(text)).toBe(expected));
});

describe("prefixes", () => {
  it("are added where they are used, not declared, and well known", () => {
    const text = 'SELECT ?x { ?x sosa:observes gw:a ; my:b "xsd:no" ; <http://rdf:80/> 1 } # unit:W';
    expect(missing(text)).toBe(
      "PREFIX sosa: <http://www.w3.org/ns/sosa/>\nPREFIX gw: <https://sosa-gateway.example/ns#>\n",
    );
    expect(missing(completed(text))).toBe("");
  });
  it("are seen however they are written", () => {
    expect([...declared("prefix a: <urn:a> PREFIX   b-c: <urn:b> PREFIX : <urn:c>")]).toEqual(["a", "b-c", ""]);
  });
  it("are not mistaken in variables and graph IRIs", () => {
    expect(missing("SELECT ?gw { GRAPH <urn:gw:x> { ?gw a owl:Thing } }")).toBe(
      "PREFIX owl: <http://www.w3.org/2002/07/owl#>\n",
    );
  });
});

describe("bare", () => {
  it("keeps every character where it was", () => {
    const text = "SELECT '\\'#' <urn:#a> # c\n \"\"\"a\n\"b\"\"\" ?x";
    expect(bare(text)).toHaveLength(text.length);
    expect(bare(text).split("\n")).toHaveLength(3);
    expect(variables("SELECT ?a $b '?c' # ?d\n { ?a ?p ?b }")).toEqual(["a", "b", "p"]);
  });
});

describe("errors of the gateway", () => {
  const told = "found ')', expected an expression at line 3, column 13 (correct the SPARQL text)";
  it("have a place and a reason", () => {
    expect(place(told)).toEqual({ line: 3, column: 13 });
    expect(wrong(told)).toBe("found ')', expected an expression");
    expect(place("too many rows")).toBeNull();
  });
  it.each([
    ["SELECT *\n{ ?s foo:bar ?o }", { line: 2, column: 6 }, "foo:bar"],
    ["SELECT ?x { FILTER(?x >) }", { line: 1, column: 24 }, ")"],
    ["ASK { ?s a 1 \n\n", { line: 3, column: 1 }, "1"],
    ["ASK", { line: 9, column: 9 }, "K"],
  ])("%s", (text, at, expected) => {
    const [from, to] = span(text, at);
    expect(text.slice(from, to)).toBe(expected);
  });
});

describe("ordering", () => {
  it.each([
    ["SELECT ?a { } ORDER BY DESC(?a) ?b LIMIT 3", [["a", true], ["b", false]]],
    ["SELECT ?a { } ORDER BY ?a", [["a", false]]],
    ["SELECT ?a { } ORDER BY (?a + 1)", []],
    ["SELECT ?a { { SELECT ?a { } ORDER BY ?a LIMIT 1 } }", []],
    ["SELECT ?a { }", []],
  ])("%s", (text, expected) => {
    expect(ordering(text).map(({ column, descending }) => [column, descending])).toEqual(expected);
  });
});
