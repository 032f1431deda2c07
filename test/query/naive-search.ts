// A naive search engine over texts of ASCII words: BM25 by its formula, document by document.

export interface NaiveDocument {
  readonly id: number;
  readonly texts: readonly (string | null)[];
}

interface NaivePart {
  readonly sign: '' | '+' | '-';
  /** Several words are a phrase. */
  readonly words: readonly string[];
  readonly isPrefix: boolean;
}

/** Returns the term of a word in lower case. */
export type TermOf = (word: string) => string;

/** Returns the terms of each text, in order. */
function termsOf(texts: NaiveDocument['texts'], termOf: TermOf): string[][] {
  return texts.map((text) => ((text ?? '').toLowerCase().match(/[a-z0-9]+/g) ?? []).map(termOf));
}

function partsOf(query: string, termOf: TermOf): NaivePart[] {
  const parts = [...query.matchAll(/([+-]?)(?:"([^"]*)"|([a-zA-Z0-9]+)(\*?))/g)].map(
    ([, sign, phrase, word, star]) => ({
      sign: sign as NaivePart['sign'],
      words: (phrase ?? word!)
        .toLowerCase()
        .split(/\s+/)
        .filter((each) => each !== '')
        .map(star === '*' ? (each) => each : termOf),
      isPrefix: star === '*',
    }),
  );
  const seen = new Set<string>();
  const isMust = ({ words, isPrefix }: NaivePart) =>
    parts.some((part) => part.sign === '+' && part.isPrefix === isPrefix && `${part.words}` === `${words}`);
  // A part that must occur need not be among those that should.
  const kept = parts.filter((part) => part.words.length > 0 && !(part.sign === '' && isMust(part)));
  return kept.filter((part) => seen.size !== seen.add(JSON.stringify(part)).size);
}

/** How often a part occurs in a document. */
function timesOf({ words, isPrefix }: NaivePart, columns: readonly (readonly string[])[]): number {
  let times = 0;
  for (const column of columns)
    for (let at = 0; at + words.length <= column.length; at++)
      if (words.every((word, place) => (isPrefix ? column[at]!.startsWith(word) : column[at + place] === word)))
        times++;
  return times;
}

/**
 * Returns the score of each document that a query finds, by id. `termOf` stems the words; by
 * default they are their own terms.
 */
export function naiveScores(
  documents: readonly NaiveDocument[],
  query: string,
  termOf: TermOf = (word) => word,
): Map<number, number> {
  const parts = partsOf(query, termOf);
  const read = documents
    .map(({ id, texts }) => ({ id, columns: termsOf(texts, termOf) }))
    .map((one) => ({ ...one, length: one.columns.reduce((sum, { length }) => sum + length, 0) }))
    .filter(({ length }) => length > 0);
  const total = read.length;
  const average = read.reduce((sum, { length }) => sum + length, 0) / Math.max(1, total);
  const idf = (part: NaivePart): number => {
    const df = read.filter(({ columns }) => timesOf(part, columns) > 0).length;
    return Math.log(1 + (total - df + 0.5) / (df + 0.5));
  };
  const weightOf = (part: NaivePart): number =>
    part.words.length === 1
      ? idf(part)
      : part.words.reduce((sum, word) => sum + idf({ sign: '', words: [word], isPrefix: false }), 0);
  const weights = parts.map((part) => (part.sign === '-' ? 0 : weightOf(part)));
  const hasMust = parts.some(({ sign }) => sign === '+');
  const scores = new Map<number, number>();
  for (const { id, columns, length } of read) {
    const times = parts.map((part) => timesOf(part, columns));
    const isThere = (place: number): boolean => times[place]! > 0;
    const isWanted = parts.every(({ sign }, place) =>
      sign === '+' ? isThere(place) : sign !== '-' || !isThere(place),
    );
    const isFound = hasMust || parts.some(({ sign }, place) => sign === '' && isThere(place));
    if (!isWanted || !isFound) continue;
    let score = 0;
    for (const [place, { sign }] of parts.entries()) {
      if (sign === '-') continue;
      const tf = times[place]!;
      // In the order of src/text/bm25.ts, so that scores have the same bits, and ties are ties.
      score += (weights[place]! * (tf * 2.2)) / (tf + 1.2 * (1 - 0.75 + (0.75 * length) / average));
    }
    scores.set(id, score);
  }
  return scores;
}
