// Cuts an answer into sentences. A line break ends a sentence, so list items, headings and table
// rows are separate. Tags after a full stop, or alone on the next line, usually belong to the
// sentence before them.

import { monthOf } from './answer-times.ts';
import { comparable } from './lookalikes.ts';
import { matchAt } from './scan.ts';
import { endOfTagAt, hasTag } from './tags.ts';

export interface Sentence {
  /** Offsets in the answer. */
  start: number;
  end: number;
  /** A `structure` states nothing: a horizontal rule, a code fence, or brackets in JSON. */
  kind: 'stating' | 'question' | 'structure';
  /** Whether the sentence begins a line. If so, it may begin with a list marker. */
  beginsLine: boolean;
}

/** Matches a line break, as a character or as an HTML element. */
const BREAK =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: separators such as FS end lines too
  /\r\n|[\n\r\v\f\u001c-\u001f\u0085\u2022\u2023\u2028\u2029\u25e6\u2043]|<\/?(?:br|p|li|ul|ol|div|tr|td|th|table|thead|tbody|h[1-6]|hr|blockquote|section)\b[^<>\n]{0,200}>/gi;
/** Matches a line break in JSON, where it may be the two characters `\n`. */
const BREAK_OF_JSON = new RegExp(`${BREAK.source}|\\\\n`, 'gi');
/** Matches a full stop, a similar sign in any script, or the edge of a table cell. */
const STOP =
  /[.!?|\t\u2026\u203c\u203d\u2047-\u2049\u0589\u3002\uff01\uff1f\uff0e\uff61\u0964\u0965\u061f\u06d4\u1362\u1367\u1368\ufe52\ufe56\ufe57\u17d4\u17d5\u104b\u0f0d]/;
