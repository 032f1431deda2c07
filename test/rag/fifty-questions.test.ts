// Asks fifty questions over HTTP, in the three modes, with the mock model. Questions that the data
// answers must be answered correctly, and the others must not be answered.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { send, startServer, type TestServer } from '../http/support.ts';
import { ANSWERABLE, CALLED, NOT_ANSWERABLE } from './fifty-questions.ts';
import { expectRight, fillFifty, HAS_MAILS, MODES, tagsIn } from './fifty-world.ts';
import { insert } from './retrieval-world.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ maxMembers: 255 });
  await fillFifty(server.database);
});
afterAll(() => server.close());

async function asked(path: string, body: object) {
  const { status, json } = await send(server, 'POST', path, { rules: [CALLED], ...body });
  expect([status, json.detail]).toEqual([200, undefined]);
  return json;
}

describe('questions that the data answers', () => {
  it('are half of the fifty questions', () => {
    expect([ANSWERABLE.length, NOT_ANSWERABLE.length]).toEqual([25, 25]);
  });

  describe.each(ANSWERABLE)('$question', (right) => {
    it.skipIf(right.table === 'mails' && !HAS_MAILS).each(MODES)('is answered correctly in mode %s', async (mode) => {
      const { question: query, table } = right;
      const answered = await asked('/v1/rag/query', { query, table, mode, mock: true });
      const cited = answered.cited_edges.map(({ edge_id }: { edge_id: number }) => edge_id);
      expectRight(right, { ...answered, found: answered.all_edges }, cited);
      expect(new Set(tagsIn(answered.answer))).toEqual(new Set(cited));
      expect(answered.confidence).toBe(1);
      // Running the statement that the answer names must give the same answer.
      if (right.computed?.includes('COUNT') || right.computed === 'ORDER BY') {
        const again = await send(server, 'POST', '/v1/query', { query: answered.computed_by });
        expect([again.status, again.json.rows.length]).toEqual([200, 1]);
        const { count, id } = again.json.rows[0];
        expect(answered.answer).toContain(count === undefined ? `[HEDGE-${id}]` : String(count));
      }
    });

    it.skipIf(right.table === 'mails' && !HAS_MAILS)('is answered correctly by /v1/reason', async () => {
      const { question: query, table } = right;
      const answered = await asked('/v1/reason', { query, table });
      expectRight(right, { ...answered, found: answered.all_edges }, tagsIn(answered.answer));
    });
  });
});

describe('questions that the data does not answer', () => {
  describe.each(NOT_ANSWERABLE)('%s', (query) => {
    it.each(MODES)('is not answered in mode %s', async (mode) => {
      const answered = await asked('/v1/rag/query', { query, table: 'calls', mode, mock: true });
      expect(answered).toMatchObject({
        abstained: true,
        computed_by: null,
        derived_facts: [],
        proofs: [],
        rules_fired: [],
        cited_edges: [],
        confidence: 0,
        firewall: { outcome: 'abstained', supported_count: 0 },
      });
      expect(answered.answer).not.toMatch(/HEDGE|STEP|RULE|called/);
    });

    it('is not answered by /v1/reason', async () => {
      const answered = await asked('/v1/reason', { query, table: 'calls' });
      expect(answered).toMatchObject({ abstained: true, derived_facts: [], proofs: [], computed_by: null });
    });
  });
});

describe('a count of edges with a word', () => {
  it('uses CONTAINS if many texts have the word, and lists the texts, whatever their case, if few have it', async () => {
    await server.database.createTable({ name: 'visits', columns: [{ name: 'note', type: 'TEXT' }] });
    const notes = Array.from({ length: 300 }, (_, at) => `visit ${at} to the ${at % 3 === 0 ? 'garden' : 'museum'}`);
    const edges = [...notes, 'Harbour Tour', 'harbour tour'].map((note, at) => ({
      event_ts: at,
      members: [at % 5],
      properties: { note },
    }));
    await insert(server.database.table('visits'), edges);
    const count = async (query: string) => {
      const { answer, computed_by } = await asked('/v1/rag/query', { query, table: 'visits', mode: 'symbolic' });
      const { json } = await send(server, 'POST', '/v1/query', { query: computed_by });
      expect(answer).toMatch(new RegExp(`^${json.rows[0].count} `));
      return [json.rows[0].count, computed_by.replace(/^.*WHERE | RETURN.*$/g, '')];
    };
    expect(await count('How often was the museum seen?')).toEqual([200, "e.note CONTAINS 'museum'"]);
    expect(await count('How often was there a tour?')).toEqual([2, "e.note IN ['Harbour Tour', 'harbour tour']"]);
    expect((await count('How often was the garden seen?'))[0]).toBe(100);
  });
});

