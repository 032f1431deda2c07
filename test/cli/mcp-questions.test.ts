// Asks the fifty questions over MCP. Those that the data can answer are answered correctly, and the
// others are not answered.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMockModel } from '../../src/llm/index.ts';
import { type ModelStandIn, says, startModel } from '../http/model-stand-in.ts';
import { send, startServer, type TestServer } from '../http/support.ts';
import { ANSWERABLE, CALLED, NOT_ANSWERABLE } from '../rag/fifty-questions.ts';
import { expectRight, fillFifty, HAS_MAILS, MODES, tagsIn } from '../rag/fifty-world.ts';
import { beginHere, type Session } from './mcp-session.ts';

let model: ModelStandIn;
let server: TestServer;
let session: Session;
beforeAll(async () => {
  model = await startModel();
  // The tool `ask` uses the model that the service is configured with. In this test, that model
  // answers like the built-in one.
  const builtIn = createMockModel();
  model.answer = (response, asked) => {
    const { messages } = JSON.parse(asked.body) as { messages: { role: string; content: string }[] };
    const [system, user] = ['system', 'user'].map((role) => messages.find((one) => one.role === role)?.content ?? '');
    void builtIn.complete({ system: system!, user: user! }).then(({ text }) => says(text)(response, asked));
  };
  server = await startServer({ auth: true, maxMembers: 255, modelBaseUrl: model.baseUrl, modelHosts: ['127.0.0.1'] });
  await fillFifty(server.database);
  const stored = await send(server, 'POST', '/v1/rules', CALLED, { 'x-api-key': server.keys.admin });
  expect(stored.status).toBe(200);
  session = await beginHere({ url: server.url, apiKey: server.keys.readonly });
});
afterAll(async () => {
  await session?.client.close();
  await server?.close();
  await model?.close();
});

async function asked(tool: string, given: Record<string, unknown>) {
  const { value, text, isError } = await session.call(tool, given);
  expect([isError, isError ? text : '']).toEqual([false, '']);
  return value;
}

describe.each(ANSWERABLE)('$question', (right) => {
  it.skipIf(right.table === 'mails' && !HAS_MAILS).each(MODES)('is answered correctly in mode %s', async (mode) => {
    const answered = await asked('ask', { query: right.question, table: right.table, mode });
    const cited = answered.cited_edges.map(({ edge_id }: { edge_id: number }) => edge_id);
    // The best edge is also cited, before all others.
    expectRight(right, { ...answered, found: answered.cited_edges }, cited);
    expect(new Set(tagsIn(answered.answer))).toEqual(new Set(cited));
  });
});

describe.each(NOT_ANSWERABLE)('%s', (query) => {
  it.each(MODES)('is not answered in mode %s', async (mode) => {
    const answered = await asked('ask', { query, table: 'calls', mode });
    expect(answered).toMatchObject({
      abstained: true,
      computed_by: null,
      derived_facts: [],
      cited_edges: [],
      confidence: 0,
      firewall: { outcome: 'abstained' },
    });
    expect(answered.answer).not.toMatch(/HEDGE|STEP|RULE|called/);
  });
});
