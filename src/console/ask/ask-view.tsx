// Questions in words: the answer with what supports each sentence, and what the firewall struck out.

import type { RagAnswer } from '../../client/index.ts';
import { EdgeTag } from '../edge-dialog.tsx';
import { Failure } from '../failure.tsx';
import { countText, numberText, timeText } from '../format.ts';
import { useState } from '../preact.ts';
import { ProofTree } from '../rules/proof-tree.tsx';
import { client } from '../session.ts';
import { tableName, timeWindow } from '../state.ts';
import { linesOf, partsOf } from './sentences.ts';

type Mode = 'hybrid' | 'neuro' | 'symbolic';

export function AskView() {
  const [question, setQuestion] = useState('');
  const [mode, setMode] = useState<Mode>('hybrid');
  const [isMock, setMock] = useState(true);
  const [answer, setAnswer] = useState<RagAnswer | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const [isBusy, setBusy] = useState(false);
  const ask = async (event: Event) => {
    event.preventDefault();
    const window = timeWindow.value;
    setBusy(true);
    try {
      const times = window === undefined ? {} : { time_start: window.start, time_end: window.end };
      setAnswer(
        await client().reasoning.ask({ query: question, table: tableName.value, mode, mock: isMock, ...times }),
      );
      setError(undefined);
    } catch (failed) {
      setAnswer(undefined);
      setError(failed);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div class="view">
      <form class="panel" onSubmit={ask} aria-label="Question">
        <label for="question">Question</label>
        <textarea
          id="question"
          rows={2}
          value={question}
          placeholder="Whom did node 12 meet since 2001-05-01?"
          onInput={(event) => setQuestion(event.currentTarget.value)}
        />
        <div class="bar">
          <label>
            Mode{' '}
            <select value={mode} onChange={({ currentTarget: { value } }) => setMode(value as Mode)}>
              <option value="hybrid">hybrid: rules and model</option>
              <option value="neuro">neuro: model alone</option>
              <option value="symbolic">symbolic: rules alone</option>
            </select>
          </label>
          <label class="check">
            <input type="checkbox" checked={isMock} onChange={(event) => setMock(event.currentTarget.checked)} />
            Built-in model, without network
          </label>
          <button type="submit" class="primary" disabled={isBusy || tableName.value === ''}>
            {isBusy ? 'Asking ...' : 'Ask'}
          </button>
        </div>
      </form>
      <Failure error={error} title="There is no answer" />
      {answer !== undefined && <Answer answer={answer} />}
    </div>
  );
}

function Answer({ answer }: { answer: RagAnswer }) {
  const { firewall, table } = answer;
  const [step, setStep] = useState<string | undefined>(undefined);
  const proof = answer.proofs[answer.derived_facts.findIndex((fact) => fact.step_tag === step)];
  return (
    <section class="panel" aria-label="Answer">
      <h2>Answer</h2>
      <p class="quiet" aria-live="polite">
        {countText(firewall.supported_count, 'sentence')} supported, {firewall.stripped_count} struck out; confidence{' '}
        {numberText(answer.confidence)}; model {answer.model}
        {answer.truncated && '; more edges matched than were looked at'}
      </p>
      <div class={firewall.abstained ? 'answer answer-abstained' : 'answer'}>
        {linesOf(answer.answer).map((line, at) => (
          <p key={at} class={firewall.abstained ? undefined : 'sentence sentence-supported'}>
            <Tagged text={line} table={table} onStep={setStep} />
          </p>
        ))}
        {firewall.stripped.map(({ sentence, reason }, at) => (
          <p key={`stripped ${at}`} class="sentence sentence-stripped">
            <del>{sentence}</del> <span class="reason">{reason}</span>
          </p>
        ))}
      </div>
      {answer.cited_edges.length > 0 && <Cited answer={answer} />}
      {proof !== undefined && (
        <>
          <h3>Proof of {step}</h3>
          <ProofTree proof={proof} table={table} />
        </>
      )}
    </section>
  );
}

function Tagged({ text, table, onStep }: { text: string; table: string; onStep: (tag: string) => void }) {
  return (
    <>
      {partsOf(text).map((part, at) => {
        if (part.kind === 'text') return part.text;
        if (part.kind === 'edge') return <EdgeTag key={at} table={table} id={part.edgeId} />;
        if (part.kind === 'rule') {
          return (
            <span key={at} class="tag tag-rule">
              {part.tag}
            </span>
          );
        }
        return (
          <button key={at} type="button" class="tag tag-edge" onClick={() => onStep(part.tag)}>
            {part.tag}
          </button>
        );
      })}
    </>
  );
}

function Cited({ answer }: { answer: RagAnswer }) {
  return (
    <>
      <h3>Edges it rests on</h3>
      <ul class="plain-list">
        {answer.cited_edges.map((edge) => (
          <li key={edge.edge_id}>
            <EdgeTag table={answer.table} id={edge.edge_id} /> {edge.members.join(', ')}{' '}
            <span class="quiet">{timeText(edge.event_ts)} UTC</span>
          </li>
        ))}
      </ul>
    </>
  );
}
