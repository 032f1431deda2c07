import { describe, expect, it } from 'vitest';
import { insideRoot } from '../../src/virtual/spec/path.ts';
import { checkedBackend, checkedSpec, parseSpec } from '../../src/virtual/spec/spec.ts';

const ROOT = '/srv/virtual';
const options = { root: ROOT };

const SPEC = {
  id: 'bank',
  name: 'Bank transfers',
  backend: { type: 'duckdb', path: 'bank.duckdb' },
  nodes: [
    { label: 'Account', table: 'accounts', id_column: 'id' },
    { label: 'Bank', table: 'banks', id_column: 'code' },
  ],
  edges: [
    {
      label: 'Transfer',
      shape: 'row',
      table: 'transfers',
      ts_column: 'ts',
      row_member_columns: { src: 'from_id', dst: 'to_id', via: 'bank' },
      members: [
        { name: 'src', node_label: 'Account', role: 'src' },
        { name: 'dst', node_label: 'Account', role: 'dst' },
        { name: 'via', node_label: 'Bank', role: 'via' },
      ],
    },
    {
      label: 'Meeting',
      shape: 'group',
      table: 'seats',
      ts_column: 'day',
      group_columns: ['meeting_id', 'room'],
      member_column: 'account',
      members: [{ name: 'guest', node_label: 'Account', role: 'guest' }],
    },
  ],
};

/** Returns the errors in the spec after a change, as `place: message`. */
function errorsOf(change: (spec: typeof SPEC & Record<string, unknown>) => void): string[] {
  const spec = structuredClone(SPEC) as typeof SPEC & Record<string, unknown>;
  change(spec);
  const parsed = parseSpec(spec, options);
  return 'errors' in parsed ? parsed.errors.map(({ loc, msg }) => `${loc.slice(1).join('.')}: ${msg}`) : [];
}

