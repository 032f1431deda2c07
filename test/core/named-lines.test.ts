// Compares the records that the core makes of lines whose members are keys with those of
// JSON.parse, the model and a second key dictionary that is asked key by key.

import { describe, expect, test } from 'vitest';
import { EdgeBatch } from '../../src/core/edge-batch.ts';
import { EdgeLines, KeyDictionary, type LineKey, loadCore } from '../../src/core/index.ts';
import { encodeProperties } from '../../src/core/properties.ts';
import { ColumnSet, defineColumns } from '../../src/model/columns.ts';
import { readEdge } from '../../src/model/edge.ts';
import { RoleSet } from '../../src/model/roles.ts';
import { BUILDS } from './support/instance.ts';
import { describeKeys } from './support/keys-model.ts';
import { type Random, randomFrom } from './support/random.ts';

const SEED = Number(process.env.HEDGEROW_SEED ?? 1);
const PERSON = 3;
const YEAR = 9;
const LIMIT = 6;
const columns = new ColumnSet(defineColumns([{ name: 'note', type: 'TEXT' }], 3));
const table = { name: 't', columns, maxMembers: LIMIT, roles: RoleSet.none };
const keys: LineKey[] = columns.columns.map(({ id, name, type }) => ({
  name,
  column: { id, kind: type === 'TEXT' ? 'text' : 'real' },
}));

type Build = (typeof BUILDS)[number];

function open(build: Build): KeyDictionary {
  const dictionary = new KeyDictionary(loadCore(build).instantiate());
  dictionary.setKind(PERSON, 'Person', false);
  dictionary.setKind(YEAR, 'Year', true);
  for (const key of ['Ada', 'Grace', 'gr\u00fc\u00df']) dictionary.makeLive([dictionary.hold(PERSON, key)]);
  for (const key of [1815, -44]) dictionary.makeLive([dictionary.hold(YEAR, key)]);
  dictionary.hold(PERSON, 'held');
  dictionary.hold(YEAR, 7);
  return dictionary;
}

/**
 * Reads a line with the complete parser; returns its record and the holds that were taken, one of
 * each number that the text before it has not held, or null if the line is refused. A refused line
 * takes no holds.
 */
function judged(
  dictionary: KeyDictionary,
  batch: EdgeBatch,
  line: string,
  slot: number,
  create: boolean,
  before: readonly number[] = [],
) {
  const held: number[] = [];
  const numberOf = (key: string | number) => {
    if (!create) {
      const number = dictionary.find(slot, key);
      if (!dictionary.isLive(number)) throw new Error('unknown node');
      return number;
    }
    const number = dictionary.hold(slot, key);
    if (held.includes(number) || before.includes(number)) dictionary.release([number]);
    else if (!dictionary.isLive(number)) held.push(number);
    return number;
  };
  try {
    const source = JSON.parse(line);
    const edge = readEdge({ ...source, members: source.members.map(numberOf) }, table, ['body']);
    batch.add(edge.event_ts, edge.members, edge.properties.length === 0 ? null : encodeProperties(edge.properties));
    return { record: Buffer.from(batch.encode(0, LIMIT)), held };
  } catch {
    batch.clear();
    dictionary.release(held);
    return null;
  }
}

const PLAIN: [number, string][] = [
  [PERSON, '{"event_ts":1,"members":["Ada"]}'],
  [PERSON, '{"members":["new","Grace","Ada","new"],"event_ts":-5}'],
  [PERSON, ' { "event_ts" : 5 , "members" : [ "held" , "gr\u00fc\u00df", "\u{1f33f}" ] , "weight":0.5 }\r'],
  [PERSON, `{"event_ts":1,"members":["${'x'.repeat(512)}","a,b]}","ada","Ad\u00e1"],"note":"Ada"}`],
  [PERSON, '{"event_ts":1,"members":["a","b","c","d","e","f","a","b","c"]}'],
  [YEAR, '{"event_ts":1,"members":[1815,-44,7,0,123456789012345]}'],
  [YEAR, '{"event_ts":1,"members":[ 1 , 1 ],"note":null}'],
];

