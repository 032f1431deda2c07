// Decides which part of a sentence belongs to which of its tags.

import { folded } from './lookalikes.ts';
import type { Tag, TaggedSentence } from './tags.ts';

/** A text and the tags that it must agree with. */
export interface Part {
  readonly text: string;
  readonly tags: readonly Tag[];
}

/** Ways to read a stretch of a sentence: all parts of one of them must agree. */
type Options = readonly (readonly Part[])[];

const MOST_CUTS = 8;
const VALUE =
  /\p{N}|["\u201c\u201e\u00ab`\u300c]|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|twice)\b/iu;
const CUT = /[,;:\u3001\uff0c\uff1b]|\s(?:and|but|while|whereas|then|und|et|y|и)\s/giu;

/**
 * With one group of tags, everything belongs to it. With more, a clause belongs to the tag that
 * follows it ("A [1], B [2].") or, if the sentence begins with a tag and ends with a clause, to the
 * one before it ("[1] shows A, [2] shows B."). If it begins and ends with a clause, a clause in
 * between may belong to either or be cut in two.
 */
export function stretchesOf({ texts, groups }: TaggedSentence): Options[] {
  const tags = groups.map((group, index) => withNeighbour(group.tags, groups[index - 1]?.tags ?? groups[1]?.tags));
  const last = tags.length - 1;
  if (last === 0) return [single(`${texts[0]!} ${texts[1]!}`, tags[0]!)];
  const leads = VALUE.test(folded(texts[0]!));
  const trails = VALUE.test(folded(texts[last + 1]!));
  const stretches = [single(texts[0]!, tags[0]!), single(texts[last + 1]!, tags[last]!)];
  for (let index = 1; index <= last; index++) {
    const text = texts[index]!;
    const [before, after] = [tags[index - 1]!, tags[index]!];
    const ownsNext = !trails && (leads || index > 1 || !isOpening(texts[0]!));
    if (ownsNext) stretches.push(single(text, after));
    else if (!trails) stretches.push(single(text, [...before, ...after]));
    else {
      const cuts = leads || index > 1 ? cutInTwo(text, before, after) : [];
      stretches.push([...(leads ? single(text, after) : []), ...single(text, before), ...cuts]);
    }
  }
  return stretches;
}

function single(text: string, tags: readonly Tag[]): Options {
  return [[{ text, tags }]];
}

/** Rules have no values of edges: what is next to them may come from neighbouring tags too. */
function withNeighbour(tags: readonly Tag[], neighbour: readonly Tag[] | undefined): readonly Tag[] {
  return neighbour !== undefined && tags.every((tag) => tag.kind === 'RULE') ? [...tags, ...neighbour] : tags;
}

/** "By", "According to", "In event": a few words that only introduce the tag. */
function isOpening(text: string): boolean {
  return (text.match(/[\p{L}\p{M}]+/gu) ?? []).length <= 3 && OPENING.test(text);
}

const OPENING =
  /^[\s*_"'(]*(?:(?:by|per|from|in|under|using|applying|according|given|with|based|since|as|for|see|at|on|nach|laut|gemäß|aus|selon|d'après|par|según|por|de|по|согласно|из|в)(?![\p{L}])|根据|根據|依|按|によると|وفق|$)/iu;

function cutInTwo(text: string, before: readonly Tag[], after: readonly Tag[]): Options {
  return Array.from(text.matchAll(CUT), ({ index }) => [
    { text: text.slice(0, index), tags: before },
    { text: text.slice(index), tags: after },
  ]).slice(0, MOST_CUTS);
}
