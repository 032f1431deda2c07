// A rule as one writes it: its head and conditions, broken between them where the line is too
// short.

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
