// Parses the tags in a sentence (`[HEDGE-12]`, `[STEP-1]`, `[RULE-1]` and accepted variants), and
// detects texts that only look like a tag.

import { folded, lettersOf, skeleton } from './lookalikes.ts';
import { matchAt } from './scan.ts';

export type TagKind = 'HEDGE' | 'STEP' | 'RULE';

export interface Tag {
  readonly kind: TagKind;
  readonly number: number;
}

/** Adjacent tags, without words between them. */
export interface TagGroup {
  readonly tags: readonly Tag[];
}

/** A sentence cut at its tags: `texts` has one more entry than `groups`. */
export interface TaggedSentence {
  readonly texts: readonly string[];
  readonly groups: readonly TagGroup[];
  /** Returns the sentence with every tag in its canonical spelling. */
  spelled(): string;
  /** The reason to strip the sentence, if it contains something that only looks like a tag. */
  readonly problem: string | undefined;
}

/**
 * Maximum number of tags in a range such as `HEDGE-1–3`. A longer range is not accepted as tags.
 */
const LONGEST_RANGE = 1000;
const SPACE = '[ \\t\\u00a0\\u202f\\u3000]*';
const HYPHEN = '[-\\u2010\\u2011\\u2012\\u2013]';
const ITEM = new RegExp(
  `${SPACE}(?:(HEDGE|STEP|RULE)${HYPHEN})?(0|[1-9][0-9]{0,15})(?![0-9])(?:${SPACE}(?:${HYPHEN}|\\u2014|\\.\\.\\.?|\\u2026|to)${SPACE}(?:(HEDGE|STEP|RULE)${HYPHEN})?([1-9][0-9]{0,15})(?![0-9]))?${SPACE}`,
  'iy',
);
const SEPARATORS = /(?:[,;/&+\u3001]|and|und|et| )*/iy;
const OPEN = '[\\uff3b\\u3010\\u3014';
const CLOSE = '\\]\\uff3d\\u3011\\u3015';
/** Matches an innermost pair of brackets and captures its content. */
const BRACKETS = new RegExp(`\\\\?[${OPEN}]([^${OPEN}${CLOSE}]*?)\\\\?[${CLOSE}]`, 'g');
/** Matches brackets at an offset, after spaces and emphasis. */
const BRACKETS_AT = new RegExp(`[\\s*_\`~("]*\\\\?[${OPEN}]([^${OPEN}${CLOSE}\\n]*)[${CLOSE}]`, 'y');
/** Matches text that is allowed between two tags of one group. */
const BETWEEN = /^[\s,;&+/*_`~()|\u3001\uff0c.]*(?:(?:and|und|et|y|e|и|和|と|و|और)[\s*_`]+)?$/iu;

export function formatTag(tag: Tag): string {
  return `[${tag.kind}-${tag.number}]`;
}

/** Parses a name such as `HEDGE-12`, as in `hedge_tags`. Returns undefined for any other text. */
export function parseTagName(name: string): Tag | undefined {
  const match = /^(HEDGE|STEP|RULE)-(0|[1-9][0-9]{0,15})$/.exec(name);
  return match === null ? undefined : { kind: match[1] as TagKind, number: Number(match[2]) };
}

/** Returns whether a text contains brackets whose content looks like a tag. */
export function hasTag(text: string): boolean {
  for (const [, content] of text.matchAll(BRACKETS)) if (looksLikeTag(content!)) return true;
  return false;
}

/**
 * Returns the end of the brackets at `at`, or after blanks and emphasis there, if their content
 * looks like a tag; otherwise -1.
 */
export function endOfTagAt(text: string, at: number): number {
  const brackets = matchAt(BRACKETS_AT, text, at);
  return brackets !== null && looksLikeTag(brackets[1]!) ? at + brackets[0].length : -1;
}

export function cutAtTags(sentence: string): TaggedSentence {
  const texts: string[] = [];
  const groups: { tags: Tag[] }[] = [];
  const spelled: (string | readonly Tag[])[] = [];
  let problem: string | undefined;
  let at = 0;
  for (const { 0: brackets, 1: content, index: start } of sentence.matchAll(BRACKETS)) {
    const end = start + brackets.length;
    const tags = parseTags(content!);
    if (tags === undefined) {
      if (looksLikeTag(content!))
        problem ??= `${shown(content!)} in brackets is not a tag of the form [HEDGE-n], [STEP-n] or [RULE-n]`;
      continue;
    }
    if (/^\]?\(/.test(sentence.slice(end, end + 2))) problem ??= 'a tag is made a link';
    const text = sentence.slice(at, start);
    const last = groups.at(-1);
    if (last !== undefined && BETWEEN.test(text)) last.tags.push(...tags);
    else {
      texts.push(text);
      groups.push({ tags: [...tags] });
    }
    spelled.push(text, tags);
    at = end;
  }
  const rest = sentence.slice(at);
  texts.push(rest);
  spelled.push(rest);
  const spell = (part: string | readonly Tag[]) => (typeof part === 'string' ? part : part.map(formatTag).join(' '));
  return { texts, groups, spelled: () => spelled.map(spell).join(''), problem };
}

/**
 * Parses the content of brackets: `HEDGE-1`, `HEDGE-1, STEP-2`, `HEDGE-1, 2` or `HEDGE-1–3`, in
 * upper or lower case, and in full-width characters too.
 */
function parseTags(content: string): Tag[] | undefined {
  const text = content.replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0));
  const tags: Tag[] = [];
  let kind: string | undefined;
  let at = 0;
  for (;;) {
    const item = matchAt(ITEM, text, at);
    if (item === null) return undefined;
    kind = item[1]?.toUpperCase() ?? kind;
    if (kind === undefined || (item[3] !== undefined && item[3].toUpperCase() !== kind)) return undefined;
    const first = Number(item[2]);
    const last = item[4] === undefined ? first : Number(item[4]);
    if (last < first || last - first >= LONGEST_RANGE) return undefined;
    for (let number = first; number <= last; number++) tags.push({ kind: kind as TagKind, number });
    at += item[0].length;
    if (at === text.length) return tags;
    const separator = matchAt(SEPARATORS, text, at)![0];
    if (separator === '' && text[at - 1] !== ' ') return undefined;
    at += separator.length;
  }
}

