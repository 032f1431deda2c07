import { describe, expect, it } from 'vitest';
import { begun } from '../../src/rag/question/understand.ts';
import { hasAnswer, wantedAnswer } from '../../src/rag/question/wanted-answer.ts';

describe('the wanted answer', () => {
  it.each([
    ['When did Ada move?', 'time'],
    ['In which year was that?', 'time'],
    ['How many eggs, and when?', 'number'],
    ['How old was she when she began?', 'number'],
    ['How did it go?', undefined],
    ['What did she buy?', undefined],
    ['', undefined],
  ])('of "%s" is %s', (question, wanted) => expect(wantedAnswer(begun(question))).toBe(wanted));

  it.each([
    ['time', 'I moved last Friday.', true],
    ['time', 'It was in 1987.', true],
    ['time', 'I have moved!', false],
    ['number', 'We had sixteen.', true],
    ['number', 'Only 3.', true],
    ['number', 'Some.', false],
  ] as const)('%s is in "%s": %s', (wanted, text, has) => expect(hasAnswer(wanted, text)).toBe(has));
});
