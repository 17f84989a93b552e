// What zigbee2mqtt's own package of converters knows: one line of JSON for each device definition,
// with the `exposes` that zigbee2mqtt puts into the list of devices (bridge/devices).
"use strict";
const fs = require("node:fs");
const path = require("node:path");

const converters = require("zigbee-herdsman-converters");
const folder = path.join(
  path.dirname(require.resolve("zigbee-herdsman-converters")),
  "devices",
);

function exposesOf(definition) {
  const exposes = definition.exposes;
  return typeof exposes === "function" ? exposes({ isDummyDevice: true }, {}) : exposes;
}

for (const file of fs.readdirSync(folder).sort()) {
  if (!file.endsWith(".js")) continue;
  for (const raw of require(path.join(folder, file)).definitions ?? []) {
    const { vendor, model, ...rest } = converters.prepareDefinition(raw);
    const line = JSON.stringify({ vendor, model, exposes: exposesOf(rest) });
    fs.writeSync(1, `${line}\n`);
  }
}
