// What went wrong, as a sentence with what to do next: the same box everywhere.

import { HedgerowApiError, HedgerowConnectionError } from '../client/index.ts';
import type { ComponentChildren } from './preact.ts';

/** A sentence for people, whatever was thrown. */
export function sentenceOf(error: unknown): string {
  if (error instanceof HedgerowApiError) {
    if (error.code === undefined) return sentenceOfOther(error);
    const fields = error.errors
      .filter(({ msg }) => !error.detail.includes(msg))
      .map(({ loc, msg }) => `${loc.slice(1).join('.')} ${msg}`);
    const advice = ADVICE[error.statusCode];
    return [error.detail, ...fields, ...(advice === undefined ? [] : [advice])].join(' ');
  }
  if (error instanceof HedgerowConnectionError) return `${error.message} Is the service running?`;
  // Words of the browser: a member of an answer was looked for that is not there. Sentences of our
  // own end with a full stop.
  if (error instanceof TypeError && !error.message.endsWith('.')) return UNEXPECTED;
  return error instanceof Error ? error.message : String(error);
}

const UNEXPECTED =
  'What came from the service does not look as it should. Try again in a moment; if it stays so, load the page anew, or ask who runs the service.';

/** Something in front of the service has answered: with a page, a word, or nothing. */
function sentenceOfOther({ statusCode, detail }: HedgerowApiError): string {
  const said = detail === '' || detail.startsWith('<') ? '' : `: ${detail}`;
  return `Status ${statusCode} came in the place of an answer of the service${said}. Try again in a moment; if it stays so, ask who runs the service.`;
}

const ADVICE: Readonly<Record<number, string>> = {
  401: 'Sign out and sign in with a valid key.',
  403: 'Sign in with a key of that role.',
};

export function Failure({ error, title = 'That did not work' }: { error: unknown; title?: string }) {
  if (error === undefined || error === null) return null;
  return (
    <div class="note note-bad" role="alert">
      <strong>{title}.</strong> {sentenceOf(error)}
    </div>
  );
}

/** Nothing is there, and what to do about it. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      <p>{children}</p>
    </div>
  );
}