describe('a count about a person or thing that the data does not contain', () => {
  const count = async (query: string) => {
    const { answer, abstained, understood } = await asked('/v1/rag/query', { query, table: 'dates', mode: 'symbolic' });
    const reasons = understood.ignored.map(({ reason }: { reason: string }) => reason);
    return abstained ? reasons : Number(/^\d+/.exec(answer)?.[0]);
  };

  it('is not given for part of a name, an unknown name or another month', async () => {
    await server.database.createTable({ name: 'dates', columns: [{ name: 'room', type: 'TEXT' }] });
    await server.database.createTable({ name: 'dates_nodes', columns: [{ name: 'vertex', type: 'TEXT' }] });
    const names = ['Anna Müller', 'Anna Schulz', 'Jörg Weiß'];
    const nodes = names.map((vertex, at) => ({ event_ts: 0, members: [at + 1], properties: { vertex } }));
    await insert(server.database.table('dates_nodes'), nodes);
    const day = (month: number, date: number) => Date.UTC(2024, month - 1, date, 9) / 1000;
    const edges = Array.from({ length: 60 }, (_, at) => ({
      event_ts: day(2 + (at % 3), 1 + (at % 20)),
      members: at % 2 === 0 ? [1, 3] : [2, 3],
      properties: { room: at % 5 === 0 ? 'Küche' : 'Saal' },
    }));
    await insert(server.database.table('dates'), edges);
    const among = (test: (edge: (typeof edges)[0]) => boolean) => edges.filter(test).length;
    const inMarch = ({ event_ts }: { event_ts: number }) =>
      event_ts >= day(3, 1) - 86_400 && event_ts < day(4, 1) - 40_000;
    expect(await count('How many meetings did Anna have in March 2024?')).toEqual([
      'It is part of names: Anna Müller, Anna Schulz. Give the full name.',
    ]);
    expect(await count('How many meetings did Eve have in March 2024?')).toEqual([expect.stringContaining('No node')]);
    expect(await count('How many meetings were in February or March 2024?')).toContain(
      'A question has one window of time; the first one counts.',
    );
    expect(await count('How many meetings did Anna Müller have in March 2024?')).toBe(
      among((edge) => inMarch(edge) && edge.members.includes(1)),
    );
    expect(await count('How many meetings were in the Küche in March 2024?')).toBe(
      among((edge) => inMarch(edge) && edge.properties.room === 'Küche'),
    );
    const firstWeek = among(({ event_ts }) => event_ts >= day(4, 1) - 86_400 && event_ts < day(4, 8) - 40_000);
    expect(await count('How many meetings were there from 1 to 7 April 2024?')).toBe(firstWeek);
    expect(await count('How many meetings were there between April 1 and 7, 2024?')).toBe(firstWeek);
    expect(await count('How many meetings were there in the week of 3 April 2024?')).toBe(firstWeek);
  });
});

describe('the understood question', () => {
  const ignored = async (query: string) => {
    const answered = await asked('/v1/rag/query', { query, table: 'calls', mode: 'symbolic' });
    const { json } = await send(server, 'GET', `/v1/rag/parse?table=calls&query=${encodeURIComponent(query)}`);
    expect(json.ignored).toEqual(answered.understood.ignored);
    return answered.understood.ignored.map(({ text }: { text: string }) => text);
  };

  it('lists as ignored every word that has no meaning for the table', async () => {
    expect(await ignored('What is the capital of France?')).toEqual(['capital', 'France']);
    expect(await ignored('Who are you?')).toEqual(['Who', 'are', 'you']);
    expect(await ignored('What did node 999 do?')).toEqual(['node 999']);
    expect(await ignored('Did Ken speak in May 2024?')).toEqual(['speak']);
    expect(await ignored('calls about kernels and penguins')).toEqual(['penguins']);
    expect(await ignored('Whom did Ada call?')).toEqual([]);
  });

  it('ignores a relative window without edges, but keeps the window of a date with a year', async () => {
    expect(await ignored('What did Ada do yesterday?')).toEqual(['yesterday']);
    expect(await ignored('What did Ada do 4 years ago?')).toEqual(['4 years ago']);
    expect(await ignored('What did Ada do in December?')).toEqual(['in December']);
    expect(await ignored('What did Ada do in December 2020?')).toEqual([]);
    const { json } = await send(server, 'GET', '/v1/rag/parse?table=calls&query=Ada%20in%20December%202020');
    expect(json.window).toEqual({ start_ts: Date.UTC(2020, 11, 1) / 1000, end_ts: Date.UTC(2021, 0, 1) / 1000 - 1 });
  });

  it('limits the derived facts to those about a named node', async () => {
    const { derived_facts } = await asked('/v1/reason', { query: 'whom did node 103 call?', table: 'calls' });
    const facts = derived_facts.map(({ fact, step_tag }: { fact: string; step_tag: string }) => `${step_tag} ${fact}`);
    expect(facts).toEqual(['STEP-1 called(101, 103)', 'STEP-2 called(102, 103)', 'STEP-3 called(103, 105)']);
  });
});
