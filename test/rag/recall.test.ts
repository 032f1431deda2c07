// Compares what is recalled from random memories with a naive fusion of all of them: at random
// times, with names and words in the question, and with nodes by role.

import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import { EmbeddedStatements } from '../../src/query/index.ts';
import { MemberKeys, recallEdges } from '../../src/rag/index.ts';
import { finish } from '../../src/schedule/steps.ts';
import { Random } from '../support/random.ts';
import { openSim, rowsOf, simDisk } from '../support/sim-engine.ts';
import { naiveFusion } from './naive-fusion.ts';
import type { PlainRow } from './naive-retrieval.ts';
import { FIRST_TS, insert, pick } from './retrieval-world.ts';

const QUESTIONS = Number(process.env.HEDGEROW_RETRIEVALS ?? 10);
const WORDS = 'harbour budget storm lantern violin orchard ferry swam bought buy award'.split(' ');
/** Forms that the tables of irregular forms and kinds of things have for these words. */
const FORMS = {
  swam: ['swim', 'swum'],
  buy: ['bought'],
  bought: ['buy'],
  award: ['prize', 'medal', 'trophy', 'won', 'ribbon'],
};
const NAMES = ['Ada', 'Grace', 'Ken', 'Mallory', 'Zoe'];

async function compare(seed: number, count: number): Promise<void> {
  const random = new Random(seed);
  const disk = simDisk(seed);
  const options = { core: 'release', segmentRows: 16 } as const;
  let database: Database = await openSim(disk, options);
  const statements = new EmbeddedStatements({ database });
  await statements.run('CREATE NODE TABLE things (name TEXT)');
  await statements.run('CREATE HYPEREDGE TABLE said (things) ROLES (who, about) INTERVALS PROPERTIES (what TEXT)');
  await statements.run('CREATE TEXT INDEX ON said (what) LANGUAGE english');
  const seconds = 3 * count;
  const memory = () => {
    const event_ts = FIRST_TS + random.below(seconds);
    const some = () => NAMES.filter(() => random.chance(0.25));
    const who = some();
    return {
      event_ts,
      members: [],
      roles: { who: who.length === 0 ? [pick(random, NAMES)] : who, about: some() },
      properties: {
        what: Array.from({ length: random.below(6) }, () =>
          pick(random, [...WORDS, 'swimming', 'medals', 'won', 'sixteen', '1987', 'Ada', 'Grace', 'really?', 'your']),
        ).join(' '),
        end_ts: random.chance(0.5) ? null : event_ts + random.below(seconds),
      },
    };
  };
  const visit = (state: string) => {
    for (let i = 0; i < QUESTIONS; i++)
      expectSame(database, random, FIRST_TS + random.below(seconds), `seed ${seed}, ${state}`);
    expect(database.table('said').openSnapshots).toBe(0);
  };
  await insert(database.table('said'), Array.from({ length: count }, memory));
  visit('in the log');
  await database.compact();
  visit('compacted');
  await insert(database.table('said'), Array.from({ length: Math.ceil(count / 3) }, memory));
  visit('half and half');
  await database.close();
  database = await openSim(disk, options);
  visit('opened again');
  await database.close();
}

function expectSame(database: Database, random: Random, at: number, state: string): void {
  const table = database.table('said');
  const keys = MemberKeys.of(table, database.nodes)!;
  const numberOf = (name: string) => keys.numberOf(name) ?? 0;
  const rows = rowsOf(table) as unknown as (PlainRow & { roles: Record<string, number[]>; end_ts: number | null })[];
  const words = WORDS.filter(() => random.chance(0.25));
  const named = random.chance(0.5) ? [] : NAMES.filter(() => random.chance(0.3));
  const since = random.chance(0.3) ? FIRST_TS + random.below(100) : undefined;
  const roles = random.chance(0.6)
    ? []
    : [{ role: pick(random, ['who', 'about']), names: NAMES.filter(() => random.chance(0.4)) }];
  const topK = pick(random, [1, 5, 40]);
  const counts = random.chance(0.3);
  const question = `${counts ? 'how many ' : ''}${words.join(' ')} ${named.join(' and ')} ${since === undefined ? '' : `since ${since}`}`;
  const asked = roles.map(({ role, names }) => ({ role, nodes: names.map(numberOf) }));
  // A time in the question is a word, too.
  const sought = [...words, ...(since === undefined ? [] : [String(since)])];
  const { edges } = finish(recallEdges(table, { question, roles: asked, texts: 'what', at, topK }, keys));
  const holding = rows.filter(({ event_ts, end_ts }) => event_ts <= at && (end_ts === null || at < end_ts));
  const inRoles = (row: (typeof rows)[number]) =>
    roles.every(({ role, names }) =>
      names.some((name) =>
        (row.roles[role] as unknown as (string | number)[]).some((one) => one === name || one === numberOf(name)),
      ),
    );
  const nodes = [...new Set([...named, ...roles.flatMap(({ names }) => names)])]
    .map(numberOf)
    .filter((number) => number > 0);
  const members = (row: PlainRow) => row.members.map((one) => (typeof one === 'string' ? numberOf(one) : one));
  const plain = rows.map((row) => ({
    ...row,
    title: row.what,
    body: null,
    members: members(row).sort((a, b) => a - b),
  }));
  const byId = new Map(rows.map((row) => [row.id, row]));
  const ends = rows.filter(({ event_ts }) => event_ts <= at).map(({ event_ts }) => event_ts);
  const greatest = Math.max(...ends);
  const isPreferred = since !== undefined && ends.some((time) => time >= since);
  const wanted = naiveFusion(
    plain,
    {
      words: sought,
      forms: FORMS,
      nodes,
      allowed: ({ id }) => holding.includes(byId.get(id)!) && inRoles(byId.get(id)!),
      qualified: () => true,
      addsContext: true,
      prefersTelling: true,
      answers: counts ? (text) => /sixteen|1987/.test(text) : undefined,
      names: new Map(named.map((name) => [name, numberOf(name)] as const).filter(([, number]) => number > 0)),
      among: asked[0]?.nodes.filter((number) => number > 0),
      fills: nodes.length > 0 || (sought.length === 0 && !isPreferred),
      preferred: isPreferred ? (time) => time >= since && time <= greatest : undefined,
    },
    topK,
  );
  const shown = (some: readonly { id: number; score: number }[]) =>
    some.map(({ id, score }) => `${id} ${score.toFixed(9)}`);
  expect(
    shown(edges.map(({ edge_id, score }) => ({ id: edge_id, score }))),
    `${state}, at ${at}, ${JSON.stringify(roles)}: ${question}`,
  ).toEqual(shown(wanted.map(({ row, score }) => ({ id: row.id, score }))));
}

describe('what is recalled', () => {
  it.each(Array.from({ length: 10 }, (_, seed) => seed))('is what a naive fusion finds, seed %i', (seed) =>
    compare(seed, 4 + seed * 7),
  );

  // There are more hits than candidates, so that the search must look at more where few pass.
  it('is what a naive fusion finds, of many', () => compare(50, 900), 60_000);
});
