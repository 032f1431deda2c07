// The view for questions in natural language: shows the answer, what supports each of its
// sentences, and the sentences that the firewall struck out.

import type { RagAnswer } from '../../client/index.ts';
import { Reasoning } from '../../client/reasoning.ts';
import { storeDraft, storedDraft } from '../drafts.ts';
import { EdgeTag } from '../edge-tag.tsx';
import { Failure } from '../failure.tsx';
import { countText, numberText, timeText, windowText } from '../format.ts';
import { useNodeNames } from '../node-names.ts';
import { useState } from '../preact.ts';
import { ProofTree } from '../rules/proof-tree.tsx';
import { connection } from '../session.ts';
import { tableName, timeWindow } from '../state.ts';
import '../style/views.css';
import { type NumberedQuestion, withNumbers } from './names-in-question.ts';
import { modelFields, NO_MODEL, OwnModelForm } from './own-model.tsx';
import { linesOf, partsOf } from './sentences.ts';
import { shownMembersText } from './shown-members.ts';

type Mode = 'hybrid' | 'neuro' | 'symbolic';

const EXAMPLES = ['What happened last?', 'Who met most often?', 'Whom did node 12 meet since 2001-05-01?'] as const;

export function AskView() {
  const [question, put] = useState(storedDraft('question'));
  const setQuestion = (text: string) => {
    put(text);
    storeDraft('question', text);
  };
  const [mode, setMode] = useState<Mode>('hybrid');
  const [isMock, setMock] = useState(true);
  const [model, setModel] = useState(NO_MODEL);
  const [answer, setAnswer] = useState<RagAnswer | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const [isBusy, setBusy] = useState(false);
  const [asked, setAsked] = useState<NumberedQuestion | undefined>(undefined);
  const names = useNodeNames();
  const ask = async (event: Event) => {
    event.preventDefault();
    const window = timeWindow.value;
    const numbered = withNumbers(question, names);
    setAsked(numbered);
    setBusy(true);
    try {
      const times = window === undefined ? {} : { time_start: window.start, time_end: window.end };
      const own = isMock ? {} : modelFields(model);
      const input = { query: numbered.text, table: tableName.value, mode, mock: isMock, ...own, ...times };
      setAnswer(await new Reasoning(connection()).ask(input));
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
        <label for="question" class="form-title">
          Question about {tableName.value === '' ? 'a table' : tableName.value}
          <span class="quiet">, {windowText(timeWindow.value)}</span>
        </label>
        <textarea
          id="question"
          rows={2}
          value={question}
          placeholder="Whom did node 12 meet since 2001-05-01?"
          onInput={(event) => setQuestion(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
          }}
        />
        <div class="bar">
          <button type="submit" class="primary" disabled={isBusy || tableName.value === '' || question.trim() === ''}>
            {isBusy ? 'Asking ...' : 'Ask'}
          </button>
          <ModeChoice chosen={mode} onChange={setMode} />
          <label class="check">
            <input type="checkbox" checked={isMock} onChange={(event) => setMock(event.currentTarget.checked)} />
            Built-in model, without network
          </label>
        </div>
        {!isMock && <OwnModelForm value={model} onChange={setModel} />}
      </form>
      {asked !== undefined && asked.found.length > 0 && <Numbered asked={asked} />}
      <Failure error={error} title="There is no answer" />
      {answer === undefined && error === undefined && <Hints onChoose={setQuestion} />}
      {answer !== undefined && <Answer key={answer.interaction_id} answer={answer} />}
    </div>
  );
}

function ModeChoice({ chosen, onChange }: { chosen: Mode; onChange: (mode: Mode) => void }) {
  return (
    <label>
      Mode{' '}
      <select value={chosen} onChange={({ currentTarget: { value } }) => onChange(value as Mode)}>
        <option value="hybrid">hybrid: rules and model</option>
        <option value="neuro">neuro: model alone</option>
        <option value="symbolic">symbolic: rules alone</option>
      </select>
    </label>
  );
}

function Numbered({ asked: { text, found } }: { asked: NumberedQuestion }) {
  return (
    <p class="note" role="status">
      {found.map(({ name, node }) => `${name} is node ${node}`).join('; ')}. Asked as: <q>{text}</q>
    </p>
  );
}

function Hints({ onChoose }: { onChoose: (question: string) => void }) {
  return (
    <section class="panel" aria-label="What can be asked">
      <p>
        Edges that match the question are fetched, the stored <a href="#rules">rules</a> derive facts from them, and a
        model puts them into words. Every sentence must rest on an edge or a proof; those that do not are struck out.
      </p>
      <p class="quiet">
        A question can contain nodes by number (or by name, if the table has names), times and words. For instance:
      </p>
      <div class="bar examples">
        {EXAMPLES.map((example) => (
          <button key={example} type="button" onClick={() => onChoose(example)}>
            {example}
          </button>
        ))}
      </div>
    </section>
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
            {!firewall.abstained && <span class="sr-only">Supported: </span>}
            <Tagged text={line} table={table} onStep={setStep} />
          </p>
        ))}
        {firewall.stripped.map(({ sentence, reason }, at) => (
          <p key={`stripped ${at}`} class="sentence sentence-stripped">
            <span class="sr-only">Struck out: </span>
            <del>{sentence}</del> <span class="reason">Struck out: {reason}</span>
          </p>
        ))}
      </div>
      {!firewall.abstained && (
        <p class="quiet">Choose a tag: HEDGE opens the stored edge, STEP shows the proof of a derived fact.</p>
      )}
      {proof !== undefined && (
        <>
          <h3>Proof of {step}</h3>
          <ProofTree proof={proof} table={table} />
        </>
      )}
      {answer.cited_edges.length > 0 && <Cited answer={answer} />}
      <Ignored answer={answer} />
    </section>
  );
}

