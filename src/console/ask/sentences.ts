// Cuts an answer at its tags, so that each tag can be shown as the thing it names. Everything else
// stays plain text.

export type AnswerPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'edge'; readonly tag: string; readonly edgeId: number }
  | { readonly kind: 'step' | 'rule'; readonly tag: string };

const TAG = /\[(HEDGE|STEP|RULE)-(\d{1,16})\]/g;

export function partsOf(text: string): AnswerPart[] {
  const parts: AnswerPart[] = [];
  let end = 0;
  for (const match of text.matchAll(TAG)) {
    if (match.index > end) parts.push({ kind: 'text', text: text.slice(end, match.index) });
    const tag = `${match[1]}-${match[2]}`;
    if (match[1] === 'HEDGE') parts.push({ kind: 'edge', tag, edgeId: Number(match[2]) });
    else parts.push({ kind: match[1] === 'STEP' ? 'step' : 'rule', tag });
    end = match.index + match[0].length;
  }
  if (end < text.length) parts.push({ kind: 'text', text: text.slice(end) });
  return parts;
}

/** Returns the lines of an answer that are not blank. */
export function linesOf(answer: string): string[] {
  return answer.split('\n').filter((line) => line.trim() !== '');
}
