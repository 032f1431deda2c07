// Compares the records that the core makes of lines of JSON with those of JSON.parse and the model.
// What the core reads must be the same edge; lines that it should read must be read.

import { describe, expect, test } from 'vitest';
import { EdgeBatch } from '../../src/core/edge-batch.ts';
import { EdgeLines, type LineKey } from '../../src/core/edge-lines.ts';
import { type CoreBuild, loadCore } from '../../src/core/index.ts';
import { encodeProperties } from '../../src/core/properties.ts';
import { kindOfType } from '../../src/model/column-types.ts';
import { ColumnSet, defineColumns } from '../../src/model/columns.ts';
import { readEdge } from '../../src/model/edge.ts';
import { RoleSet } from '../../src/model/roles.ts';
import { type Random, randomFrom } from './support/random.ts';

const SEED = Number(process.env.HEDGEROW_SEED ?? 1);
const columns = new ColumnSet(
  defineColumns(
    [
      { name: 'kind', type: 'TEXT' },
      { name: 'score', type: 'INTEGER', default: 7 },
      { name: 'open', type: 'BOOLEAN' },
      { name: 'ratio', type: 'REAL' },
    ],
    3,
  ),
);
const LIMIT = 64;
const table = { name: 't', columns, maxMembers: LIMIT, roles: RoleSet.none };
const keys: LineKey[] = [
  { name: 'id', column: undefined },
  ...columns.columns.map(({ id, name, type }) => ({ name, column: { id, kind: kindOfType(type) } })),
];

/** Returns the record of a line according to the model, or null if the line is refused. */
function judged(batch: EdgeBatch, line: string): Buffer | null {
  try {
    const source: unknown = JSON.parse(line);
    if (typeof source !== 'object' || source === null || Array.isArray(source)) return null;
    const edge = readEdge(source as Record<string, unknown>, table, ['body']);
    batch.add(edge.event_ts, edge.members, edge.properties.length === 0 ? null : encodeProperties(edge.properties));
    return Buffer.from(batch.encode(0, LIMIT));
  } catch {
    batch.clear();
    return null;
  }
}

const PLAIN = [
  '{"event_ts":1,"members":[1]}',
  '{"members":[3,1,2,1],"event_ts":-5}',
  '  { "event_ts" : 999999999999999 , "members" : [ 1 , 2 ] }\t ',
  '{"event_ts":0,"members":[-1,0,999999999999999]}\r',
  '{"id":17,"event_ts":1,"members":[1],"weight":0.5,"mean_dist_m":null,"formation":"4-4-2"}',
  '{"event_ts":1,"members":[1],"weight":-0.25,"kind":"","score":12,"open":true,"ratio":100}',
  '{"kind":"gr\u00fc\u00df \u{1f33f}","open":false,"event_ts":1,"members":[9,8],"ratio":0.1,"score":null}',
  '{"event_ts":1,"members":[1],"weight":123456.789012345}',
  `{"event_ts":1,"members":[1],"kind":"${'x'.repeat(65_536)}"}`,
  `{"event_ts":1,"members":[${Array.from({ length: 64 }, (_, i) => 64 - i).join(',')}]}`,
  `{"event_ts":1,"members":[${Array.from({ length: 255 }, (_, i) => i % 60).join(',')}]}`,
];

