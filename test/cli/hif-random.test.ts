// Random HIF documents with everything that the schema allows are imported into a new directory and
// exported again: the content is the same, but for what one warning names.

import { existsSync, readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { exportCommand } from '../../src/cli/export/command.ts';
import { importCommand } from '../../src/cli/import/command.ts';
import { Random } from '../support/random.ts';
import { type HifDocument, type Id, randomDocument } from './hif-documents.ts';
import { contentOf, expectedOf } from './hif-expected.ts';
import { HIF_SCHEMA } from './hif-schema.ts';
import { TestWorld } from './support.ts';

/**
 * Number of documents; HEDGEROW_HIF_DOCUMENTS sets another one, HEDGEROW_HIF_SEED the first seed.
 */
const DOCUMENTS = Number(process.env.HEDGEROW_HIF_DOCUMENTS ?? 200);
const FIRST = Number(process.env.HEDGEROW_HIF_SEED ?? 1);
/** After this many, a run ends. */
const MOST_FAILURES = 5;
/** One document in so many is imported and exported once more. */
const AGAIN = 4;

const isHif = new Ajv({ strict: false, allErrors: true }).compile(HIF_SCHEMA);
const RENAMED = /the name of the attribute ("(?:[^"\\]|\\.)*") of (edges|nodes) \(now (\w+)\)/g;

async function roundTrip(document: HifDocument): Promise<{ said: string; exported: HifDocument }> {
  const world = new TestWorld();
  try {
    world.file('x.json', JSON.stringify(document));
    const flags = { data: 'db', table: 't', create: true, ts: '2020-01-01' };
    expect(await importCommand(['x.json'], flags, world), world.err).toBe(0);
    const said = world.err;
    expect(existsSync(world.path('x.json.rejects.ndjson'))).toBe(false);
    expect(await exportCommand({ data: 'db', table: 't', out: 'y.hif' }, world), world.err).toBe(0);
    return { said, exported: JSON.parse(readFileSync(world.path('y.hif'), 'utf8')) };
  } finally {
    world.remove();
  }
}

/** Returns what the warning of an import says is not kept, and the new names of attributes. */
function lossesIn(said: string): { losses: string[]; names: Map<string, string> } {
  if (said === '') return { losses: [], names: new Map() };
  const [, text] = /^hedgerow: Not kept of x\.json: (.*)\.\n$/.exec(said) ?? expect.fail(said);
  const names = new Map<string, string>();
  for (const [, attr, of, name] of text!.matchAll(RENAMED)) names.set(`${of} ${unescaped(attr!)}`, name!);
  const parts = text!.split(/, (?=the |\d+ edges? without|what a later)/);
  return { losses: parts.map((part) => part.replace(/^(the name of .*) \(now \w+\)$/, '$1')).sort(), names };
}

/** Returns the attribute in a warning, in which control characters are visible. */
function unescaped(quoted: string): string {
  return JSON.parse(quoted);
}

async function check(document: HifDocument, isAgain: boolean): Promise<void> {
  expect(isHif(document), JSON.stringify(isHif.errors)).toBe(true);
  const { said, exported } = await roundTrip(document);
  expect(isHif(exported), JSON.stringify(isHif.errors)).toBe(true);
  const { losses, names } = lossesIn(said);
  const short = (attr: string) => (attr.length > 40 ? `${attr.slice(0, 40)}...` : attr);
  const nameOf = (attr: string, of: string) => names.get(`${of} ${short(attr)}`) ?? attr;
  const expected = expectedOf(document, nameOf);
  expect(losses).toEqual(expected.losses);
  const ids = [...document.incidences.map(({ node }) => node), ...(document.nodes ?? []).map(({ node }) => node!)];
  const twins = new Set<Id>(
    ids.filter((id) => typeof id === 'number' && ids.includes(String(id))).map((id) => String(id)),
  );
  const attrs = (document.edges ?? []).flatMap((edge) => Object.keys(edge.attrs ?? {}));
  const mayGuess = attrs.length > 0 && !attrs.includes('event_ts');
  expect(contentOf(exported, document, mayGuess, twins)).toEqual(expected.content);
  if (!isAgain) return;
  const again = await roundTrip(exported);
  expect(again.said).toBe('');
  expect(contentOf(again.exported, exported, false, new Set())).toEqual(
    contentOf(exported, exported, false, new Set()),
  );
}

test(
  `${DOCUMENTS} random documents come back with the same content, but for what one warning names`,
  async () => {
    const failures: string[] = [];
    for (let seed = FIRST; seed < FIRST + DOCUMENTS && failures.length < MOST_FAILURES; seed++) {
      const document = randomDocument(new Random(seed));
      try {
        await check(document, seed % AGAIN === 0);
      } catch (error) {
        const { message, actual, expected } = error as Error & { actual?: unknown; expected?: unknown };
        const shown = [document, actual, expected].map((value) => JSON.stringify(value)?.slice(0, 4000)).join('\n');
        failures.push(`seed ${seed}: ${message}\n${shown}`);
      }
    }
    expect(failures.join('\n\n')).toBe('');
  },
  60_000 + DOCUMENTS * 3000,
);