const OTHERS: [number, string][] = [
  [PERSON, '{"event_ts":1,"members":[]}'],
  [PERSON, '{"event_ts":1,"members":["n\\u0065w"]}'],
  [PERSON, '{"event_ts":1,"members":["n1","n2",{"kind":"Person","key":"Ada"}]}'],
  [PERSON, '{"event_ts":1,"members":["n1",""]}'],
  [PERSON, `{"event_ts":1,"members":["n1","${'x'.repeat(513)}"]}`],
  [PERSON, '{"event_ts":1,"members":["n1","a\u007f"]}'],
  [PERSON, '{"event_ts":1,"members":["n1","a\u0080"]}'],
  [PERSON, '{"event_ts":1,"members":["n1","a\tb"]}'],
  [PERSON, '{"event_ts":1,"members":["n1",5]}'],
  [PERSON, '{"event_ts":1,"members":["n1",null]}'],
  [PERSON, '{"event_ts":1,"members":["n1"],"other":1}'],
  [PERSON, '{"event_ts":1,"members":["n1"],"members":["n2"]}'],
  [PERSON, '{"members":["n1"]}'],
  [PERSON, '{"event_ts":1,"members":["n1","n2","n3","n4","n5","n6","n7"]}'],
  [PERSON, `{"event_ts":1,"members":[${Array.from({ length: 256 }, (_, i) => `"m${i % 3}"`).join(',')}]}`],
  [YEAR, '{"event_ts":1,"members":["1815"]}'],
  [YEAR, '{"event_ts":1,"members":[5,1.5]}'],
  [YEAR, '{"event_ts":1,"members":[5,1e2]}'],
  [YEAR, '{"event_ts":1,"members":[5,-0]}'],
  [YEAR, '{"event_ts":1,"members":[5,1000000000000000]}'],
];

