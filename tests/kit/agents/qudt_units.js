// The names of QUDT's units, one a line, for ontologies/qudt_units.txt:
//   npm install @qudtlib/allunits && NODE_PATH=node_modules node tests/kit/agents/qudt_units.js
"use strict";
const fs = require("node:fs");
const path = require("node:path");

const main = require.resolve("@qudtlib/allunits");
const { config } = require("@qudtlib/core");
require(main);
const manifest = path.join(main.split("/dist/")[0], "package.json");
const { version, license } = JSON.parse(fs.readFileSync(manifest, "utf8"));

const namespace = "http://qudt.org/vocab/unit/";
const names = [...config.units.keys()].map((iri) => iri.replace(namespace, "")).sort();
console.log(`# Names of the units of QUDT (${namespace}), as the npm package`);
console.log(`# @qudtlib/allunits ${version} (${license}) has them; made by qudt_units.js of the tests.`);
names.forEach((name) => console.log(name));