/**
 * Returns whether the content of brackets looks like a tag: `[FACT-3]`, `[HED GE 1]`, `[H3DGE-1]`,
 * not `[weight 1]`.
 */
function looksLikeTag(content: string): boolean {
  if (content.length > 20_000 || parseTags(content) !== undefined) return true;
  const plain = skeleton(content);
  if (
    /^[^\p{L}\p{N}"'\u201c\u201e\u00ab]*[\p{L}][\p{L}\p{N}]*[-\u2010-\u2015#_][-+]?\p{N}+[^\p{L}\p{N}]*$/u.test(plain)
  )
    return true;
  const letters = lettersOf(content);
  if (letters.includes('hedge')) return true;
  return /step|rule/.test(letters) && /\p{N}/u.test(plain) && plain.length < 40;
}

function shown(content: string): string {
  const text = folded(content);
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}...` : text);
}

/**
 * Finds names of edges, steps and rules outside brackets, and reports a problem if a name is
 * disguised or incomplete.
 */
export function namesOutsideTags(text: string): { tags: Tag[]; problem: string | undefined } {
  const tags: Tag[] = [];
  const looks = skeleton(text);
  if (!/hedge|step|rule/.test(looks)) return { tags, problem: undefined };
  const disguised = 'a tag is written with letters that only look like the right ones';
  const lower = folded(text).toLowerCase();
  if (looks.split('hedge').length > lower.split('hedge').length) return { tags, problem: disguised };
  for (const match of looks.matchAll(/hedge[\s_#:.(-]{0,3}(\d{0,17})|\b(step|rule)[-_#](\d{1,17})/g)) {
    const digits = match[1] ?? match[3]!;
    if (digits === '') {
      if (/[-_#]/.test(match[0])) return { tags, problem: 'a tag is torn in two' };
      continue;
    }
    tags.push({ kind: (match[2] ?? 'hedge').toUpperCase() as TagKind, number: Number(digits) });
  }
  return { tags, problem: undefined };
}

/** Rewrites everything in a text that looks like a tag: `[HEDGE-9]` becomes `(HEDGE 9)`. */
export function withoutTags(text: string): string {
  return text
    .replace(BRACKETS, (brackets, content: string) =>
      parseTags(content) === undefined && !looksLikeTag(content) ? brackets : `(${content})`,
    )
    .replace(/\b(HEDGE|STEP|RULE)\s*[-\u2010-\u2015\u2212_#]+\s*(?=[-+]?\d)/gi, '$1 ');
}