describe.each(BUILDS)('lines with keys read by the %s build', (build) => {
  test.each(PLAIN)('have the record of the model, %i: %#', (slot, line) => {
    const [dictionary, other] = [open(build), open(build)];
    const expected = judged(other, new EdgeBatch(other.core), line, slot, true)!;
    const { rows, records, held } = new EdgeLines(dictionary.core).read(Buffer.from(line), keys, LIMIT, {
      slot,
      create: true,
    });
    expect([rows, Buffer.from(records), [...held]]).toEqual([1, expected.record, expected.held]);
    expect(describeKeys(dictionary, 20)).toEqual(describeKeys(other, 20));
    dictionary.release(held);
    other.release(expected.held);
    expect(describeKeys(dictionary, 20)).toEqual(describeKeys(open(build), 20));
  });

  test.each(OTHERS)('are none, and hold nothing, if the line has another form, %i: %#', (slot, line) => {
    const dictionary = open(build);
    const lines = new EdgeLines(dictionary.core);
    const first = slot === PERSON ? '{"event_ts":1,"members":["Ada","n0"]}' : '{"event_ts":1,"members":[1815,2]}';
    const before = lines.read(Buffer.from(first), keys, LIMIT, { slot, create: true });
    const known = describeKeys(dictionary, 20);
    const { rows, bytes, held } = lines.read(Buffer.from(`${first}\n${line}\n${first}`), keys, LIMIT, {
      slot,
      create: true,
    });
    expect([rows, bytes, [...held]]).toEqual([1, first.length + 1, [...before.held]]);
    expect(describeKeys(dictionary, 20)).toEqual(known);
    dictionary.release([...held, ...before.held]);
    expect(describeKeys(dictionary, 20)).toEqual(describeKeys(open(build), 20));
  });

  test('are none if a key has no live node and none may be created', () => {
    const dictionary = open(build);
    const lines = new EdgeLines(dictionary.core);
    const read = (line: string) => lines.read(Buffer.from(line), keys, LIMIT, { slot: PERSON, create: false });
    expect(read('{"event_ts":1,"members":["Ada","Grace"]}\n{"event_ts":1,"members":["Ada","who"]}')).toMatchObject({
      rows: 1,
    });
    expect(read('{"event_ts":1,"members":["held"]}').rows).toBe(0);
    expect(read('{"event_ts":1,"members":["Ada"]}').held.length).toBe(0);
    expect(describeKeys(dictionary, 20)).toEqual(describeKeys(open(build), 20));
  });

  test('leave lines of tables with numbers as they are', () => {
    const lines = new EdgeLines(open(build).core);
    const named = '{"event_ts":1,"members":["Ada"]}';
    const plain = '{"event_ts":1,"members":[5]}';
    expect(lines.read(Buffer.from(named), keys, LIMIT, { slot: PERSON, create: true }).rows).toBe(1);
    expect(lines.read(Buffer.from(plain), keys, LIMIT)).toMatchObject({ rows: 1, held: new Uint32Array(0) });
    expect(lines.read(Buffer.from(named), keys, LIMIT).rows).toBe(0);
    expect(() => lines.read(Buffer.from(named), keys, LIMIT, { slot: 77, create: true })).toThrow('This is a bug');
    expect(lines.read(Buffer.from(plain), keys, LIMIT).rows).toBe(1);
  });

  test('stop where numbers or the space for records end, with the holds of the lines read', () => {
    const dictionary = open(build);
    dictionary.limit = 20;
    const lines = new EdgeLines(dictionary.core);
    const text = Array.from({ length: 30 }, (_, i) => `{"event_ts":${i},"members":["n${i}","m${i}"]}\n`).join('');
    const { rows, held } = lines.read(Buffer.from(text), keys, LIMIT, { slot: PERSON, create: true });
    expect([rows, held.length, dictionary.next]).toEqual([6, 12, 20]);
    dictionary.limit = 2 ** 32 - 1;
    const wide = `{"event_ts":1,"members":["a"]}\n${'{"event_ts":1,"members":["b"]}\n'.repeat(5000)}`;
    let at = 0;
    let count = 0;
    while (at < wide.length) {
      const read = lines.read(Buffer.from(wide.slice(at)), keys, LIMIT, { slot: PERSON, create: true });
      expect(read.held.length).toBe(at === 0 ? 2 : 1);
      count += read.rows;
      at += read.bytes;
    }
    expect(count).toBe(5001);
  });

  test('are the edges of the model, and held once a text, when there are many', () => {
    const random = randomFrom(SEED + 1);
    const [dictionary, other] = [open(build), open(build)];
    const lines = new EdgeLines(dictionary.core);
    const batch = new EdgeBatch(other.core);
    let most = 0;
    for (let round = 0; round < (build === 'debug' ? 100 : 300); round++) {
      const slot = random.below(2) ? PERSON : YEAR;
      const create = random.below(4) > 0;
      // Lines of one and of hundreds of members, so that the space for keys is filled in all ways.
      const long = `{"event_ts":9,"members":[${Array.from({ length: 250 }, (_, i) => (slot === PERSON ? `"l${i % 5}"` : i % 5)).join()}]}`;
      const all = Array.from({ length: 1 + random.below(90) }, () => {
        if (random.below(20) === 0) return create ? long : '{}';
        if (random.below(60) === 0) return mutated(random, randomLine(random, slot)).replaceAll('\n', '');
        const members = Array.from({ length: 1 + random.below(4) }, () => random.below(create ? 40 : 2));
        const names = members.map((member) =>
          slot === PERSON ? (['"Ada"', '"Grace"'][member] ?? `"m${member}"`) : ([1815, -44][member] ?? member),
        );
        return `{"event_ts":${random.below(99)},"members":[${names}]${['', ',"weight":0.5', ',"note":"n"'][random.below(3)]}}`;
      });
      if (!all.every((line) => line.isWellFormed())) continue;
      const { rows, bytes, records, held } = lines.read(Buffer.from(`${all.join('\n')}\n`), keys, LIMIT, {
        slot,
        create,
      });
      const found = Buffer.from(records);
      const expected: { records: Buffer[]; held: number[] } = { records: [], held: [] };
      for (const line of all.slice(0, rows)) {
        const one = judged(other, batch, line, slot, create, expected.held)!;
        expected.records.push(one.record);
        expected.held.push(...one.held);
      }
      expect(bytes).toBe(all.slice(0, rows).reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0));
      expect(found.equals(Buffer.concat(expected.records))).toBe(true);
      expect([...held]).toEqual(expected.held);
      expect(dictionary.next).toBe(other.next);
      most = Math.max(most, rows);
      for (const each of [dictionary, other]) {
        if (round % 3 === 0) each.release(held);
        else if (round % 7 === 0) each.makeLive(held);
        else if (round % 11 === 0) each.kill(1 + (round % 30));
      }
    }
    expect(describeKeys(dictionary, 400)).toEqual(describeKeys(other, 400));
    expect(most).toBeGreaterThan(40);
  });

  test('are the edges of the model when random lines are mutated', () => {
    const random = randomFrom(SEED);
    const [dictionary, other] = [open(build), open(build)];
    const lines = new EdgeLines(dictionary.core);
    const batch = new EdgeBatch(other.core);
    let same = 0;
    for (let round = 0; round < (build === 'debug' ? 3000 : 8000); round++) {
      const slot = random.below(2) ? PERSON : YEAR;
      const create = random.below(4) > 0;
      const line = mutated(random, randomLine(random, slot));
      if (line.includes('\n') || !line.isWellFormed()) continue;
      const { rows, records, held } = lines.read(Buffer.from(line), keys, LIMIT, { slot, create });
      if (rows === 0) {
        expect(held.length).toBe(0);
        continue;
      }
      const expected = judged(other, batch, line, slot, create);
      expect(expected?.record.equals(records), line).toBe(true);
      expect([...held]).toEqual(expected?.held);
      expect(dictionary.next).toBe(other.next);
      for (const each of [dictionary, other]) {
        if (round % 3 === 0) each.release(held);
        else if (round % 7 === 0) each.makeLive(held);
        else if (round % 11 === 0) each.kill(1 + (round % 30));
      }
      same += 1;
    }
    expect(describeKeys(dictionary, 400)).toEqual(describeKeys(other, 400));
    expect(same).toBeGreaterThan(500);
  });
});

