import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { singular, wordsOf } from '../../src/tabular/words.ts';
import type { BackendSchema, BackendTable, ColumnKind, SqlRow } from '../../src/virtual/backend.ts';
import { compileQuery } from '../../src/virtual/compile/compile.ts';
import { labelOf, memberNameOf } from '../../src/virtual/propose/names.ts';
import { proposeSpec, type Samples, sampleStatement } from '../../src/virtual/propose/propose.ts';
import { checkedSpec } from '../../src/virtual/spec/spec.ts';
import { Random } from '../support/random.ts';
import { openTestDuckDb, type TestDuckDb } from './duckdb-rows.ts';

const HEAD = { id: 'p', name: 'P', backend: { type: 'duckdb', path: 'p.duckdb' } } as const;

function table(name: string, kinds: Readonly<Record<string, ColumnKind>>): BackendTable {
  const columns = Object.entries(kinds).map(([column, kind]) => ({ name: column, kind, type: kind.toUpperCase() }));
  return { name, path: [name], columns, row_count: null };
}

function propose(schema: BackendSchema, samples?: Samples) {
  const proposal = proposeSpec(HEAD, schema, samples);
  // Every proposal must be a valid spec, and each of its edges can be queried.
  expect(checkedSpec(proposal.spec, { root: '/srv/virtual' })).toEqual(proposal.spec);
  expect(proposal.rationale.map(({ edge }) => edge)).toEqual(proposal.spec.edges.map(({ label }) => label));
  for (const { label } of proposal.spec.edges)
    for (const dialect of ['duckdb', 'postgres'] as const)
      compileQuery(`MATCH (x_:${label}) RETURN x_`, proposal.spec, schema, { dialect });
  return proposal;
}

describe('a proposal', () => {
  it('finds row edges by foreign keys, by table names, and by words for the two sides of an edge', () => {
    const schema: BackendSchema = {
      tables: [
        table('accounts', { id: 'integer', name: 'text', opened: 'date' }),
        table('banks', { code: 'text', name: 'text' }),
        table('transfers', {
          id: 'integer',
          sender: 'integer',
          receiver: 'integer',
          bank_code: 'text',
          created_at: 'timestamp',
          amount: 'decimal',
        }),
      ],
      keys: [{ table: 'banks', columns: ['code'], unique: true } as never],
      foreignKeys: [
        { table: 'transfers', columns: ['sender'], references: { table: 'accounts', columns: ['id'] } },
        { table: 'transfers', columns: ['receiver'], references: { table: 'accounts', columns: ['id'] } },
      ],
    };
    const { spec, rationale } = propose(schema);
    expect(spec.nodes).toEqual([
      { label: 'Account', table: 'accounts', id_column: 'id' },
      { label: 'Bank', table: 'banks', id_column: 'code' },
    ]);
    expect(spec.edges).toEqual([
      {
        label: 'Transfer',
        shape: 'row',
        table: 'transfers',
        ts_column: 'created_at',
        row_member_columns: { sender: 'sender', receiver: 'receiver', bank: 'bank_code' },
        members: [
          { name: 'sender', node_label: 'Account', role: 'src' },
          { name: 'receiver', node_label: 'Account', role: 'dst' },
          { name: 'bank', node_label: 'Bank', role: 'bank' },
        ],
      },
    ]);
    expect(rationale).toEqual([
      {
        edge: 'Transfer',
        reason:
          'Each row of transfers has a time (created_at) and joins sender (a foreign key to accounts), receiver (a foreign key to accounts), bank_code (called after banks).',
      },
    ]);
  });

  it('finds group edges by rows that share a value and a time or, if there are no rows, by the table name', () => {
    const schema = {
      tables: [
        table('paper_authors', { paper_id: 'integer', author_id: 'integer', published: 'integer', year: 'date' }),
      ],
    };
    const rows: SqlRow[] = [
      [1, 7, 5, 100],
      [1, 8, 5, 100],
      [2, 7, 6, 200],
    ];
    for (const samples of [undefined, new Map([['paper_authors', rows]])]) {
      const { spec, rationale } = propose(schema, samples);
      expect(spec.edges).toEqual([
        {
          label: 'PaperAuthor',
          shape: 'group',
          table: 'paper_authors',
          ts_column: 'year',
          group_columns: ['paper_id'],
          member_column: 'author_id',
          members: [{ name: 'author', node_label: 'Author', role: 'author' }],
        },
      ]);
      expect(rationale[0]!.reason).toContain('with the same paper_id are one edge');
    }
    const visits: SqlRow[] = [
      [1, 7, 5, 100],
      [1, 8, 5, 200],
    ];
    expect(propose(schema, new Map([['paper_authors', visits]])).spec.edges[0]!.shape).toBe('row');
  });

  it('recognises members by common words, with or without a number', () => {
    const schema = {
      tables: [table('games', { player1: 'text', player2: 'text', city: 'text', score: 'integer', day: 'date' })],
    };
    const { nodes, edges } = propose(schema).spec;
    expect(nodes.map(({ label }) => label)).toEqual(['Player', 'City']);
    expect(edges[0]!.members.map(({ name, node_label }) => `${name}:${node_label}`)).toEqual([
      'player_1:Player',
      'player_2:Player',
      'city:City',
    ]);
  });

  it('uses an integer column as the time if its name suggests a time and its values can be seconds', () => {
    const schema = { tables: [table('calls', { caller: 'text', callee: 'text', ts: 'integer', length: 'integer' })] };
    expect(propose(schema).spec.edges[0]).toMatchObject({
      ts_column: 'ts',
      members: [{ role: 'src' }, { role: 'dst' }],
    });
    expect(propose(schema).spec.nodes).toEqual([{ label: 'Node', table: 'calls', id_column: 'caller' }]);
    const milliseconds: SqlRow[] = [['a', 'b', 1_700_000_000_000, 5]];
    expect(() => propose(schema, new Map([['calls', milliseconds]]))).toThrow(
      /No table of the backend looks like edges/,
    );
  });

  it('does not mistake day numbers or dates with eight digits for seconds', () => {
    const schema = { tables: [table('calls', { caller: 'text', callee: 'text', day: 'integer' })] };
    for (const day of [14, 20_240_314]) {
      const rows: SqlRow[] = [['a', 'b', day]];
      expect(() => propose(schema, new Map([['calls', rows]]))).toThrow(/No table of the backend looks like edges/);
    }
    const seconds: SqlRow[] = [['a', 'b', 1_700_000_000]];
    expect(propose(schema, new Map([['calls', seconds]])).spec.edges[0]!.ts_column).toBe('day');
  });

  it('omits columns that only describe an edge that already has both sides', () => {
    const columns = { sender: 'text', recipient: 'text', message_id: 'integer', country: 'text', at: 'timestamp' };
    const mails = table('mails', columns as Record<string, ColumnKind>);
    const membersOf = (tables: BackendTable[]) => propose({ tables }).spec.edges[0]!.members.map(({ name }) => name);
    expect(membersOf([mails])).toEqual(['sender', 'recipient']);
    // If there is a table of countries, a country is a node.
    expect(membersOf([mails, table('countries', { country: 'text' })])).toEqual(['sender', 'recipient', 'country']);
  });

  it('prefers the time of an event to the time of a later change', () => {
    const schema = {
      tables: [
        table('x', {
          user_id: 'integer',
          item_id: 'integer',
          updated_at: 'timestamp',
          event_time: 'timestamp',
          extra: 'date',
        }),
      ],
    };
    expect(propose(schema).spec.edges[0]!.ts_column).toBe('event_time');
  });

  it('fails with a list of the tables when no table looks like edges', () => {
    const none = () => propose({ tables: [table('names', { id: 'integer', name: 'text' })] });
    expect(none).toThrow(/two or more that identify something\); its tables are names\. Write the spec yourself\.$/);
    expect(() => propose({ tables: [] })).toThrow(/it has no table/);
  });

  it('is a valid spec, or is refused with a clear error, for every random schema', () => {
    const words =
      'user id from to ts date at "x" émile order account SRC dst name created 1st __proto__ constructor items value'.split(
        ' ',
      );
    const kinds = ['integer', 'text', 'uuid', 'timestamp', 'date', 'real', 'other'] as const;
    let proposed = 0;
    for (let seed = 0; seed < 300; seed++) {
      const random = new Random(seed);
      const name = () =>
        Array.from({ length: 1 + random.below(3) }, () => words[random.below(words.length)]).join(
          random.chance(0.5) ? '_' : ' ',
        );
      const tables = Array.from({ length: 1 + random.below(4) }, (_, index) =>
        table(
          `${name()}${index}`,
          Object.fromEntries(
            Array.from({ length: 1 + random.below(7) }, (_unused, at) => [
              `${name()}${at}`,
              kinds[random.below(kinds.length)]!,
            ]),
          ),
        ),
      );
      try {
        expect(propose({ tables })).toEqual(propose({ tables }));
        proposed += 1;
      } catch (error) {
        expect(String(error)).toContain('No table of the backend looks like edges');
      }
    }
    expect(proposed).toBeGreaterThan(50);
  });
});

