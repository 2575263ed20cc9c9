// Plays the compiled calls.ts against a server: run.mjs URL PACKAGE
import { readFileSync } from "node:fs";
import createClient from "openapi-fetch";
import { story } from "./out/calls.js";

const [url, file] = process.argv.slice(2);
const variables = new Map();
const at = (value, pointer) => pointer.split("/").slice(1).reduce((inner, part) => inner?.[part], value);
const tools = {
  package: new Uint8Array(readFileSync(file)),
  kept: name => variables.get(name),
  done: (operation, status, { response, data, error }, keep) => {
    if (response.status !== status)
      throw new Error(`${operation}: got ${response.status}, not ${status}: ${JSON.stringify(data ?? error)}`);
    for (const [name, pointer] of Object.entries(keep)) variables.set(name, at(data, pointer));
  },
};
await story(createClient({ baseUrl: url }), tools);
console.log("every operation called");
