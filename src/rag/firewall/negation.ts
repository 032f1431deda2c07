// Finds where a sentence denies something: the words of negation, and the clauses that contain
// them.

import { blank } from './scan.ts';

export interface Denial {
  /** Offsets of the clause. */
  start: number;
  end: number;
  /** Offset of the word of negation. */
  at: number;
}

/** Phrases with a word of negation that do not deny anything. */
const IDIOM =
  /\b(?:not (?:only|just|merely|solely|to mention|more than|less than|later than|earlier than)|no (?:more|less|fewer|later|earlier|sooner) than|no (?:doubt|fewer|others?)|without (?:a )?doubt|whether or not|or not|if not|no one else|nobody else|nothing else|none other|nos?\.(?= ?\d)|nicht nur|nicht zuletzt|non seulement|no s[oó]lo|no solamente|не только|not? less|nothing (?:more|less))\b|不仅|不僅|不但|不久|不同|没错|लेकिन न केवल|न केवल|だけでなく|ليس فقط/giu;
const WORDS = new Set(
  (
    'not never no nor neither none nobody nothing nowhere without cannot isnt arent wasnt werent didnt doesnt dont hasnt havent hadnt denies deny denied refuses refused false untrue incorrect lack lacks lacked lacking absent ' +
    'nicht nie niemals kein keine keinen keinem keiner keines nichts weder ohne niemand pas jamais aucun aucune sans ' +
    'nunca jamás ningún ninguno ninguna tampoco sin nadie não nem nenhum nenhuma sem non mai senza niet geen nooit ' +
    'не нет никогда нельзя никто ничего ни без لم لا ليس ليست ليسا لن ما غير بدون أبدا أبدًا नहीं नही मत बिना'
  ).split(' '),
);
const WORD = /[\p{L}\p{M}\p{N}_]+(?:'[\p{L}]+)?/gu;
const SIGNS =
  /没有|沒有|并未|並未|从未|從未|从不|不是|並非|并非|未曾|未能|不会|不會|不在|不|没|沒|未|ません|なかった|ではない|じゃない|していない|ていない|ずに|않|없|아니|못/gu;
const CLAUSE =
  /[,;:\u2014\u3001\uff0c\uff1b\u060c()|]|\s-\s|\s(?:but|whereas|while|although|though|however|because|since|aber|sondern|während|weil|mais|alors que|parce que|pero|sino|mientras|porque|но|а|потому что|لكن|बल्कि|लेकिन)\s/giu;

/** Returns the first denial in each clause of folded and masked text, or all denials (`every`). */
export function denialsIn(text: string, every = false): Denial[] {
  if (negations(text).length === 0) return []; // the usual case, without a search for idioms
  const plain = text.replace(IDIOM, blank);
  const cuts = Array.from(plain.matchAll(CLAUSE), ({ index }) => index);
  const denials: Denial[] = [];
  let next = 0;
  for (const at of negations(plain)) {
    while (next < cuts.length && cuts[next]! < at) next++;
    const start = cuts[next - 1] ?? 0;
    const end = cuts[next] ?? text.length;
    if (every || denials.at(-1)?.start !== start) denials.push({ start, end, at });
  }
  return denials;
}

/** Returns the offsets of words of negation, in order. */
function negations(text: string): number[] {
  const isNegation = ({ 0: word, index }: RegExpExecArray) =>
    WORDS.has(word.toLowerCase()) ||
    /n't$/i.test(word) ||
    /^fails? to\b|^failed to\b/i.test(text.slice(index, index + 10));
  const places = [...text.matchAll(WORD)].filter(isNegation);
  if (/[^ -~]/.test(text)) places.push(...text.matchAll(SIGNS));
  return places.map(({ index }) => index).sort((a, b) => a - b);
}
