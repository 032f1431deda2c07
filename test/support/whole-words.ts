// Texts with words that a text index keeps whole although they have signs in them.

/** A text by the word that it is found by. */
export const WHOLE_WORDS: Readonly<Record<string, string>> = {
  '55,000': 'The invoice came to 55,000 euros.',
  '3,50': 'Coffee was 3,50 francs, which are 3 coins of one and one of a half.',
  'example.com': 'The manual lies at example.com for all.',
  'www.example.org': 'See www.example.org soon.',
  'node.js': 'Grace likes node.js most.',
  '14:30': 'The train leaves at 14:30 sharp.',
  '192.168.0.1': 'The router has 192.168.0.1 inside.',
  '2.3.1': 'A bug is known since 2.3.1.',
  "o'neil": "Mail from O'Neil came.",
  'U.S.A': 'Born in the U.S.A long ago.',
  'bud\u00ADget': 'The budget is small.',
  foo_bar: 'Call foo_bar twice.',
  '1.5': 'It weighs 1.5 kilos.',
  'a:b': 'Key a:b exists.',
  '1,234.56': 'A total of 1,234.56 was paid.',
  ISO9001: 'We have ISO9001.',
  'ada@example.net': 'Write to ada@example.net instead.',
  'C++': 'Nobody writes C++ now.',
  'AT&T': 'Mona was called by AT&T once.',
  'x-ray': 'An x-ray was taken.',
  'covid-19': 'The covid-19 test was negative.',
};

/** Texts that have parts of these words. */
export const PARTS = [
  'Room 3 is on floor 55.',
  'Part 000 of net 50, as an example at 30.',
  'A ray of light at 14, of 19.',
  'See sub.example.com.au, 1,55,000 and 10.192.168.0.1.',
];
