// Derives facts with the stored rules from the edges that a text query finds, and shows the proof
// of the fact that the user chooses.

import type { ReasonAnswer } from '../../client/index.ts';
import { Reasoning } from '../../client/reasoning.ts';
import { Empty, Failure } from '../failure.tsx';
import { countText, numberText, timeText, windowText } from '../format.ts';
import { useState } from '../preact.ts';
import { connection } from '../session.ts';
import { type TimeWindow, tableName, timeWindow } from '../state.ts';
import { ProofTree } from './proof-tree.tsx';

const MOST_LISTED = 200;

/** Adds the window of time to the query in words, because the route has no fields for it. */
export function withTimes(query: string, window: TimeWindow | undefined): string {
  if (window === undefined) return query;
  const [from, to] = [window.start, window.end].map((seconds) => timeText(seconds).replace(' ', 'T'));
  return `${query} between ${from} and ${to}`.trim();
}

export function ReasonPanel() {
  const [query, setQuery] = useState('');
  const [topK, setTopK] = useState('40');
  const [answer, setAnswer] = useState<ReasonAnswer | undefined>(undefined);
  const [chosen, setChosen] = useState(0);
  const [error, setError] = useState<unknown>(undefined);
  const [isBusy, setBusy] = useState(false);
  const derive = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    try {
      setAnswer(
        await new Reasoning(connection()).reason({
          query: withTimes(query, timeWindow.value),
          table: tableName.value,
          top_k: Number(topK),
        }),
      );
      setChosen(0);
      setError(undefined);
    } catch (failed) {
      setAnswer(undefined);
      setError(failed);
    } finally {
      setBusy(false);
    }
  };
  return (
    <section class="panel" aria-label="Derive facts">
      <h2>Derive facts</h2>
      <p class="quiet">
        The stored rules look at edges of {tableName.value}, {windowText(timeWindow.value)}, and say what follows from
        them. Each fact has a proof that ends in stored edges.
      </p>
      <form class="bar" onSubmit={derive}>
        <label class="grow grow-whole">
          Edges to look at
          <input
            type="text"
            value={query}
            placeholder="empty: the newest edges"
            aria-describedby="reason-help"
            onInput={(event) => setQuery(event.currentTarget.value)}
          />
        </label>
        <p id="reason-help" class="quiet help grow-whole">
          In words, such as: nodes 12 and 40 since 2001-05-01
        </p>
        <label>
          At most{' '}
          <input
            type="number"
            min={1}
            max={10_000}
            value={topK}
            onInput={(event) => setTopK(event.currentTarget.value)}
          />{' '}
          edges
        </label>
        <button type="submit" class="primary" disabled={isBusy || tableName.value === ''}>
          {isBusy ? 'Deriving ...' : 'Derive'}
        </button>
      </form>
      <Failure error={error} title="Nothing was derived" />
      {answer !== undefined && <Facts answer={answer} chosen={chosen} onChoose={setChosen} />}
    </section>
  );
}

interface FactsProps {
  readonly answer: ReasonAnswer;
  readonly chosen: number;
  readonly onChoose: (at: number) => void;
}

function Facts({ answer, chosen, onChoose }: FactsProps) {
  const facts = answer.derived_facts;
  if (facts.length === 0) {
    return <Empty title="No facts follow">Store a rule first, or look at more edges.</Empty>;
  }
  const proof = answer.proofs[chosen];
  return (
    <>
      <p class="quiet" aria-live="polite">
        {countText(facts.length, 'fact')} {facts.length === 1 ? 'follows' : 'follow'} from{' '}
        {answer.rules_fired.join(', ')}
        {answer.truncated && '; more edges matched than were looked at'}
        {facts.length > MOST_LISTED && `; the first ${MOST_LISTED} are listed`}.
      </p>
      <div class="facts">
        <ul class="plain-list fact-list">
          {facts.slice(0, MOST_LISTED).map((fact, at) => (
            <li key={fact.step_tag}>
              <button type="button" class="entry" aria-pressed={at === chosen} onClick={() => onChoose(at)}>
                <span>{fact.fact}</span>
                <span class="quiet">{numberText(fact.confidence)}</span>
              </button>
            </li>
          ))}
        </ul>
        {proof !== undefined && <ProofTree proof={proof} table={answer.table} />}
      </div>
    </>
  );
}
