import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ABSTAINED_ANSWER, firewall, firewallSteps, type Support } from '../../src/rag/firewall/firewall.ts';
import { fc } from '../support/property.ts';

const FOLDER = new URL('firewall-cases/', import.meta.url);

interface Piece {
  /** `+` for supported, `-` for removed, `=` for kept but not counted. */
  verdict: string;
  text: string;
  /** The sentence as it appears in the final answer. */
  spelled: string;
  /** The space or line breaks before the sentence. */
  before: string;
}

interface Case {
  name: string;
  pieces: Piece[];
}

/**
 * Reads the cases in a file. Below a line `@ title`, each line is a separate answer. Below
 * `@@ title`, all lines together form one answer. A line has a verdict and a sentence, and after
 * `=> ` the final spelling of the sentence if it differs. `/` before the verdict means that the
 * sentence starts a new line, and `//` a new paragraph. `~` after the verdict omits the space
 * before the sentence.
 */
function readCases(file: string): Case[] {
  const cases: Case[] = [];
  let title = '';
  let joined = false;
  for (const line of readFileSync(new URL(file, FOLDER), 'utf8').split('\n')) {
    const heading = /^(@@?) (.*)$/.exec(line);
    if (heading !== null) {
      title = `${file.replace('.txt', '')}: ${heading[2]}`;
      joined = heading[1] === '@@';
      if (joined) cases.push({ name: title, pieces: [] });
      continue;
    }
    const match = /^((?:\\r)?\/{0,2})([-+=])(~?) (.*?)(?: => (.*))?$/.exec(line);
    if (match === null) continue;
    const [, breaks, verdict, close, raw, spelled] = match;
    const text = unescaped(raw!);
    const before = breaks === '' ? (close === '~' ? '' : ' ') : unescaped(breaks!).replace(/\//g, '\n');
    const piece = { verdict: verdict!, text, spelled: spelled ?? text, before };
    if (joined) cases.at(-1)!.pieces.push(piece);
    else cases.push({ name: `${title}: ${raw}`, pieces: [{ ...piece, before: '' }] });
  }
  return cases;
}

function unescaped(text: string): string {
  return text
    .replace(/\\u\{([0-9a-f]+)\}/g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replace(/\\\\n/g, '\ue000')
    .replace(/\\n/g, '\n')
    .replace(/\\r/g, '\r')
    .replace(/\ue000/g, '\\n')
    .replace('{longer}', `Nodes 3 and 9 met ${'again and '.repeat(3000)}again`)
    .replace('{long}', `Nodes 3 and 9 met ${'again and '.repeat(800)}again`);
}

function readSupport(): Support {
  const items = { edge: new Map(), step: new Map(), rule: new Map() };
  for (const line of readFileSync(new URL('0-support.txt', FOLDER), 'utf8').split('\n')) {
    const match = /^(edge|step|rule) (.*)$/.exec(line);
    if (match === null) continue;
    const item = JSON.parse(match[2]!);
    if (match[1] === 'edge') items.edge.set(item.edge_id, { ...item, hedge_tag: `HEDGE-${item.edge_id}`, score: 0.5 });
    else items[match[1] as 'step' | 'rule'].set(Number(/\d+$/.exec(item.step_tag ?? item.rule_tag)![0]), item);
  }
  return { edges: items.edge, steps: items.step, rules: items.rule };
}

const support = readSupport();
const files = readdirSync(FOLDER).filter((name) => name.endsWith('.txt') && name !== '0-support.txt');
const cases = files.flatMap(readCases);

describe('the firewall', () => {
  it.each(cases.map((one) => [one.name.slice(0, 120), one] as const))('%s', (_, { pieces }) => {
    const answer = pieces.map(({ before, text }, index) => (index === 0 ? '' : before) + text).join('');
    const result = firewall(answer, support);
    const of = (verdict: string) => pieces.filter((piece) => piece.verdict === verdict);
    const bare = (text: string) => text.replace(/<br\/?>$|\\n$/, '');
    expect(result.stripped.map(({ sentence }) => sentence)).toEqual(of('-').map(({ text }) => bare(text)));
    expect(result.supported_count).toBe(of('+').length);
    expect(result.abstained).toBe(of('+').length === 0);
    if (result.abstained) {
      expect(result.answer).toBe(ABSTAINED_ANSWER);
      return;
    }
    expect(result.outcome).toBe(of('-').length > 0 ? 'stripped' : 'supported');
    expect(result.coverage).toBe(of('+').length / (of('+').length + of('-').length));
    let rest = result.answer;
    for (const { spelled } of pieces.filter(
      ({ verdict, text }) => verdict === '+' || (verdict === '=' && /\p{L}{3}/u.test(text) && !text.startsWith('`')),
    )) {
      expect(rest).toContain(bare(spelled));
      rest = rest.slice(rest.indexOf(bare(spelled)) + bare(spelled).length);
    }
  });

  it('is tested with enough cases, of which about half are supported', () => {
    const supported = cases.filter(({ pieces }) => pieces.every(({ verdict }) => verdict !== '-')).length;
    expect(cases.length).toBeGreaterThan(240);
    expect(supported).toBeGreaterThan(0.4 * cases.length);
    expect(supported).toBeLessThan(0.6 * cases.length);
  });

  it('abstains if the answer is empty, blank or without any support', () => {
    for (const answer of ['', ' \n ', '---', 'Why?', '\u200b'])
      expect(firewall(answer, support)).toMatchObject({ answer: ABSTAINED_ANSWER, outcome: 'abstained', coverage: 0 });
    const none = { edges: new Map(), steps: new Map(), rules: new Map() };
    expect(firewall('Nodes 3 and 9 met [HEDGE-1].', none)).toMatchObject({
      outcome: 'abstained',
      stripped_count: 1,
      citedEdges: [],
    });
  });

  it('returns the edges that kept sentences cite, in order of mention', () => {
    const result = firewall(
      'Nodes 4 and 5 met [HEDGE-3]. Nodes 3 and 9 met [HEDGE-2] [HEDGE-1]. Nodes 1 and 2 met [HEDGE-12].',
      support,
    );
    expect(result).toMatchObject({ citedEdges: [3, 2, 1], supported_count: 2, stripped_count: 1, coverage: 2 / 3 });
  });

  it('never keeps a sentence that states something without a known tag, for any text', () => {
    const piece = fc.constantFrom(
      '.',
      '. ',
      '\n',
      ' ',
      'node ',
      '3',
      '9',
      '7.7',
      '[HEDGE-1]',
      '[HEDGE-99]',
      '[HEDGE-',
      'HEDGE-99',
      '[',
      ']',
      '"',
      '(',
      '。',
      'close(3, 9)',
      '\u200b',
      '\u202e',
      'Н',
      '】',
      '【',
    );
    const text = fc.oneof(
      fc.array(piece, { maxLength: 30 }).map((parts) => parts.join('')),
      fc.string({ unit: 'binary', maxLength: 200 }),
    );
    fc.assert(
      fc.property(text, (answer) => {
        const result = firewall(answer, support);
        const tags = [...result.answer.matchAll(/HEDGE-(\d+)/g)].map((match) => Number(match[1]));
        expect(tags.filter((id) => !support.edges.has(id))).toEqual([]);
        expect(result.abstained).toBe(result.supported_count === 0);
        expect(result.answer).not.toContain('7.7');
        if (result.outcome === 'supported') expect(firewall(result.answer, support).outcome).toBe('supported');
      }),
      { seed: 20_260_604, numRuns: 2000 },
    );
  });

  it.each([
    ...'[".?|a1-\\*`(“不',
    '. ',
    '[HEDGE-1',
    '[HEDGE-1] ',
    '\\"',
    'a("',
    '1,',
    'not ',
    '<br ',
    '\n ',
    '\u0301\u0316',
    '[HEDGE-1]\n',
    '<br><p x',
    '{"a":"b\\n',
    '[HEDGE-1-999]. ',
    '"a."',
    '\n',
    'Nodes 3 and 9 met [HEDGE-1]. ',
  ])('checks a megabyte of %j in small steps', (piece) => {
    // A range has a thousand tags in a few characters, so a sixteenth of the length is enough work.
    const length = piece.includes('-999') ? 2 ** 16 : 2 ** 20;
    const steps = firewallSteps(piece.repeat(length / piece.length), support);
    let count = 0;
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done) {
        expect(step.value.supported_count > 0).toBe(piece.startsWith('Nodes'));
        break;
      }
      count++;
    }
    if (/^Nodes|-999/.test(piece)) expect(count).toBeGreaterThan(100);
  });
});