/** Lines for a complete parser: valid in another form, or invalid. */
const OTHERS = [
  '',
  ' ',
  '[]',
  'null',
  '{}',
  '{"event_ts":1}',
  '{"members":[1]}',
  '{"event_ts":1,"members":[]}',
  '{"event_ts":1,"members":[1,]}',
  '{"event_ts":1,"members":[1],}',
  '{"event_ts":1,"members":[1]',
  '{"event_ts":1,"members":[1]} x',
  '{"event_ts":1,"members":[1]}}',
  '{"event_ts":01,"members":[1]}',
  '{"event_ts":-0,"members":[1]}',
  '{"event_ts":1,"members":[-0]}',
  '{"event_ts":1.0,"members":[1]}',
  '{"event_ts":1e3,"members":[1]}',
  '{"event_ts":1000000000000000,"members":[1]}',
  '{"event_ts":9007199254740992,"members":[1]}',
  '{"event_ts":"2024-05-02","members":[1]}',
  '{"event_ts":1,"event_ts":2,"members":[1]}',
  '{"event_ts":1,"members":[1],"members":[2]}',
  '{"event_ts":1,"members":[1],"weight":1,"weight":2}',
  '{"event_ts":1,"members":[1],"weight":1,"weight":null}',
  '{"event_ts":1,"members":[1],"kind":null,"kind":"a"}',
  '{"event_ts":1,"members":[1],"score":1,"kind":"a","score":null}',
  '{"event_ts":1,"members":[1],"open":null,"open":null}',
  '{"event_ts":1,"members":[1],"id":1,"id":2}',
  '{"event_ts":1,"members":[1],"Weight":1}',
  '{"event_ts":1,"members":[1],"KIND":"a"}',
  '{"event_ts":1,"members":[1],"table":"u"}',
  '{"event_ts":1,"members":[1],"other":1}',
  '{"event_ts":1,"members":[1],"properties":{"kind":"a"}}',
  '{"event_ts":1,"members":[1],"kind":"a\\n"}',
  '{"event_ts":1,"members":[1],"kind":"a\tb"}',
  '{"event_ts":1,"members":[1],"kind":"a}',
  '{"event_ts":1,"members":[1],"kind":1}',
  '{"event_ts":1,"members":[1],"kind":true}',
  '{"event_ts":1,"members":[1],"score":1.5}',
  '{"event_ts":1,"members":[1],"score":"1"}',
  '{"event_ts":1,"members":[1],"open":1}',
  '{"event_ts":1,"members":[1],"open":truex}',
  '{"event_ts":1,"members":[1],"open":nul}',
  '{"event_ts":1,"members":[1],"ratio":1e2}',
  '{"event_ts":1,"members":[1],"ratio":-0.0}',
  '{"event_ts":1,"members":[1],"ratio":.5}',
  '{"event_ts":1,"members":[1],"ratio":1.}',
  '{"event_ts":1,"members":[1],"ratio":0.1234567890123456}',
  '{"\\u0065vent_ts":1,"members":[1]}',
  `{"event_ts":1,"members":[1],"kind":"${'x'.repeat(65_537)}"}`,
  `{"event_ts":1,"members":[${Array.from({ length: 65 }, (_, i) => i).join(',')}]}`,
  `{"event_ts":1,"members":[${Array.from({ length: 256 }, (_, i) => i % 60).join(',')}]}`,
];