const NAMES = [
  '"Ada"',
  '"ada"',
  '"Grace"',
  '"held"',
  '"gr\u00fc\u00df"',
  '"\u{1f33f}"',
  '"\\u0041da"',
  '"a b"',
  '""',
  '"x\u0085"',
];
const YEARS = ['1815', '-44', '7', '0', '-0', '1e3', '2.5', '999999999999999', '9007199254740993'];

function randomLine(random: Random, slot: number): string {
  const members = Array.from({ length: 1 + random.below(7) }, () => {
    if (random.below(3) === 0) return slot === PERSON ? `"p${random.below(60)}"` : String(random.below(60));
    const list = slot === PERSON ? NAMES.slice(0, random.below(4) ? 6 : 10) : YEARS.slice(0, random.below(4) ? 4 : 9);
    return list[random.below(list.length)]!;
  });
  const fields = [`"event_ts":${random.below(1000)}`, `"members":[${members.join(',')}]`];
  if (random.below(2)) fields.push('"note":"Ada"');
  if (random.below(2)) fields.reverse();
  return `{${fields.join(',')}}`;
}

/** Changes, drops or repeats a few characters of one line in two. */
function mutated(random: Random, line: string): string {
  let text = line;
  for (let i = random.below(4) - 1; i > 0; i--) {
    const at = random.below(text.length);
    const kind = random.below(3);
    const other = '{}[]",:0123456789.eE+-truefalsn \\'[random.below(33)]!;
    if (kind === 0) text = text.slice(0, at) + other + text.slice(at + 1);
    else if (kind === 1) text = text.slice(0, at) + text.slice(at + 1);
    else text = text.slice(0, at) + text.slice(at, at + 4) + text.slice(at);
  }
  return text;
}
