import { describe, expect, it } from 'vitest';
import { irregularForms } from '../../src/rag/question/irregular-forms.ts';

describe('irregular forms', () => {
  it.each([
    ['run', ['ran']],
    ['running', ['ran']],
    ['ran', ['run']],
    ['children', ['child', 'kid', 'kids']],
    ['taught', ['teach']],
    ['seven', ['7']],
    ['7', ['seven']],
  ])('of %s are %j', (word, forms) => expect(irregularForms(word)).toEqual(forms));

  // "lay" is the past of "lie", and a verb of its own.
  it('are those of all words that are written alike', () =>
    expect(irregularForms('lay')).toEqual(['laid', 'lie', 'lain']));

  it.each(['walk', 'ran away', '', '…'])('of "%s" are none', (word) => expect(irregularForms(word)).toEqual([]));
});
