// Resolves conditions on words ("in Rome or Oslo", "not in Rome") to conditions on the column that
// has these words as values.
//
// This is done only if it is certain: all words are whole values of one and the same column, and
// occur in no other text of the table. Otherwise the condition is reported as ignored, and the
// question has no figure. Names of nodes that "or" joins need no column.

import type { Steps } from '../../schedule/steps.ts';
import type { Filter, Ignored } from '../question/question.ts';
import type { Understood } from '../question/understand.ts';
import { NOT_CERTAIN, type WordCondition } from '../question/word-conditions.ts';
import type { Bound } from './bind.ts';
import type { EdgeReader } from './edge-rows.ts';
import { holdsWord, keywordStem } from './keyword-match.ts';

interface Resolved {
  /** The question with the conditions on columns, and without the words that they contain. */
  readonly bound: Bound;
  /** Whether "or" joins the nodes. */
  readonly hasOr: boolean;
  /** Whether a condition cannot be resolved. */
  readonly isUnclear: boolean;
}

/** `reader` must read the columns of texts. */
export function* resolveWords(said: Understood, bound: Bound, reader: EdgeReader): Steps<Resolved> {
  const { wordConditions } = said;
  let { hasOr } = said;
  const words = [...new Set(wordConditions.flatMap((condition) => condition.words))];
  const others = said.figure === null ? [] : [...bound.free.keys()].filter((word) => !words.includes(word));
  if (words.length === 0 && others.length < 2) return { bound, hasOr, isUnclear: false };
  const wanted = [...words, ...others].filter((word) => bound.free.has(word));
  const columns = wanted.length > 0 ? yield* columnsOf(reader, wanted) : new Map<string, Whole | null>();
  const filters: Filter[] = [...bound.question.filters];
  const ignored: Ignored[] = [...bound.question.ignored];
  const free = new Map(bound.free);
  let isUnclear = false;
  for (const condition of wordConditions) {
    const column = columnOf(condition, free, columns, reader);
    if (column !== undefined) {
      const texts = condition.words.map((word) => columns.get(word)!.text);
      const { op } = condition;
      filters.push(op === 'in' ? { column, op, value: texts } : { column, op, value: texts[0]! });
    } else if (isOfNodes(condition, free, bound)) hasOr = true;
    else {
      ignored.push({ text: condition.written, reason: NOT_CERTAIN });
      isUnclear = true;
    }
  }
  for (const texts of exclusive(others, columns)) {
    ignored.push({ text: texts.join(' '), reason: EXCLUSIVE });
    isUnclear = true;
  }
  if (!isUnclear) for (const word of words) free.delete(word);
  const keywords = bound.question.keywords.filter((word) => isUnclear || !words.includes(word));
  const isNamed = bound.isNamed || filters.length > 0;
  return {
    bound: {
      ...bound,
      question: { ...bound.question, filters, keywords, ignored },
      free,
      isNamed,
      binds: bound.binds || filters.length > 0,
    },
    hasOr,
    isUnclear,
  };
}

/**
 * Returns whether all words of "or" are names of nodes, and the question names no other node: in
 * "Ada with Grace or Ken", it is not certain what "or" joins.
 */
function isOfNodes({ op, words }: WordCondition, free: ReadonlyMap<string, string>, { question }: Bound): boolean {
  return op === 'in' && words.every((word) => !free.has(word)) && question.nodes.length === words.length;
}

function columnOf(
  { words }: WordCondition,
  free: ReadonlyMap<string, string>,
  columns: ReadonlyMap<string, Whole | null>,
  { snapshot }: EdgeReader,
): string | undefined {
  const [id, ...others] = new Set(words.map((word) => (free.has(word) ? columns.get(word)?.column : undefined)));
  if (id === undefined || others.length > 0) return undefined;
  return snapshot.columns.columns.find((column) => column.id === id)?.name;
}

/** A word that is a whole value of one column. */
interface Whole {
  /** Id of the column. */
  readonly column: number;
  /** The value as stored. */
  readonly text: string;
}

const EXCLUSIVE = 'These are values of one column, of which an edge has only one. Join them by "or".';

/** Returns the words that are values of one column, of which no edge has two: "Rome and Oslo". */
function exclusive(words: readonly string[], columns: ReadonlyMap<string, Whole | null>): string[][] {
  const byColumn = new Map<number, string[]>();
  for (const word of words) {
    const whole = columns.get(word);
    if (whole != null) byColumn.set(whole.column, [...(byColumn.get(whole.column) ?? []), whole.text]);
  }
  return [...byColumn.values()].filter((texts) => new Set(texts.map((text) => text.toLowerCase())).size > 1);
}

/**
 * Returns the column that has a word as a value, for each word. It is null if the word also occurs
 * in another column, or inside another text.
 */
function* columnsOf(reader: EdgeReader, words: readonly string[]): Steps<Map<string, Whole | null>> {
  const found = new Map<string, Whole | null>();
  const stems = words.map((word) => [word, keywordStem(word)] as const);
  for (const rows of reader.readKeys({})) {
    yield;
    for (const [id, column] of rows?.columns ?? []) {
      if (column.kind !== 'text') continue;
      for (const text of column.texts) {
        const lower = text.toLowerCase();
        for (const [word, stem] of stems) {
          if (!holdsWord(lower, stem)) continue;
          const known = found.get(word);
          const isWhole = lower === word || lower === stem;
          const isSame = known === undefined || (known?.column === id && known.text.toLowerCase() === lower);
          found.set(word, isWhole && isSame ? { column: id, text } : null);
        }
      }
    }
  }
  return found;
}
