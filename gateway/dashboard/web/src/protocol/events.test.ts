import { describe, expect, it } from "vitest";
import { EventParser } from "./events";

describe("a stream of events", () => {
  it.each([
    ["whole", ['data: {"a":1}\n\n', 'data: {"a":2}\n\n']],
    ["torn anywhere", ['da', 'ta: {"a"', ":1}", "\n", '\ndata: {"a":2}\n\n']],
    ["with carriage returns that are torn", ['data: {"a":1}\r', '\n\r', '\ndata: {"a":2}\r\n\r\n']],
    ["with comments, names and ids between", [': hello\n\nid: 1\nevent: flow\ndata: {"a":1}\n\nretry: 5\ndata:{"a":2}\n\n']],
  ])("is read where it is %s", (_, parts) => {
    const parser = new EventParser();
    const found = parts.flatMap((part) => parser.push(part));
    expect(found.map((data) => JSON.parse(data))).toEqual([{ a: 1 }, { a: 2 }]);
  });

  it("joins the lines of one event, and tells none that has not ended", () => {
    const parser = new EventParser();
    expect(parser.push("data: [1,\ndata: 2]\n")).toEqual([]);
    expect(parser.push("\n")).toEqual(["[1,\n2]"]);
  });
});