const STOPS = new RegExp(`${STOP.source}*`, 'y');
/** Matches a stop that may also occur inside a word or number. */
const LATIN_STOP = /[.!?\u2026\u0589]/;
/** Matches closing quotation marks, brackets and emphasis after a full stop. */
const CLOSERS = /["'\u201d\u2019\u00bb\u203a\u300d\u300f)\]\uff09*_`~}]*/y;
const ASKING = /[?\u2047\uff1f\u061f\u1367\ufe56]["'\u201d\u2019\u00bb\u203a\u300d\u300f)\uff09*_`~\s]*$/;
/** Matches the end of a question that also has an exclamation mark. It counts as a claim. */
const CALLING =
  /[!\uff01\u203c\u2048\u2049\u203d][?\u2047\uff1f\u061f\u1367\ufe56"'\u201d\u2019\u00bb\u203a\u300d\u300f)\uff09*_`~\s]*$/;
/**
 * Matches a request for agreement at the end of a claim, as in "..., right?". The sentence still
 * counts as a claim.
 */
const CONSENT =
  /[,;\u2014-]\s*(?:right|ok|okay|yes|no|correct|true|agreed|huh|eh|innit|don't you think|oder|nicht wahr|n'est-ce pas|verdad|(?:is|are|was|were|did|do|does|has|have|had|wo|would|ca|could)n't (?:it|they|he|she|we|you))\s*\?+["')*_\s]*$/i;
const FENCE = /^\s*(?:```|~~~)[\w+-]*\s*$/;

/**
 * Number of cuts or line breaks that are processed between two pauses, in a fraction of a
 * millisecond.
 */
const STEP_CUTS = 256;

/** Yields the sentences of a short text, without pausing. */
export function* sentencesOf(
  answer: string,
  isStored: (quoted: string) => boolean = () => false,
): Generator<Sentence, void, void> {
  for (const sentence of sentenceSteps(answer, isStored)) if (sentence !== undefined) yield sentence;
}

/**
 * Yields the sentences of a text, and undefined after a fraction of a millisecond of work. Does not
 * cut a quotation for which `isStored` returns true.
 */
export function* sentenceSteps(
  answer: string,
  isStored: (quoted: string) => boolean,
): Generator<Sentence | undefined, void, void> {
  let last: Sentence | undefined;
  let cuts = 0;
  const quoteEnd = storedQuotes(answer, isStored);
  for (const line of linesOf(answer, storedQuotes(answer, isStored))) {
    if (line === undefined) yield undefined;
    if (line === undefined || line.start === line.end) continue;
    let at = line.start;
    for (const cut of cutsOf(answer, line.start, line.end, quoteEnd)) {
      if (++cuts % STEP_CUTS === 0) yield undefined;
      if (cut === undefined) continue;
      const next = asSentence(answer, skipSpace(answer, at, cut), cut, at === line.start);
      at = cut;
      if (last !== undefined && belongsTo(last, next, answer)) last.end = cut;
      else {
        if (last !== undefined) yield last;
        last = next;
      }
    }
  }
  if (last !== undefined) yield last;
}

/**
 * Returns whether `next` belongs to the sentence `last`: it consists of tags on the line after the
 * sentence, or of leftover brackets and quotation marks.
 */
function belongsTo(last: Sentence, next: Sentence, answer: string): boolean {
  if (!next.beginsLine) return next.kind === 'structure';
  if (last.kind === 'structure' || /[\n\r][^\S\n]*[\n\r]/.test(answer.slice(last.end, next.start))) return false;
  const tagsEnd = endOfTags(answer, next.start, next.end, AROUND_TAGS);
  return tagsEnd > next.start && runEnd(AROUND_TAGS, answer, tagsEnd) >= next.end;
}

/** Matches a sign or element for a line break that a quoted text may contain. */
const QUOTABLE = /^[\u2022\u2023\u25e6\u2043<]/;

/** Yields the lines without the space around them, and undefined for a pause. */
function* linesOf(answer: string, quoteEnd: QuoteEnd): Generator<{ start: number; end: number } | undefined> {
  let start = 0;
  let found = 0;
  const breaks = /^\s*(?:```(?:json)?\s*)?[[{"]/.test(answer) ? BREAK_OF_JSON : BREAK;
  for (const match of answer.matchAll(breaks)) {
    if (++found % STEP_CUTS === 0) yield undefined;
    if (QUOTABLE.test(match[0]) && quoteEnd(match.index) !== undefined) continue;
    if (match.index > start) yield trimmed(answer, start, match.index);
    start = match.index + match[0].length;
  }
  yield trimmed(answer, start, answer.length);
}

function trimmed(answer: string, from: number, to: number): { start: number; end: number } {
  const start = skipSpace(answer, from, to);
  return { start, end: start + answer.slice(start, to).trimEnd().length };
}

/** Returns whether a line is a table row or a code fence. Such a line is not cut. */
function isWhole(answer: string, start: number, end: number): boolean {
  return answer[start] === '|' || (end - start < 40 && FENCE.test(answer.slice(start, end)));
}

function asSentence(answer: string, start: number, end: number, beginsLine: boolean): Sentence {
  const text = answer.slice(start, end);
  let kind: Sentence['kind'] = 'stating';
  if (!/[\p{L}\p{N}]/u.test(text) || FENCE.test(text)) kind = 'structure';
  else if (
    ASKING.test(text.slice(-40)) &&
    !CALLING.test(text.slice(-40)) &&
    !CONSENT.test(text.slice(-80)) &&
    !hasTag(text)
  )
    kind = 'question';
  return { start, end, kind, beginsLine };
}

/** Yields the ends of the sentences in a line, and undefined for a stop that ends no sentence. */
function* cutsOf(answer: string, start: number, end: number, quoteEnd: QuoteEnd): Generator<number | undefined> {
  const stopFrom = (at: number) => {
    const stop = answer.slice(at, end).search(STOP);
    return stop < 0 ? end : at + stop;
  };
  let from = start;
  for (let at = isWhole(answer, start, end) ? end : stopFrom(start); at < end; ) {
    const quoted = quoteEnd(at);
    if (quoted !== undefined && quoted <= end) {
      at = stopFrom(quoted);
      continue;
    }
    const stopsEnd = runEnd(STOPS, answer, at);
    const closed = Math.min(end, runEnd(CLOSERS, answer, stopsEnd));
    const isEnd = endsHere(answer, from, at, stopsEnd, closed, end);
    if (isEnd) from = withTagsBehind(answer, from, at, closed, end);
    if (from >= end) break;
    yield isEnd ? from : undefined;
    at = stopFrom(isEnd ? from : closed);
  }
  yield end;
}

/**
 * Returns the end of the quotation that contains an offset, if it quotes a stored text. Must be
 * called with ascending offsets.
 */
type QuoteEnd = (at: number) => number | undefined;

/**
 * Finds quotations of stored texts. The end of a quotation is placed before its final stop, because
 * this stop may also end the sentence around the quotation.
 */
function storedQuotes(answer: string, isStored: (quoted: string) => boolean): QuoteEnd {
  const matches = answer.matchAll(/(?<!\\)"((?:[^"\\\n]|\\.){0,2000})"|\u201c([^\u201c\u201d\n]{0,2000})\u201d/g);
  let quote = { start: -1, end: -1, isKnown: false };
  return (at) => {
    while (quote.end <= at) {
      const match: RegExpExecArray | undefined = matches.next().value;
      const content = match?.[1] ?? match?.[2] ?? '';
      const trailing = /[.!?\u2026\u3002\uff01\uff1f]*$/.exec(content)![0].length;
      const isKnown = /[^\p{L}\p{N}\s,-]/u.test(content) && isStored(content);
      const start = match?.index ?? Infinity;
      quote = { start, end: start + (match?.[0].length ?? 0) - 1 - trailing, isKnown };
    }
    return quote.isKnown && quote.start < at ? quote.end : undefined;
  };
}

function runEnd(pattern: RegExp, text: string, at: number): number {
  return at + (matchAt(pattern, text, at)?.[0].length ?? 0);
}

function skipSpace(answer: string, from: number, to: number): number {
  return to - answer.slice(from, to).trimStart().length;
}

/** Matches the beginning of a sentence that directly follows a full stop, without a space. */
const CLAUSE_START =
  /^(?:nodes?|members?|hyperedges?|events?|edges?|they|someone|everyone|everybody|nobody|all|both)\s/i;

/**
 * Returns whether the stops from `stop` to `stopsEnd` end the sentence. Closing quotation marks and
 * brackets follow them up to `closed`.
 */
function endsHere(answer: string, from: number, stop: number, stopsEnd: number, closed: number, end: number): boolean {
  if (closed >= end) return true;
  const sign = answer[stop]!;
  if (sign === '|' || sign === '\t') return /\s/.test(answer[stop - 1] ?? '') || sign === '\t';
  if (!LATIN_STOP.test(sign)) return true;
  const before = answer[stop - 1] ?? ' ';
  const next = answer[closed]!;
  if (/[[\uff3b\u3010]/.test(next)) return endOfTagAt(answer, closed) >= 0;
  if (!/\s/.test(next)) {
    if (/[\]\uff3d\u3011]/.test(before)) return /[\p{L}\p{N}]/u.test(next);
    if (/\p{Ll}/u.test(before) && CLAUSE_START.test(answer.slice(closed, closed + 16))) return true;
    return (
      /[\p{Ll}\p{Lo}\p{N})"\u201d]/u.test(before) &&
      /[\p{Lu}\p{Lo}]/u.test(next) &&
      !(/\p{N}/u.test(before) && /\p{N}/u.test(next))
    );
  }
  const rest = answer.slice(closed, Math.min(end, closed + 40)).trimStart();
  if (stopsEnd > stop + 1 || sign === '\u2026') return !/^\p{Ll}/u.test(rest) || /[\]\uff3d\u3011]/.test(before);
  if (closed > stopsEnd && /["'\u201d\u00bb]/.test(answer.slice(stopsEnd, closed)) && /^\p{Ll}/u.test(rest))
    return false; // only the quotation ends, as in: "Go." and went
  if (sign !== '.' || closed > stopsEnd) return true;
  return !isInside(answer, from, stop, rest);
}

/** Abbreviations that are always followed by more of the sentence. */
const INSIDE = new Set(
  `e.g i.e e.g. vs cf approx ca c dr mr mrs ms prof sr jr st mt no nos nr fig figs eq vol ch sec pp ed eds resp est incl excl viz al max min avg temp lat lon
  z.b d.h u.a bzw ggf vgl sog inkl ca abb bspw zzgl evtl nr std hr fr p.ex env av apr m mme mlle art sra srta ud uds pág núm p.ej aprox т.е т.к им ул г.г напр см`.split(
    /\s+/,
  ),
);
/** Abbreviations that may end a sentence. If they do, the next sentence begins with a capital. */
const INSIDE_OR_LAST = new Set(
  `etc a.m p.m u.s u.k e.u inc ltd co corp jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun
  usw u.s.w т.д т.п г sek min utc`.split(/\s+/),
);

/** Returns whether a full stop belongs to an abbreviation, initial, date or list number. */
function isInside(answer: string, from: number, stop: number, rest: string): boolean {
  const begun = answer.slice(Math.max(from, stop - 24), stop);
  const word = /[\p{L}\p{M}\p{N}.]+$/u.exec(begun)?.[0] ?? '';
  if (word === '') return false;
  if (/^\d{1,3}$/.test(word) && stop - from < 12 && /^[\s>*_#+-]*\(?\d{1,3}$/.test(answer.slice(from, stop)))
    return true;
  if (/^\d{1,2}$/.test(word)) {
    if (/\d{1,2}\. ?\d{1,2}$/.test(begun) && /^\d{4}/.test(rest)) return true; // 14. 11. 2023
    const following = /^[\p{L}\p{M}]+/u.exec(rest)?.[0];
    return (
      (following !== undefined && monthOf(comparable(following)) !== undefined) || /^\d{1,2}\. ?\d{2,4}/.test(rest)
    );
  }
  if (/^\d/.test(rest) && monthOf(comparable(word)) !== undefined) return true; // Nov. 14
  if (INSIDE_OR_LAST.has(word.toLowerCase())) return !/^["'\u201c(]*[\p{Lu}\p{N}]/u.test(rest);
  return INSIDE.has(word.toLowerCase()) || /^(?:\p{Lu}|(?:\p{L}\.)+\p{L})$/u.test(word);
}

const AROUND_TAGS = /[\s,;.*_`]*/y;
const BETWEEN_TAGS = /\s*(?:[,;&]|and )?/y;

/**
 * Returns the end of the last tag in a row of tags that begins at an offset. Between two tags there
 * is only text that `gap` matches.
 */
function endOfTags(answer: string, from: number, end: number, gap: RegExp): number {
  let last = from;
  for (let next = endOfTagAt(answer, from); next >= 0 && next <= end; ) {
    last = next;
    next = endOfTagAt(answer, runEnd(gap, answer, last));
  }
  return last;
}

/**
 * Returns the end of a sentence, which includes tags after its full stop unless the next sentence
 * begins with these tags.
 */
function withTagsBehind(answer: string, from: number, stop: number, closed: number, end: number): number {
  const at = endOfTags(answer, closed, end, BETWEEN_TAGS);
  if (at === closed) return closed;
  const tail = Math.min(end, runEnd(/[.!?\u2026\u3002\uff0e\u0964"'\u201d)*_`~,;]*/y, answer, at));
  const rest = answer.slice(tail, Math.min(end, tail + 20)).trimStart();
  if (rest === '' || tail > at) return tail;
  return hasTag(answer.slice(from, stop)) || /^\p{Ll}/u.test(rest) ? closed : tail;
}
