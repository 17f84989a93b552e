import { describe, expect, it } from "vitest";
import { type Row, XSD } from "../../protocol/terms";
import { LiveTable, MARKED_MS, type Told } from "./table";

const room = (name: string, degrees?: number): Row => ({
  room: { type: "uri", value: `urn:${name}` },
  ...(degrees === undefined ? {} : { t: { type: "literal", value: String(degrees), datatype: `${XSD}decimal` } }),
});

function told(added: Row[], removed: Row[] = [], sequence = 1): Told {
  return { first: sequence === 0, sequence, time: 1000 * sequence, added, removed };
}

function seen(table: LiveTable): string[] {
  return [...table.rows.values()].map((each) => {
    const value = each.row.t?.value ?? "";
    return `${each.row.room?.value.slice(4)}${value} ${each.count} ${each.mark}`.trim();
  });
}

describe("LiveTable", () => {
  it("marks what came and what went, and forgets what went after two seconds", () => {
    const table = new LiveTable();
    table.take(told([room("a"), room("b")], [], 0), 0);
    expect(seen(table)).toEqual(["a 1", "b 1"]);
    table.take(told([room("c")], [room("a")]), 100);
    expect(seen(table)).toEqual(["a 0 went", "b 1", "c 1 came"]);
    expect(table.total).toBe(2);
    expect(table.sweep(100 + MARKED_MS - 1)).toBe(false);
    expect(table.sweep(100 + MARKED_MS)).toBe(true);
    expect(seen(table)).toEqual(["b 1", "c 1"]);
  });

  it("changes a row in its place where only its values have changed", () => {
    const table = new LiveTable();
    table.take(told([room("a", 1), room("b", 2)], [], 0), 0);
    table.take(told([room("a", 3)], [room("a", 1)]), 0);
    expect(seen(table)).toEqual(["a3 1 changed", "b2 1"]);
    expect([...table.rows.values()][0]?.changed).toEqual(["t"]);
    table.take(told([], [room("a", 3)]), 10);
    expect(seen(table)).toEqual(["a3 0 went", "b2 1"]);
  });

  it("takes two rows about the same thing as what they are: rows", () => {
    const table = new LiveTable();
    table.take(told([room("a", 1), room("a", 2)], [], 0), 0);
    table.take(told([room("a", 3)], [room("a", 1), room("a", 2)]), 0);
    expect(seen(table)).toEqual(["a1 0 went", "a2 0 went", "a3 1 came"]);
  });

  it("counts equal rows: an answer is a bag", () => {
    const table = new LiveTable();
    table.take(told([room("a"), room("a")], [], 0), 0);
    expect(seen(table)).toEqual(["a 2"]);
    table.take(told([room("a")], []), 0);
    expect(table.total).toBe(3);
    table.take(told([], [room("a"), room("a")]), 0);
    expect(table.total).toBe(1);
    table.take(told([], [room("a"), room("a"), room("nobody")]), 0);
    expect(table.total).toBe(0);
  });

  it("brings back what had just gone", () => {
    const table = new LiveTable();
    table.take(told([room("a")], [], 0), 0);
    table.take(told([], [room("a")]), 0);
    table.take(told([room("a")], []), 10);
    expect(table.total).toBe(1);
    table.sweep(MARKED_MS + 10);
    expect(seen(table)).toEqual(["a 1"]);
  });

  it("begins anew with a first answer", () => {
    const table = new LiveTable();
    table.take(told([room("a")], [], 0), 0);
    table.take(told([room("b")], [], 0), 0);
    expect(seen(table)).toEqual(["b 1"]);
  });

  it("keeps the last 200 notifications, newest first", () => {
    const table = new LiveTable();
    for (let at = 0; at < 250; at += 1) table.take(told([room(`r${at}`)], [], at), at);
    expect(table.notes).toHaveLength(200);
    expect(table.notes[0]).toMatchObject({ sequence: 249, added: 1, removed: 0 });
    expect(table.notes[0]?.rows).toHaveLength(1);
  });

  it("equals the bag of all changes, whatever they were", () => {
    const table = new LiveTable();
    const bag = new Map<string, number>();
    let random = 7;
    const next = (below: number): number => {
      random = (random * 1103515245 + 12345) % 2147483648;
      return random % below;
    };
    table.take(told([], [], 0), 0);
    for (let turn = 1; turn < 500; turn += 1) {
      const removed: Row[] = [];
      const added: Row[] = [];
      for (let at = next(4); at > 0; at -= 1) {
        const row = room(`r${next(3)}`, next(3));
        const key = `${row.room?.value} ${row.t?.value}`;
        if (next(2) === 0 && (bag.get(key) ?? 0) > 0) {
          removed.push(row);
          bag.set(key, (bag.get(key) ?? 0) - 1);
        } else if (!removed.some((each) => each.t?.value === row.t?.value && each.room?.value === row.room?.value)) {
          added.push(row);
          bag.set(key, (bag.get(key) ?? 0) + 1);
        }
      }
      table.take(told(added, removed, turn), turn * 100);
      table.sweep(turn * 100);
    }
    const shown = new Map<string, number>();
    for (const { row, count } of table.rows.values()) {
      const key = `${row.room?.value} ${row.t?.value}`;
      shown.set(key, (shown.get(key) ?? 0) + count);
    }
    const counted = (map: Map<string, number>): string[] => [...map].filter(([, n]) => n > 0).map(String).sort();
    expect(counted(shown)).toEqual(counted(bag));
  });
});
