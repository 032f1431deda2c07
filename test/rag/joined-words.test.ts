import { expect, it } from 'vitest';
import { joinedWords } from '../../src/rag/question/joined-words.ts';
import { begun } from '../../src/rag/question/understand.ts';

it.each([
  ['Who paid 55,000?', ['55,000']],
  ['Was it 3,50 or 1,234.56 francs?', ['3,50', '1,234.56']],
  ['What does www.example.org say of node.js?', ['www.example.org', 'node.js']],
  ["Where did o'neil go to in the U.S.A?", ["o'neil", 'U.S.A']],
  ['Is 192.168.0.1 on version 2.3.1?', ['192.168.0.1', '2.3.1']],
  ['The bud\u00ADget of a\u200Db', ['bud\u00ADget', 'a\u200Db']],
  ['Who takes the 14:30?', ['14:30']],
  ["Ada's dog isn't foo_bar, is it?", []],
  ['budget "travel costs" 12 1.5 co-op', []],
  ['C++, C# or AT&T?', ['C++', 'C#', 'AT&T']],
  ['An x-ray of C-3PO, not a 3-day well-known co-op or 3-4', ['x-ray', 'C-3PO']],
  ['- a - b-- covid-19-', ['covid-19']],
  ['', []],
  ['x.y '.repeat(100), ['x.y']],
])('the words that an index keeps whole: %s', (question, expected) => {
  expect(joinedWords(begun(question))).toEqual(expected);
});

it('leaves out what is taken as a name', () => {
  const reading = begun('What does example.com say of node.js?');
  for (const word of reading.words) word.taken = word.start < 'What does example.com'.length;
  expect(joinedWords(reading)).toEqual(['node.js']);
});
