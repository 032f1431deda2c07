// Rules and facts as people write them: `close(?A, ?B) if member(?E, ?A), ...`.

interface Atom {
  readonly pred: string;
  readonly args: readonly unknown[];
}

/** Of a rule as it is stored, or as it is being written: anything may stand in it. */
export function ruleText(rule: unknown): string {
  return ruleParts(rule).join(' ');
}

/** The head, then each condition; none when it is no rule yet. */
export function ruleParts(rule: unknown): readonly string[] {
  const { if: body, then: head } = (rule ?? {}) as { if?: unknown; then?: unknown };
  if (!isAtom(head) || !Array.isArray(body)) return [];
  const conditions = body.map(conditionText);
  if (conditions.includes('')) return [];
  return [`${atomText(head)} if`, ...conditions.map((text, at) => (at < conditions.length - 1 ? `${text},` : text))];
}

export function conditionText(condition: unknown): string {
  if (isAtom(condition)) return atomText(condition);
  const { not, compare } = (condition ?? {}) as { not?: unknown; compare?: unknown };
  if (isAtom(not)) return `not ${atomText(not)}`;
  return Array.isArray(compare) && compare.length === 3 ? compare.map(termText).join(' ') : '';
}

export function atomText({ pred, args }: Atom): string {
  return `${pred}(${args.map(termText).join(', ')})`;
}

function termText(term: unknown): string {
  return typeof term === 'string' ? term : JSON.stringify(term);
}

function isAtom(value: unknown): value is Atom {
  if (typeof value !== 'object' || value === null) return false;
  const { pred, args } = value as { pred?: unknown; args?: unknown };
  return typeof pred === 'string' && Array.isArray(args);
}

export const FIRST_RULE = `{
  "id": "rule:met",
  "name": "Who met whom",
  "if": [
    { "pred": "member", "args": ["?E", "?A"] },
    { "pred": "member", "args": ["?E", "?B"] },
    { "compare": ["?A", "<", "?B"] }
  ],
  "then": { "pred": "met", "args": ["?A", "?B"], "confidence": 0.9 }
}`;