describe('a proposal from samples', () => {
  let duckdb: TestDuckDb | undefined;
  beforeAll(async () => {
    duckdb = await openTestDuckDb();
  });
  afterAll(() => duckdb?.close());

  it('finds by its values the table to which a column refers', async (context) => {
    if (duckdb === undefined) return context.skip();
    await duckdb.run(`
      CREATE TABLE people AS SELECT range + 100 AS id, 'p' || range AS name FROM range(50);
      CREATE TABLE calls AS SELECT range AS id, 100 + range % 50 AS src, 100 + (range * 7) % 50 AS dst,
        TIMESTAMP '2024-01-01' + range * INTERVAL 1 MINUTE AS at FROM range(500);`);
    const schema = await duckdb.schema();
    const samples = new Map<string, SqlRow[]>();
    for (const item of schema.tables) samples.set(item.name, await duckdb.rows(sampleStatement(item, 'duckdb')));
    const { spec, rationale } = propose(schema, samples);
    expect(spec.nodes).toEqual([{ label: 'Person', table: 'people', id_column: 'id' }]);
    expect(spec.edges[0]).toMatchObject({
      label: 'Call',
      shape: 'row',
      row_member_columns: { src: 'src', dst: 'dst' },
    });
    expect(rationale[0]!.reason).toContain('its values are found in people');
  });
});

describe('names', () => {
  it('are split into words, made singular, and made into identifiers', () => {
    expect(wordsOf('fromUserID')).toEqual(['from', 'user', 'id']);
    expect(wordsOf('HTTPServer_2x')).toEqual(['http', 'server', '2x']);
    const plurals = ['companies', 'boxes', 'people', 'bus', 'glass', 'users', 'gas'];
    expect(plurals.map(singular)).toEqual(['company', 'box', 'person', 'bus', 'glass', 'user', 'gas']);
    expect(labelOf(['bank', 'accounts'], 'X')).toBe('BankAccount');
    expect(labelOf(['1st'], 'X')).toBe('_1st');
    expect(labelOf([], 'X')).toBe('X');
    expect(memberNameOf('from_user_id', 'm')).toBe('from_user');
    expect(memberNameOf('id', 'm')).toBe('id');
    expect(memberNameOf('中', 'm')).toBe('m');
  });
});
