import { describe, expect, it } from "vitest";
import { type Actuator, byPlace, controlOf, truth } from "./actuators";
import { fromDevice, toDevice } from "./colour";
import { byActuator, commandTold, hasEnded, seconds, tookS } from "./commands";
import { commanding, type Rule, willCommand } from "./rules";

const LAMP: Actuator = {
  id: "urn:lamp",
  name: "lamp",
  property: "https://sosa-gateway.example/property/power_state",
  feature: "urn:hall",
  topic: "actuators/lamp/set",
  commandTopic: "zigbee2mqtt/lamp/set",
};

describe("the control that fits", () => {
  it.each([
    [{ values: ["ON", "OFF"] }, "switch"],
    [{ values: ["ON", "OFF", "TOGGLE"] }, "switch"],
    [{ values: ["auf", "zu"], trueValue: "auf", falseValue: "zu" }, "switch"],
    [{ values: ["heat", "cool"] }, "choice"],
    [{ values: ["low", "middle", "high"] }, "choice"],
    [{ values: ["OPEN", "CLOSE", "STOP"] }, "cover"],
    [{ values: ["open", "closed"] }, "switch"],
    [{ minimum: 5, maximum: 30 }, "slider"],
    [{ minimum: 0, maximum: 0 }, "number"],
    [{ step: 0.5 }, "number"],
    [{}, "switch"],
    [{ property: "https://sosa-gateway.example/property/color" }, "colour"],
    [{ property: "https://sosa-gateway.example/property/set_point" }, "number"],
    [{ property: "urn:message" }, "text"],
  ])("is for %j a %s", (said, kind) => {
    expect(controlOf({ ...LAMP, ...said } as Actuator).kind).toBe(kind);
  });

  it("has about a hundred steps where the device tells none", () => {
    expect(controlOf({ ...LAMP, minimum: 0, maximum: 255 })).toMatchObject({ step: 5 });
    expect(controlOf({ ...LAMP, minimum: 0, maximum: 1 })).toMatchObject({ step: 0.01 });
    expect(controlOf({ ...LAMP, minimum: 5, maximum: 30, step: 0.5 })).toMatchObject({ step: 0.5 });
  });

  it("knows what a word means, and that some mean nothing", () => {
    expect([truth("ON", LAMP), truth("off", LAMP), truth("", LAMP)]).toEqual([true, false, null]);
    expect(truth("auf", { ...LAMP, trueValue: "AUF" })).toBe(true);
  });
});

describe("colours", () => {
  it.each([
    ["hex", "#ff8000", "#ff8000"],
    ["rgb", "255,128,0", "#ff8000"],
    ["homie", "rgb,255,128,0", "#ff8000"],
    ["hsb", "30,100,100", "#ff8000"],
  ] as const)("are written as %s", (form, device, hex) => {
    expect(fromDevice(device, form)).toBe(hex);
    expect(toDevice(hex, form)).toBe(device);
  });

  it("are none where the device says something else", () => {
    expect(fromDevice("blue", "rgb")).toBe("");
  });
});

const uri = (value: string) => ({ type: "uri", value }) as const;
const at = (value: string) => ({ type: "literal", value }) as const;

describe("commands", () => {
  const row = {
    actuation: uri("urn:actuation/1"),
    actuator: uri("urn:lamp"),
    value: { type: "literal", value: "true", datatype: "http://www.w3.org/2001/XMLSchema#boolean" } as const,
    status: uri("https://sosa-gateway.example/ns#Sent"),
    requestedAt: at("2026-01-01T00:00:00Z"),
  };

  it("are told once, be they told by the graph and by the answer", () => {
    const told = { id: "1", status: "confirmed", endedAt: "2026-01-01T00:00:00.250Z", requestedAt: "2026-01-01T00:00:00Z" } as const;
    const [one, ...others] = byActuator([row], [commandTold(told, "urn:lamp", true, 0)]).get("urn:lamp") ?? [];
    expect(others).toEqual([]);
    expect(one).toMatchObject({ id: "urn:actuation/1", status: "confirmed", isOwn: true, value: true });
    expect(seconds(tookS(one!))).toBe("0.25 s");
  });

  it("are not made younger by an answer that comes late", () => {
    const ended = { ...row, status: uri("https://sosa-gateway.example/ns#Failed") };
    const [one] = byActuator([ended], [commandTold({ id: "1", status: "sent" }, "urn:lamp", true, 0)]).get("urn:lamp") ?? [];
    expect(one?.status).toBe("failed");
    expect(hasEnded(one!)).toBe(true);
  });

  it("come with the last first", () => {
    const later = { ...row, actuation: uri("urn:actuation/2"), requestedAt: at("2026-01-01T00:00:05Z") };
    expect(byActuator([row, later], []).get("urn:lamp")?.map(({ id }) => id)).toEqual(["urn:actuation/2", "urn:actuation/1"]);
  });
});

describe("rules and what waits", () => {
  const rule: Rule = { iri: "urn:r", name: "r", topic: "actuators/{device}/set", payload: "true", on: "added", query: "Q", text: "" };

  it("command by a template of the topic, or go past the actuations", () => {
    expect(commanding([rule], LAMP)).toEqual([{ rule, isStraight: false }]);
    expect(commanding([{ ...rule, topic: "zigbee2mqtt/lamp/set" }], LAMP)[0]?.isStraight).toBe(true);
    expect(commanding([{ ...rule, topic: "actuators/{a}/{b}/set" }], LAMP)).toEqual([]);
    expect(commanding([{ ...rule, topic: "actuators/lamp.set" }], LAMP)).toEqual([]);
  });

  it("say what an UPDATE will command", () => {
    const text = 'INSERT DATA { GRAPH <g> { <urn:a> sosa:madeByActuator <urn:lamp> ; sosa:hasSimpleResult "low" } }';
    expect(willCommand({ id: "1", due: "", sparql: text }, [LAMP])).toEqual({ actuator: LAMP, value: "low" });
    expect(willCommand({ id: "1", due: "", sparql: "DELETE WHERE { ?s ?p ?o }" }, [LAMP])).toBeNull();
  });
});

describe("places", () => {
  it("have what is searched for, by name", () => {
    const other = { ...LAMP, id: "urn:fan", name: "fan", feature: "urn:attic" };
    const named = (iri: string): string => iri.slice(4);
    expect(byPlace([LAMP, other], "", named, named).map(({ name }) => name)).toEqual(["attic", "hall"]);
    expect(byPlace([LAMP, other], "HALL", named, named).flatMap(({ actuators }) => actuators)).toEqual([LAMP]);
  });
});
