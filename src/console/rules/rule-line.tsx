// Shows a rule in logical notation: its head and conditions, with line breaks only between them.

import { ruleParts } from './rule-words.ts';

export function RuleLine({ rule }: { rule: unknown }) {
  return (
    <code class="rule-text">
      {ruleParts(rule).map((part, at) => (
        <span key={at}>{part} </span>
      ))}
    </code>
  );
}
