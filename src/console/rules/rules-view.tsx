// The view for rules: lists the stored ones, edits one, and derives facts.

import type { StoredRule } from '../../client/index.ts';
import { Rules } from '../../client/rules.ts';
import { ConfirmButton } from '../confirm-button.tsx';
import { storeDraft, storedDraft } from '../drafts.ts';
import { Empty, Failure } from '../failure.tsx';
import { useEffect, useState } from '../preact.ts';
import { connection } from '../session.ts';
import { loadCatalog, rules } from '../state.ts';
import '../style/views.css';
import { ReasonPanel } from './reason-panel.tsx';
import { RuleEditor } from './rule-editor.tsx';
import { RuleLine } from './rule-line.tsx';
import { FIRST_RULE } from './rule-words.ts';

export function RulesView() {
  const [text, put] = useState(storedDraft('rule') || FIRST_RULE);
  const setText = (written: string) => {
    put(written);
    storeDraft('rule', written === FIRST_RULE ? '' : written);
  };
  const [error, setError] = useState<unknown>(undefined);
  const [note, setNote] = useState('');
  const stored = useStoredRules(setError);
  const attempt = async (work: () => Promise<string>) => {
    try {
      setNote(await work());
      setError(undefined);
    } catch (failed) {
      setError(failed);
    }
  };
  const remove = (id: string) =>
    attempt(async () => {
      await new Rules(connection()).delete(id);
      await loadCatalog();
      return `${id} is deleted.`;
    });
  return (
    <div class="view columns-2">
      <section class="panel" aria-label="Rules">
        <h2>Rules</h2>
        <Failure error={error} />
        <p class="quiet note-line" aria-live="polite">
          {note}
        </p>
        {rules.value.length === 0 && (
          <Empty title="No rule yet">
            A rule says what follows from edges. Change the one below to your liking and store it.
          </Empty>
        )}
        {rules.value.length > MOST_SHOWN && (
          <p class="quiet note-line">
            The first {MOST_SHOWN} of {rules.value.length} rules. The others are listed at the left of Query.
          </p>
        )}
        <ul class="plain-list rule-list">
          {stored.map((rule) => (
            <li key={rule.id}>
              <p>
                <strong>{rule.name}</strong>{' '}
                <span class="quiet">
                  {rule.id}, version {rule.version}, stratum {rule.stratum}
                  {rule.enabled ? '' : ', off'}
                </span>
              </p>
              <RuleLine rule={rule} />
              <span class="rule-actions">
                <button type="button" class="plain" onClick={() => setText(editable(rule))}>
                  Edit
                  <span class="sr-only"> {rule.id}</span>
                </button>
                <ConfirmButton label="Delete" what={rule.id} onConfirm={() => void remove(rule.id)} />
              </span>
            </li>
          ))}
        </ul>
        <RuleEditor text={text} onChange={setText} onStored={(id) => setNote(`${id} is stored.`)} />
      </section>
      <ReasonPanel />
    </div>
  );
}

/** Maximum number of rules shown, because each complete rule takes a request of its own. */
const MOST_SHOWN = 60;

/** Returns the complete rules of the first summaries in the list, in the same order. */
function useStoredRules(onError: (error: unknown) => void): readonly StoredRule[] {
  const [stored, setStored] = useState<readonly StoredRule[]>([]);
  const summaries = rules.value;
  useEffect(() => {
    let isGone = false;
    Promise.all(summaries.slice(0, MOST_SHOWN).map(({ id }) => new Rules(connection()).get(id))).then((found) => {
      if (!isGone) setStored(found);
    }, onError);
    return () => {
      isGone = true;
    };
  }, [summaries]);
  return stored;
}

/** Returns the JSON text of a rule as a user would write it, without the service's own fields. */
function editable({ version: _version, stratum: _stratum, ...rule }: StoredRule): string {
  const conditions = rule.if.map((condition) => `    ${JSON.stringify(condition)}`).join(',\n');
  const head = { ...rule, if: undefined, then: undefined };
  const fields = Object.entries(head).flatMap(([name, value]) =>
    value === undefined ? [] : [`  ${JSON.stringify(name)}: ${JSON.stringify(value)}`],
  );
  return `{\n${fields.join(',\n')},\n  "if": [\n${conditions}\n  ],\n  "then": ${JSON.stringify(rule.then)}\n}`;
}
