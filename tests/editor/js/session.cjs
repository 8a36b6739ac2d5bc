// One whole session by the client that VS Code's own adapters are tested with:
//   node session.cjs RELAY ADAPTER|PORT '{"program": …, "breakpoint": …, "local": …, …}'
// ADAPTER is a command of `relay` that speaks DAP on stdio. Exits with 0 if all is as told.

"use strict";

const assert = require("node:assert");
const { DebugClient } = require("@vscode/debugadapter-testsupport");

async function main(relay, how, told) {
  const port = /^\d+$/.test(how) ? Number(how) : undefined;
  const client = new DebugClient(relay, how, "relay", { cwd: told.cwd });
  client.defaultTimeout = 60000;
  await client.start(port);

  const place = { path: told.program, line: told.breakpoint };
  if (told.attach) {
    await client.initializeRequest();
    await Promise.all([
      client.attachRequest(told.attach),
      client.waitForEvent("initialized").then(() => client.configurationDoneRequest()),
      client.assertStoppedLocation("breakpoint", place),
    ]);
  } else {
    await client.hitBreakpoint({ program: told.program, cwd: told.cwd }, place);
  }

  const { threads } = (await client.threadsRequest()).body;
  const threadId = threads[0].id;
  const { stackFrames } = (await client.stackTraceRequest({ threadId })).body;
  assert.strictEqual(stackFrames[0].line, told.breakpoint);
  const { scopes } = (await client.scopesRequest({ frameId: stackFrames[0].id })).body;
  const reference = { variablesReference: scopes[0].variablesReference };
  const { variables } = (await client.variablesRequest(reference)).body;
  const found = variables.find((variable) => variable.name === told.local);
  assert.strictEqual(found.value, told.value);
  const asked = { expression: told.expression, frameId: stackFrames[0].id, context: "watch" };
  assert.strictEqual((await client.evaluateRequest(asked)).body.result, told.result);

  await Promise.all([client.stepInRequest({ threadId }), client.waitForEvent("stopped")]);
  await client.setBreakpointsRequest({ source: { path: told.program }, breakpoints: [] });
  if (!told.attach) {
    await Promise.all([
      client.assertOutput("stdout", told.output, 60000),
      client.waitForEvent("terminated"),
      client.continueRequest({ threadId }),
    ]);
  }
  await client.stop();
}

const [relay, how, told] = process.argv.slice(2);
main(relay, how, JSON.parse(told)).then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