describe('a spec', () => {
  it('keeps its known fields and drops all others', () => {
    expect(checkedSpec(SPEC, options)).toEqual(SPEC);
    const more = { ...SPEC, spec_version: 7, extra: 1, backend: { ...SPEC.backend, password: 'x' } };
    expect(checkedSpec(more, options)).toEqual(SPEC);
  });

  it('uses its id as its name if it has no name', () => {
    for (const name of [undefined, null]) expect(checkedSpec({ ...SPEC, name }, options).name).toBe('bank');
  });

  it('may refer to a label in another case, and is stored with the spelling of the node', () => {
    const spec = structuredClone(SPEC);
    spec.edges[0]!.members[0]!.node_label = 'ACCOUNT';
    expect(checkedSpec(spec, options)).toEqual(SPEC);
  });

  it.each<[string, (spec: typeof SPEC & Record<string, unknown>) => void, string]>([
    ['no id', (s) => Object.assign(s, { id: undefined }), 'id: is missing'],
    ['an id of another type', (s) => Object.assign(s, { id: 5 }), 'id: must be a text, not a number'],
    ['an id with a slash', (s) => Object.assign(s, { id: 'a/b' }), 'id: is "a/b", but must be at most 128 letters'],
    ['an id that begins with a dot', (s) => Object.assign(s, { id: '.a' }), 'id: is ".a"'],
    ['an id of 129 characters', (s) => Object.assign(s, { id: 'a'.repeat(129) }), 'id: is "aaaa'],
    ['an empty name', (s) => Object.assign(s, { name: '' }), 'name: must not be empty'],
    ['no backend', (s) => Object.assign(s, { backend: null }), 'backend: must be an object, not null'],
    [
      'an unknown backend',
      (s) => Object.assign(s.backend, { type: 'duckbd' }),
      'backend.type: is "duckbd", which is not a backend type; there are duckdb, parquet, csv, json, postgres (did you mean duckdb?)',
    ],
    ['no path', (s) => Object.assign(s.backend, { path: undefined }), 'backend.path: is missing'],
    ['no nodes', (s) => Object.assign(s, { nodes: [] }), 'nodes: must not be empty'],
    ['nodes that are no list', (s) => Object.assign(s, { nodes: {} }), 'nodes: must be an array, not an object'],
    ['a node that is no object', (s) => Object.assign(s, { nodes: [1] }), 'nodes.0: must be an object, not a number'],
    [
      'a label that is not an identifier',
      (s) => Object.assign(s.nodes[0]!, { label: '1x' }),
      'nodes.0.label: is "1x", but must be',
    ],
    [
      'a label twice',
      (s) => Object.assign(s.nodes[1]!, { label: 'account' }),
      'nodes.1.label: is account, a label that occurs twice',
    ],
    ['no id column', (s) => Object.assign(s.nodes[1]!, { id_column: '' }), 'nodes.1.id_column: must not be empty'],
    ['a table with NUL', (s) => Object.assign(s.nodes[1]!, { table: 'a\0' }), 'nodes.1.table: holds the character NUL'],
    [
      'a table with half a character',
      (s) => Object.assign(s.nodes[1]!, { table: 'a\ud800' }),
      'nodes.1.table: is not valid Unicode',
    ],
    ['no edges', (s) => Object.assign(s, { edges: [] }), 'edges: must not be empty'],
    [
      'an unknown shape',
      (s) => Object.assign(s.edges[0]!, { shape: 'rows' }),
      'edges.0.shape: is "rows", which is not a shape; there are row, group (did you mean row?)',
    ],
    ['an edge label twice', (s) => Object.assign(s.edges[1]!, { label: 'TRANSFER' }), 'edges.1.label: is TRANSFER'],
    [
      'no members',
      (s) => Object.assign(s.edges[0]!, { members: [], row_member_columns: {} }),
      'edges.0.members: must not be empty',
    ],
    [
      'a member of an unknown label',
      (s) => Object.assign(s.edges[0]!.members[1]!, { node_label: 'Acount' }),
      'edges.0.members.1.node_label: is "Acount", which is not a label in nodes (did you mean Account?)',
    ],
    [
      'a member without role',
      (s) => Object.assign(s.edges[0]!.members[1]!, { role: undefined }),
      'edges.0.members.1.role: is missing',
    ],
    [
      'a member name twice',
      (s) => Object.assign(s.edges[0]!.members[1]!, { name: 'SRC' }),
      'edges.0.members.1.name: is SRC',
    ],
    [
      'a member without column',
      (s) => delete (s.edges[0]!.row_member_columns as Record<string, string>).via,
      'edges.0.row_member_columns: lacks the column of the member via',
    ],
    [
      'a column without member',
      (s) => Object.assign(s.edges[0]!.row_member_columns!, { vai: 'x' }),
      'edges.0.row_member_columns: has a column for "vai", which is not a name in members (did you mean via?)',
    ],
    [
      'no group columns',
      (s) => Object.assign(s.edges[1]!, { group_columns: undefined }),
      'edges.1.group_columns: must be an array, not nothing',
    ],
    [
      'a group column twice',
      (s) => Object.assign(s.edges[1]!, { group_columns: ['a', 'a'] }),
      'edges.1.group_columns.1: is "a", which occurs twice',
    ],
    [
      'a group with two members',
      (s) => s.edges[1]!.members.push({ name: 'b', node_label: 'Bank', role: 'b' }),
      'edges.1.members: has several entries',
    ],
    [
      'a group without member column',
      (s) => Object.assign(s.edges[1]!, { member_column: 5 }),
      'edges.1.member_column: must be a text, not a number',
    ],
  ])('is refused with %s', (_what, change, expected) => {
    const errors = errorsOf(change);
    expect(errors.length).toBeGreaterThan(0);
    expect(errors[0]).toContain(expected);
  });

  it('is refused with all its faults, both in one sentence and in a list', () => {
    const body = { id: '', backend: { type: 'csv', path: '../x' }, nodes: [{}], edges: [{ shape: 'row' }] };
    expect(() => checkedSpec(body, options)).toThrow(
      /^id must not be empty; backend\.path holds .*\(and \d+ more\)\.$/s,
    );
    const parsed = parseSpec(body, options);
    expect('errors' in parsed && parsed.errors.length).toBeGreaterThan(8);
  });

  it('gives faults, and never a crash, if it is a value of any other type', () => {
    for (const value of [
      null,
      undefined,
      1,
      'x',
      [],
      [[]],
      { nodes: [null], edges: [null] },
      { edges: [{ members: [null] }] },
    ])
      expect(parseSpec(value, options)).toHaveProperty('errors');
  });

  it('may have a member called __proto__', () => {
    const spec = structuredClone(SPEC);
    const edge = spec.edges[0]! as unknown as Record<string, unknown>;
    edge.members = [{ name: '__proto__', node_label: 'Account', role: 'x' }];
    edge.row_member_columns = JSON.parse('{"__proto__": "from_id"}');
    const [checked] = checkedSpec(spec, options).edges;
    expect(JSON.stringify(checked)).toContain('"row_member_columns":{"__proto__":"from_id"}');
  });
});

