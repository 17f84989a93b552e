import { describe, expect, it } from "vitest";
import { alike, answerMembers, commonFilter, deviceName, devices, partName, questionOf, unclaimed, widened } from "./things";
import type { Proposal, UnknownTopic } from "./told";

function proposal(device: string, label: string, more: Partial<Proposal> = {}): Proposal {
  return {
    id: label,
    status: "proposed",
    family: "zigbee2mqtt",
    device,
    label,
    proposedAt: "",
    mapping: {},
    known: true,
    kind: "measurement",
    ...more,
  };
}

function topic(name: string, selectors: string[], family = "json"): UnknownTopic {
  const guesses = selectors.map((selector) => ({ id: selector, mapping: { selector }, known: false, kind: "state" }));
  return { topic: name, count: 2, first: "", last: name, family, guesses };
}

describe("devices", () => {
  it("are called as they call themselves, or by what their labels share", () => {
    expect(deviceName([proposal("kitchen window", "kitchen window battery")])).toBe("kitchen window");
    expect(deviceName([proposal("a4", "hallway lamp"), proposal("a4", "hallway water")])).toBe("hallway");
    expect(deviceName([proposal("A0", "A0 ENERGY.Power"), proposal("A0", "fridge POWER")])).toBe("fridge");
    expect(deviceName([proposal("a4", "lamp")])).toBe("a4");
  });

  it("have their open parts together, and each part its own word", () => {
    const [first, second, ...none] = devices(
      [proposal("b", "b power"), proposal("a", "a power"), proposal("b", "b energy", { status: "rejected" })],
      (status) => status === "proposed",
    );
    expect([first?.name, second?.parts.length, none.length]).toEqual(["a", 1, 0]);
    expect(partName("b", { label: "b power" })).toBe("power");
    expect(partName("b", { label: "b" })).toBe("b");
  });
});

describe("questions", () => {
  it("are answered by a unit, a yes, the right words, or in the editor", () => {
    const asks = (question: string) => questionOf({ question })?.asks;
    expect(asks("In which unit? ESPHome does not say.")).toBe("unit");
    expect(asks("unit_of_measurement: Which QUDT unit is 'pulses/min'?")).toBe("unit");
    expect(asks("Is this a measured value, in this unit, and of what?")).toBe("yes");
    expect(asks("Is it open when it says 'ON'?")).toBe("words");
    expect(asks("Which property is temp? 'W' is no unit of temperature.")).toBe("editor");
    expect(questionOf({ question: "", error: "selector: no" })?.asks).toBe("editor");
    expect(questionOf({})).toBeNull();
  });

  it("turn into members of the mapping", () => {
    expect(answerMembers({ text: "", asks: "unit" }, "°F", {})).toEqual({ unit: "°F" });
    const words = { trueValue: "ON", falseValue: "OFF" };
    expect(answerMembers({ text: "", asks: "words" }, "no", words)).toEqual({ trueValue: "OFF", falseValue: "ON" });
    expect(answerMembers({ text: "", asks: "words" }, "yes", words)).toEqual({});
  });
});

describe("unknown topics", () => {
  it("that look alike are one group with the filter that has them all", () => {
    const groups = alike([
      topic("home/a/meter", ["$.w"]),
      topic("home/b/meter", ["$.w"]),
      topic("home/b/other", ["$.w"]),
      topic("pump", ["$.w"]),
      topic("home/c/meter", ["$.w", "$.v"]),
    ]);
    expect(groups.map(({ filter, topics }) => [filter, topics.length])).toEqual([
      ["home/+/meter", 2],
      ["home/b/other", 1],
      ["pump", 1],
      ["home/c/meter", 1],
    ]);
    expect(groups[0]?.count).toBe(4);
    expect(commonFilter(["a/b", "a/b"])).toBe("a/b");
  });

  it("a thousand of them are grouped at once", () => {
    const many = Array.from({ length: 1000 }, (_, index) => topic(`site/${index}/power`, ["$.w"]));
    expect(alike(many)).toHaveLength(1);
  });

  it("are not shown where a device that waits speaks for them, last where they are read in part", () => {
    const proposals = [proposal("a", "a", { mapping: { topic: "z/a" } }), proposal("b", "b", { status: "confirmed", mapping: { topic: "z/b" } })];
    const left = unclaimed([topic("z/a", []), topic("z/b", []), topic("z/c", [])], proposals, [{ topic: "+/b" }]);
    expect(left.map((each) => each.topic)).toEqual(["z/c", "z/b"]);
  });

  it("give one mapping for all, whose IRIs say which", () => {
    const guess = { id: "urn:1", topic: "home/a/meter", sensor: "urn:s/home%2Fa%2Fmeter/w", feature: "urn:f" };
    expect(widened(guess, "home/a/meter", "home/+/meter")).toEqual({
      topic: "home/+/meter",
      sensor: "urn:s/{1}/w",
      feature: "urn:f",
    });
  });
});
