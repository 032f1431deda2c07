// The editor for one rule as JSON. The service checks the rule while it is written; only a valid
// rule can be stored.

import type { NewRule, RuleValidation } from '../../client/index.ts';
import { Rules } from '../../client/rules.ts';
import { Failure } from '../failure.tsx';
import { useEffect, useState } from '../preact.ts';
import { connection } from '../session.ts';
import { loadCatalog, rules } from '../state.ts';
import { RuleLine } from './rule-line.tsx';
import { unknownPredicates } from './rule-words.ts';

/** Delay between the last key and the check by the service. */
const PAUSE_MS = 250;

type Check =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'unreadable'; readonly message: string }
  | { readonly kind: 'checked'; readonly rule: NewRule; readonly validation: RuleValidation }
  | { readonly kind: 'failed'; readonly error: unknown };

interface Props {
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly onStored: (id: string) => void;
}

export function RuleEditor({ text, onChange, onStored }: Props) {
  const check = useCheck(text);
  const [error, setError] = useState<unknown>(undefined);
  const isGood = check.kind === 'checked' && check.validation.ok;
  const store = async () => {
    if (check.kind !== 'checked') return;
    try {
      const stored = await new Rules(connection()).put(check.rule);
      await loadCatalog();
      setError(undefined);
      onStored(stored.id);
    } catch (failed) {
      setError(failed);
    }
  };
  return (
    <div class="rule-editor">
      <label for="rule-text" class="form-title">
        Rule
      </label>
      <p class="quiet help">
        If every condition holds, the head follows. Words that begin with ? are variables. Known of every edge:{' '}
        <code>member(?E, ?A)</code>, <code>at(?E, ?T)</code>, <code>until(?E, ?T)</code>, <code>size(?E, ?N)</code>,{' '}
        <code>formation(?E, ?F)</code>, <code>weight(?E, ?W)</code>, <code>mean_dist(?E, ?D)</code>,{' '}
        <code>bucket(?E, ?B)</code>, <code>hyperedge(?E)</code>, <code>property(?E, "name", ?V)</code>,{' '}
        <code>role(?E, ?A, "sender")</code>, <code>supersedes(?E2, ?E1)</code> of memories; of every node of a node
        table: <code>node(?A, ?Kind)</code>, <code>attribute(?A, "name", ?V)</code>.
      </p>
      <textarea
        id="rule-text"
        class="code"
        rows={12}
        spellcheck={false}
        value={text}
        aria-describedby="rule-check"
        aria-invalid={check.kind === 'unreadable' || (check.kind === 'checked' && !isGood)}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <div id="rule-check" aria-live="polite">
        <CheckNote check={check} />
      </div>
      <Failure error={error} title="The rule was not stored" />
      <button type="button" class="primary" disabled={!isGood} onClick={store}>
        Store rule
      </button>
    </div>
  );
}

function useCheck(text: string): Check {
  const [check, setCheck] = useState<Check>({ kind: 'waiting' });
  useEffect(() => {
    let rule: NewRule;
    try {
      rule = JSON.parse(text) as NewRule;
    } catch (error) {
      setCheck({ kind: 'unreadable', message: (error as Error).message });
      return;
    }
    setCheck({ kind: 'waiting' });
    const leaving = new AbortController();
    const timer = setTimeout(() => {
      new Rules(connection()).validate(rule, { signal: leaving.signal }).then(
        (validation) => setCheck({ kind: 'checked', rule, validation }),
        (error) => {
          if (!leaving.signal.aborted) setCheck({ kind: 'failed', error });
        },
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      leaving.abort(new Error('The rule was changed.'));
    };
  }, [text]);
  return check;
}

function CheckNote({ check }: { check: Check }) {
  switch (check.kind) {
    case 'waiting':
      return <p class="quiet">Checking ...</p>;
    case 'unreadable':
      return <div class="note note-bad">Not JSON yet: {check.message}</div>;
    case 'failed':
      return <Failure error={check.error} title="The rule could not be checked" />;
    case 'checked':
      return check.validation.ok ? (
        <>
          <div class="note note-good">
            <RuleLine rule={check.rule} />
            The rule is sound
            {check.validation.stratum === 0 ? '' : `, and runs in stratum ${check.validation.stratum}`}.
          </div>
          <Unknown rule={check.rule} />
        </>
      ) : (
        <div class="note note-bad">
          <ul>
            {check.validation.errors.map(({ loc, msg }, at) => (
              <li key={at}>
                {loc.length > 0 && <code>{loc.filter((part) => part !== 'body').join('.')}</code>} {msg}
              </li>
            ))}
          </ul>
        </div>
      );
  }
}

/**
 * Warns of predicates that nothing derives. This is not an error, because a rule may be stored
 * before the one that derives its predicates.
 */
function Unknown({ rule }: { rule: NewRule }) {
  const found = unknownPredicates(rule, rules.value);
  if (found.length === 0) return null;
  return (
    <div class="note note-warning">
      <ul>
        {found.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </div>
  );
}