describe('a database backend', () => {
  const backend = (fields: object) => checkedBackend({ type: 'postgres', ...fields }, options);

  it('is the name of a connection string, never an address', () => {
    expect(backend({ dsn: 'main_2' })).toEqual({ type: 'postgres', dsn: 'main_2' });
    for (const dsn of ['postgres://joe:hunter2@db/x', 'a b', '', 'é', 'x'.repeat(65), 5, null, undefined])
      expect(() => backend({ dsn })).toThrow(/the NAME of a database in the settings/);
  });

  it('must not contain a password, and the error does not show the password', () => {
    for (const field of ['password', 'user', 'url', 'connection_string', 'host']) {
      try {
        backend({ dsn: 'main', [field]: 'hunter2' });
        expect.unreachable();
      } catch (error) {
        expect(String(error)).toContain(`backend.${field} does not belong here`);
        expect(JSON.stringify(error) + String(error)).not.toContain('hunter2');
      }
    }
    expect(() => backend({ dsn: 'postgres://joe:hunter2@db/x' })).not.toThrow(/hunter2/);
  });
});

/** Paths that try to leave the root, or that do not name a file below it. */
const TRICKS = [
  ...[
    '..',
    '../x.csv',
    '../../etc/passwd',
    'a/../../x.csv',
    'a/..',
    './../x',
    'a/b/../../../x',
    '..//x',
    'a/../b.csv',
    '*/../x',
  ],
  ...[
    '/etc/passwd',
    '/srv/x.csv',
    '/srv/virtual2/x.csv',
    '/srv/virtual/../x.csv',
    '//etc/passwd',
    '//srv/virtual/x.csv',
    '/',
  ],
  ...['/proc/self/environ', '/dev/stdin', '/dev/fd/0', '/srv/virtual', '/srv/virtual/', '.', './', 'a/', 'a/.'],
  ...[
    's3://bucket/x.csv',
    'http://host/x.csv',
    'https://host/x',
    'HTTP://host/x',
    'file:///etc/passwd',
    'file:/etc/passwd',
    'gs://b/x',
  ],
  ...[
    'hf://datasets/x',
    'az://c/x',
    'r2://b/x',
    'ftp://h/x',
    'data:text/csv,a',
    'md:my_db',
    'sqlite:x.db',
    'postgres:dbname=x',
    'C:\\x.csv',
  ],
  ...['c:/x.csv', ':memory:', 'a\\..\\..\\x', '\\\\server\\share', '..\\x.csv', 'a\\b.csv', '~/x.csv', '~root/x.csv'],
  ...[
    '%2e%2e/x.csv',
    '..%2fx.csv',
    '%2E%2E%2Fetc',
    'a%5c..%5cx',
    'x.csv%00.png',
    'x\0.csv',
    '\0',
    'x.csv\n',
    'a\r/x',
    'a\tb.csv',
    '\u0085x',
    'a\u2028b',
  ],
  ...[
    ' /etc/passwd',
    'x.csv ',
    '{a,../../x}.csv',
    '{../x,y}.csv',
    `${'a/'.repeat(600)}x.csv`,
    `${'a'.repeat(256)}.csv`,
    'a/s3://x',
    '',
  ],
];

describe('a path', () => {
  it(`is refused if it leaves the root or is not a plain file path (${TRICKS.length} paths)`, () => {
    expect(TRICKS.length).toBeGreaterThanOrEqual(60);
    const taken = TRICKS.filter((path) => {
      try {
        checkedBackend({ type: 'csv', path }, options);
        return true;
      } catch (error) {
        expect((error as Error).message).toMatch(/^backend\.path /);
        return false;
      }
    });
    expect(taken).toEqual([]);
  });

  it.each([
    'x.csv',
    './x.csv',
    'a/b/x.csv',
    'a//x.csv',
    '/srv/virtual/a/x.csv',
    'x*.csv',
    'a/**/x_[0-9]?.csv',
    '...csv',
    '.x',
    'a..b/x',
    '-x',
    'ä 中.csv',
    '100%.csv',
    '%zz',
  ])('is accepted if it is below the root: %s', (path) => {
    expect(checkedBackend({ type: 'csv', path }, options)).toEqual({ type: 'csv', path });
    expect(insideRoot(path, ROOT)).not.toMatch(/^\.\.(\/|$)/);
  });

  it('must not be a pattern if it is the path of a database', () => {
    for (const path of ['*.duckdb', 'a?.duckdb', '[ab].duckdb'])
      expect(() => checkedBackend({ type: 'duckdb', path }, options)).toThrow(/is a pattern/);
  });
});