/** Lists the parts of the question that looked like conditions but were not applied. */
function Ignored({ answer: { understood } }: { answer: RagAnswer }) {
  if (understood.ignored.length === 0) return null;
  return (
    <>
      <h3>Not taken from the question</h3>
      <ul class="notes">
        {understood.ignored.map(({ text, reason }, at) => (
          <li key={at}>
            <q>{text}</q>: {reason}
          </li>
        ))}
      </ul>
    </>
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

/** Edges that the answer does not cite, and that are shown at most. */
const MOST_OTHERS = 40;

function Cited({ answer }: { answer: RagAnswer }) {
  const names = useNodeNames(answer.table);
  const cited = new Set(answer.cited_edges.map(({ edge_id }) => edge_id));
  const others = answer.all_edges.filter(({ edge_id }) => !cited.has(edge_id));
  return (
    <>
      <h3>Edges it rests on</h3>
      <EdgeList edges={answer.cited_edges} table={answer.table} names={names} />
      {others.length > 0 && (
        <details>
          <summary>Other edges found ({others.length})</summary>
          <EdgeList edges={others.slice(0, MOST_OTHERS)} table={answer.table} names={names} />
          {others.length > MOST_OTHERS && <p class="quiet">The first {MOST_OTHERS} of them, the best first.</p>}
        </details>
      )}
    </>
  );
}

interface EdgeListProps {
  edges: RagAnswer['all_edges'];
  table: string;
  names: ReturnType<typeof useNodeNames>;
}

/** Lists edges with what of the question matched each of them. */
function EdgeList({ edges, table, names }: EdgeListProps) {
  return (
    <ul class="plain-list cited">
      {edges.map((edge) => (
        <li key={edge.edge_id}>
          <EdgeTag table={table} id={edge.edge_id} /> {shownMembersText(edge.members, names)}{' '}
          <span class="quiet">{timeText(edge.event_ts)} UTC</span>
          <div class="why quiet">{edge.why.join(' · ')}</div>
        </li>
      ))}
    </ul>
  );
}
