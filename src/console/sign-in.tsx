// The sign-in form: asks for an API key, which is kept in this tab only.

import { HedgerowApiError } from '../client/index.ts';
import { sentenceOf } from './failure.tsx';
import { useState } from './preact.ts';
import { signIn } from './session.ts';

export function SignIn({ problem }: { problem: string | undefined }) {
  const [key, setKey] = useState('');
  const [failure, setFailure] = useState<string | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (key.trim() === '') {
      setFailure('Paste a key first; it begins with hgr_.');
      return;
    }
    setBusy(true);
    try {
      await signIn(key.trim());
    } catch (error) {
      const isUnknown = error instanceof HedgerowApiError && error.statusCode === 401;
      setFailure(isUnknown ? error.detail : sentenceOf(error));
      setBusy(false);
    }
  };
  const message = failure ?? problem;
  return (
    <main class="sign-in">
      <form class="sign-in-card" onSubmit={submit}>
        <Hedge />
        <h1>Hedgerow</h1>
        <p>Events that join any number of nodes, found by time, by node and by property.</p>
        <label for="key">API key</label>
        <input
          id="key"
          type="password"
          autocomplete="off"
          spellcheck={false}
          placeholder="hgr_..."
          value={key}
          aria-describedby="key-help"
          onInput={(event) => setKey(event.currentTarget.value)}
        />
        <p id="key-help" class="quiet">
          The first start of the server prints an admin key once. The key stays in this tab and is forgotten when you
          sign out or close it.
        </p>
        {message !== undefined && (
          <div class="note note-bad" role="alert">
            {message}
          </div>
        )}
        <button type="submit" class="primary" disabled={isBusy}>
          Sign in
        </button>
      </form>
    </main>
  );
}

const HEIGHTS = [9, 14, 11, 19, 26, 17, 22, 31, 24, 15, 20, 28, 18, 12, 16, 23, 13, 8];

/** The logo: a hedge of bars on a ground line. */
export function Hedge() {
  return (
    <svg class="hedge" viewBox={`0 0 ${HEIGHTS.length * 6} 36`} aria-hidden="true">
      {HEIGHTS.map((height, index) => (
        <rect key={index} x={index * 6 + 1} y={33 - height} width="4" height={height} rx="1" />
      ))}
      <rect x="0" y="34" width={HEIGHTS.length * 6} height="1" />
    </svg>
  );
}
