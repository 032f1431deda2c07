import { describe, expect, it } from 'vitest';
import { sentencesOf } from '../../src/rag/firewall/sentences.ts';
import { fc } from '../support/property.ts';

const SEED = 20_260_603;

function cut(answer: string, isStored?: (text: string) => boolean): string[] {
  return [...sentencesOf(answer, isStored)].map(({ start, end }) => answer.slice(start, end));
}

/** Answers in which `|` separates the sentences. */
const ANSWERS = [
  'At 0.5 m, i.e. near, they met.|Then they left.',
  'Dr. Who met J. Smith.|He left.',
  'It was 14. November 2023.|Danach nichts.',
  'Am 14. 11. 2023 war es so.|Danach nichts.',
  'On Nov. 14 they met.|On Dec. they did not.',
  'They met at 10 p.m. on Monday.|They left at 11 p.m.|Nobody saw it.',
  'Then... they met.|And… they left.|No.',
  'He said "Go." and went.|"Stay."|She stayed.',
  '节点相遇。|然后离开！|真的吗？|是的',
  'नोड मिले।|फिर गए।',
  'هل التقيا؟|نعم.',
  'See example.com and v1.2.3 for node.js.|Done.',
  'Met [HEDGE-1].|Fake.',
  'Met. [HEDGE-1]|Fake.',
  'Met. [HEDGE-1] [HEDGE-2].|Fake.',
  'Met [HEDGE-1].|[HEDGE-2] shows more.',
  'Intro.|[HEDGE-2] shows more.',
  'Met [HEDGE-1].Fake it.'.replace('.F', '.|F'),
  'Emoji here 🎉.|More 🎉!|End',
  '1. First item.|Second one.',
];

describe('sentences', () => {
  it.each(ANSWERS)('are cut as in %s', (answer) => {
    const parts = answer.split('|');
    const joined = parts.reduce(
      (text, part) =>
        text +
        (/[\u3002\uff01\uff1f]$/.test(text) || (text.endsWith('[HEDGE-1].') && part.startsWith('Fake it')) ? '' : ' ') +
        part,
    );
    expect(cut(joined)).toEqual(parts);
  });

  it('end at every line, list item, heading and line break', () => {
    expect(cut('# Head\n- item one\r\n* item two\u2028| a. B | c |\n\n2) three<br>four</p>five')).toEqual([
      '# Head',
      '- item one',
      '* item two',
      '| a. B | c |',
      '2) three',
      'four',
      'five',
    ]);
  });

  it('include tags on the next line, but not in the next paragraph', () => {
    expect(cut('Met.\n[HEDGE-1]\nFake.\n\n[HEDGE-2]')).toEqual(['Met.\n[HEDGE-1]', 'Fake.', '[HEDGE-2]']);
    expect(cut('Fake.\n \t\n[HEDGE-2]')).toEqual(['Fake.', '[HEDGE-2]']);
  });

  it('are classified as statements, questions and structure', () => {
    const kinds = [...sentencesOf('It is so. Is it? It is, right?\n---\n```json\n}\n¿Es así?\n真的吗？')].map(
      ({ kind }) => kind,
    );
    expect(kinds).toEqual([
      'stating',
      'question',
      'stating',
      'structure',
      'structure',
      'structure',
      'question',
      'question',
    ]);
  });

  it('are not cut within a quotation of a stored text', () => {
    const answer = 'The note says "First. Second." here. The other says "First. Third." here.';
    expect(cut(answer, (text) => text === 'First. Second.')).toEqual([
      'The note says "First. Second." here.',
      'The other says "First.',
      'Third." here.',
    ]);
  });

  it('cover a whole text except spaces, in order and without overlaps', () => {
    const piece = fc.constantFrom(
      '.',
      '. ',
      '? ',
      '!',
      '\n',
      ' ',
      'a',
      'B',
      '1',
      '[HEDGE-1]',
      '[',
      ']',
      '"',
      '。',
      '…',
      '|',
      '```',
      '- ',
      'e.g.',
      '<br>',
      '\\n',
      '{',
      '🎉',
    );
    const text = fc.oneof(
      fc.array(piece, { maxLength: 40 }).map((parts) => parts.join('')),
      fc.string({ unit: 'binary', maxLength: 200 }),
    );
    fc.assert(
      fc.property(text, (answer) => {
        let at = 0;
        for (const { start, end } of sentencesOf(answer)) {
          expect(start).toBeGreaterThanOrEqual(at);
          expect(end).toBeGreaterThan(start);
          expect(answer.slice(at, start)).toMatch(/^(?:\s|\u0085|\\n|<br>)*$/);
          at = end;
        }
        expect(answer.slice(at)).toMatch(/^(?:\s|\u0085|\\n|<br>)*$/);
      }),
      { seed: SEED, numRuns: 2000 },
    );
  });
});