describe.each<CoreBuild>(['release', 'plain', 'debug'])('lines read by the %s build', (build) => {
  const core = loadCore(build).instantiate();
  const lines = new EdgeLines(core);
  const batch = new EdgeBatch(core);
  const read = (text: string) => {
    const { rows, bytes, records } = lines.read(Buffer.from(text), keys, LIMIT);
    return { rows, bytes, records: Buffer.from(records) };
  };

  test.each(PLAIN)('have the record of the model: %#', (line) => {
    const expected = judged(batch, line)!;
    for (const end of ['', '\n'])
      expect(read(line + end)).toEqual({ rows: 1, bytes: Buffer.byteLength(line + end), records: expected });
  });

  test.each(OTHERS)('are none if the line has another form: %#', (line) => {
    expect(read(`${line}\n`)).toMatchObject({ rows: 0, bytes: 0 });
    expect(read(`${PLAIN[0]}\n${line}\n${PLAIN[0]}`)).toMatchObject({ rows: 1, bytes: PLAIN[0]!.length + 1 });
  });

  test('are all lines of a text up to the first other one, in order', () => {
    const text = PLAIN.map((line) => `${line}\n`).join('');
    const records = Buffer.concat(PLAIN.map((line) => judged(batch, line)!));
    expect(read(text)).toEqual({ rows: PLAIN.length, bytes: Buffer.byteLength(text), records });
  });

  test('are read with other keys after a column was renamed', () => {
    const renamed: LineKey[] = [{ name: 'note', column: { id: 3, kind: 'text' } }];
    expect(lines.read(Buffer.from('{"event_ts":1,"members":[1],"note":"a"}'), renamed, LIMIT).rows).toBe(1);
    expect(read('{"event_ts":1,"members":[1],"note":"a"}').rows).toBe(0);
    expect(read('{"event_ts":1,"members":[1],"kind":"a"}').rows).toBe(1);
  });

  test('are only as many as fit, and a longer first line gets more room', () => {
    const wide = `{"event_ts":1,"members":[${Array.from({ length: 60 }, (_, i) => i * 7919 * 104_729).join(',')}]}\n`;
    const text = wide.repeat(2000);
    let at = 0;
    let rows = 0;
    for (let left = text; left.length > 0; left = text.slice(at)) {
      const taken = read(left.slice(0, 64 * wide.length));
      expect(taken.rows).toBeGreaterThan(0);
      at += taken.bytes;
      rows += taken.rows;
    }
    expect(rows).toBe(2000);
  });

  test('are the edges of the model when random lines are mutated', () => {
    const random = randomFrom(SEED);
    let same = 0;
    for (let round = 0; round < (build === 'debug' ? 8000 : 20_000); round++) {
      const line = mutated(random, randomLine(random));
      if (line.includes('\n') || !line.isWellFormed()) continue;
      const { rows, records } = read(line);
      const expected = judged(batch, line);
      if (rows === 0) continue;
      expect(expected?.equals(records), line).toBe(true);
      same += 1;
    }
    expect(same).toBeGreaterThan(1000);
  });
});

const TEXTS = ['""', '"a"', '"gr\u00fcn"', '"a,b]}"', '"\\u0041"', 'null', '"\u{1f33f}"'];
const NUMBERS = ['0', '-1', '12.5', '0.30000000000000004', '1e5', '-0', '100.25', '007', '123456789012345', 'null'];

function randomLine(random: Random): string {
  const one = (list: readonly string[]) => list[random.below(list.length)]!;
  const fields = [
    `"event_ts":${one(['1', '1700000000', '-3', '99999999999'])}`,
    `"members":[${Array.from({ length: 1 + random.below(5) }, () => random.below(20) - 3).join(',')}]`,
    `"weight":${one(NUMBERS)}`,
    `"kind":${one(TEXTS)}`,
    `"score":${one(NUMBERS)}`,
    `"open":${one(['true', 'false', 'null'])}`,
    `"ratio":${one(NUMBERS)}`,
    `"id":${one(['1', '"x"', 'null'])}`,
  ];
  const kept = fields.filter((_, index) => index < 2 || random.below(2) === 0);
  // One line in four has a key twice.
  if (random.below(4) === 0)
    kept.push(`"${one(['weight', 'kind', 'score', 'open', 'id', 'event_ts'])}":${one(['null', '1', '"a"', 'true'])}`);
  for (let i = kept.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [kept[i], kept[j]] = [kept[j]!, kept[i]!];
  }
  return `{${kept.join(random.below(4) === 0 ? ' , ' : ',')}}`;
}

/** Changes, drops or repeats a few characters of two lines in three. */
function mutated(random: Random, line: string): string {
  let text = line;
  const count = random.below(3);
  for (let i = 0; i < count; i++) {
    const at = random.below(text.length);
    const kind = random.below(3);
    const other = '{}[]",:0123456789.eE+-truefalsn \\'[random.below(33)]!;
    if (kind === 0) text = text.slice(0, at) + other + text.slice(at + 1);
    else if (kind === 1) text = text.slice(0, at) + text.slice(at + 1);
    else text = text.slice(0, at) + text.slice(at, at + 4) + text.slice(at);
  }
  return text;
}
