/** Texts that make devices speak to this broker, ready to be copied. */

import type { Broker } from "./told";

export interface Login {
  name: string;
  secret: string;
}

export type Family = "zigbee2mqtt" | "tasmota" | "shelly" | "esphome" | "mosquitto";
export const FAMILIES: Family[] = ["zigbee2mqtt", "tasmota", "shelly", "esphome", "mosquitto"];

const LOOPBACK = /^(localhost|127\.|\[?::1\]?$)/;

/** Whether a name leads to the machine that asks for it. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

/**
 * The host that a device is told: the broker's own name; where it has all addresses, the one by
 * which this page was reached, or the machine's where that was the machine itself.
 */
export function hostOf(broker: Broker, page: string): string {
  if (broker.host) return broker.host;
  return isLoopback(page) ? broker.address || page : page;
}

export function address(broker: Broker, host: string): string {
  return `${broker.tls ? "mqtts" : "mqtt"}://${inUrl(host)}:${broker.port}`;
}

/** An IPv6 address stands in brackets. */
function inUrl(host: string): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}

/** YAML of a text that may hold anything. */
const quoted = (text: string): string => JSON.stringify(text);
/** A word of a shell. */
const word = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`);

const CA = "ca.crt";

const zigbee2mqtt = (broker: Broker, host: string, login: Login | null): string =>
  [
    "mqtt:",
    "  base_topic: zigbee2mqtt",
    `  server: ${quoted(address(broker, host))}`,
    ...(login ? [`  user: ${quoted(login.name)}`, `  password: ${quoted(login.secret)}`] : []),
    ...(broker.tls ? [`  ca: /opt/zigbee2mqtt/data/${CA}`] : []),
    "  version: 4",
    "advanced:",
    "  last_seen: ISO_8601",
  ].join("\n");

const tasmota = (broker: Broker, host: string, login: Login | null): string =>
  `Backlog ${[
    `MqttHost ${host}`,
    `MqttPort ${broker.port}`,
    ...(login ? [`MqttUser ${login.name}`, `MqttPassword ${login.secret}`] : []),
    ...(broker.tls ? ["SetOption103 1"] : []),
    "SetOption19 0",
    "TelePeriod 60",
  ].join("; ")}`;

function shelly(broker: Broker, host: string, login: Login | null): string {
  const config = {
    enable: true,
    server: `${inUrl(host)}:${broker.port}`,
    ...(login ? { user: login.name, pass: login.secret } : {}),
    ...(broker.tls ? { ssl_ca: "user_ca.pem" } : {}),
    rpc_ntf: true,
    status_ntf: true,
  };
  const body = JSON.stringify({ id: 1, method: "Mqtt.SetConfig", params: { config } });
  return [`curl -d ${word(body)} http://SHELLY/rpc`, "curl http://SHELLY/rpc/Shelly.Reboot"].join("\n");
}

const esphome = (broker: Broker, host: string, login: Login | null): string =>
  [
    "mqtt:",
    `  broker: ${quoted(host)}`,
    `  port: ${broker.port}`,
    ...(login ? [`  username: ${quoted(login.name)}`, `  password: ${quoted(login.secret)}`] : []),
    ...(broker.tls ? [`  certificate_authority: !include ${CA}`] : []),
    "  discovery: true",
  ].join("\n");

const mosquitto = (broker: Broker, host: string, login: Login | null): string =>
  [
    "mosquitto_pub",
    `-h ${word(host)}`,
    `-p ${broker.port}`,
    ...(broker.tls ? [`--cafile ${CA}`] : []),
    ...(login ? [`-u ${word(login.name)}`, `-P ${word(login.secret)}`] : []),
    "-q 1 -t kitchen/board -m '{\"temperature\": 21.5}'",
  ].join(" ");

const TEXTS: Record<Family, (broker: Broker, host: string, login: Login | null) => string> = {
  zigbee2mqtt,
  tasmota,
  shelly,
  esphome,
  mosquitto,
};

/** What is pasted into a device or its program; without a login where none is asked for. */
export function setup(family: Family, broker: Broker, host: string, login: Login | null): string {
  return TEXTS[family](broker, host, login);
}

/** Topics that a device of a family needs: what it may publish, what it may hear. */
export function rights(family: Family, name: string): { publish: string[]; receive: string[] } {
  switch (family) {
    case "zigbee2mqtt":
      return { publish: ["zigbee2mqtt/#", "homeassistant/#"], receive: ["zigbee2mqtt/#", "homeassistant/#"] };
    case "tasmota":
      return { publish: ["tele/#", "stat/#", "tasmota/#"], receive: ["cmnd/#", "tasmotas/#"] };
    case "shelly":
    case "esphome":
      return { publish: [`${name}/#`, ...(family === "esphome" ? ["homeassistant/#"] : [])], receive: [`${name}/#`] };
    default:
      return { publish: ["#"], receive: ["#"] };
  }
}

/** What the gateway's file needs so that devices elsewhere reach its broker. */
export const OPENED = ['[mqtt]', 'host = "0.0.0.0"', "", "[security]", "enabled = true", "", "[tls]", 'mode = "own"'].join("\n");
