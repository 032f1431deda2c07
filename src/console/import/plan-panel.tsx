// Shows what an import of a file would do: the edges as they would be stored, the rows left out,
// and the target table. Then it writes the edges.

import { Empty, Failure } from '../failure.tsx';
import { cellText, countText, timeText } from '../format.ts';
import { BETWEEN_MEMBERS, NODES_SUFFIX } from '../node-names.ts';
import { useMemo, useState } from '../preact.ts';
import { Scrolling } from '../scrolling.tsx';
import { chooseTable, openView, tableName, tables, wantedStatement } from '../state.ts';
import { quoted } from '../statement-words.ts';
import { type EdgePlan, guessMapping, type Mapping, newColumns, planEdges } from './edge-plan.ts';
import { type CourseState, useCourse } from './import-course.ts';
import { MappingForm } from './mapping-form.tsx';
import type { Reject, SourceFile } from './read-file.ts';
import { saveRejects } from './save-rejects.ts';
import { type Progress, suggestedBucket, type Target } from './write-edges.ts';

const PREVIEWED = 6;

export function PlanPanel({ name, file }: { name: string; file: SourceFile }) {
  const [mapping, setMapping] = useState(() => guessMapping(file));
  const [targetName, setTargetName] = useState(() => nameFor(name));
  const plan = useMemo(() => planEdges(file, mapping), [file, mapping]);
  const columns = useMemo(() => newColumns(file, mapping), [file, mapping]);
  const target = targetOf(targetName.trim(), plan, columns, mapping.hasNames);
  const course = useCourse(plan.edges, target, (table) =>
    chooseTable(tables.value.find((known) => isNamed(known, table))?.name ?? table),
  );
  const { state, progress } = course;
  const isBusy = state === 'writing';
  const changeMapping = (changed: Mapping) => {
    setMapping(changed);
    course.planAnew();
  };
  const changeTarget = (changed: string) => {
    setTargetName(changed);
    course.planAnew();
  };
  return (
    <section class="panel" aria-label="Plan">
      <h2>{name}</h2>
      {file.warnings.map((warning) => (
        <p key={warning} class="quiet">
          {warning}
        </p>
      ))}
      <fieldset class="field" disabled={isBusy}>
        <MappingForm file={file} mapping={mapping} onChange={changeMapping} />
      </fieldset>
      <Outcome plan={plan} mapping={mapping} rowCount={file.rows.length} name={name} />
      <div class="bar">
        <label>
          Into table{' '}
          <input
            type="text"
            value={targetName}
            spellcheck={false}
            disabled={isBusy}
            aria-describedby="target-words"
            onInput={(event) => changeTarget(event.currentTarget.value)}
          />
        </label>
        <button type="button" class="primary" disabled={!course.canWrite || target.name === ''} onClick={course.write}>
          {course.words}
        </button>
        {isBusy && (
          <button type="button" onClick={course.stop}>
            Stop
          </button>
        )}
      </div>
      <p id="target-words" class="quiet">
        {state === 'done'
          ? 'These edges are imported. The next import takes another file, another table or other columns.'
          : targetWords(target)}
      </p>
      <Failure error={course.error} title="The import stopped" />
      {progress !== undefined && !(state === 'stopped' && progress.written === 0) && (
        <Written progress={progress} total={plan.edges.length} table={target.name} state={state} name={name} />
      )}
    </section>
  );
}

const isNamed = (table: { readonly name: string }, name: string) => table.name.toLowerCase() === name.toLowerCase();

function targetOf(
  name: string,
  plan: EdgePlan,
  columns: readonly { name: string; type: string }[],
  hasNames: boolean,
): Target {
  const known = tables.value.find((table) => isNamed(table, name));
  const hasNodes = tables.value.some((table) => isNamed(table, name + NODES_SUFFIX));
  const isMissing = (column: { name: string }) =>
    known?.columns.every((other) => !isNamed(other, column.name)) === true;
  return {
    name: known?.name ?? name,
    create:
      known === undefined
        ? ({ name, bucket_seconds: suggestedBucket(plan.edges), columns: [...columns] } as Target['create'])
        : undefined,
    addColumns: columns.filter(isMissing),
    nodes: !hasNames ? 'numbers' : hasNodes ? 'named' : 'new names',
  };
}

function targetWords({ name, create, addColumns, nodes }: Target): string {
  const beside = nodes === 'new names' ? `; names of nodes go to ${name}${NODES_SUFFIX}` : '';
  if (create !== undefined)
    return `${name} will be made, with buckets of ${create.bucket_seconds} s${beside}. That takes an admin key.`;
  const added =
    addColumns.length === 0 ? '' : `; it gets the columns ${addColumns.map((column) => column.name).join(', ')}`;
  return `${name} is there: the edges are added to it${added}${beside}.`;
}

/** Returns a table name made from the file's name; if nothing remains, the chosen table's name. */
function nameFor(file: string): string {
  const stem = file
    .replace(/\..*$/, '')
    .replaceAll(/\W+/g, '_')
    .replace(/^(?=\d)/, '_')
    .slice(0, 58);
  return stem === '' ? tableName.value : stem;
}

interface OutcomeProps {
  readonly plan: EdgePlan;
  readonly mapping: Mapping;
  readonly rowCount: number;
  readonly name: string;
}

/** Shows the planned edges. Until columns of members are chosen, no row counts as rejected. */
function Outcome({ plan, mapping, rowCount, name }: OutcomeProps) {
  if (mapping.memberColumns.length === 0) {
    return (
      <>
        <h3>{countText(rowCount, 'row')}</h3>
        <Empty title="Choose the columns that hold members">
          The column names do not show which these are. A row becomes an edge that joins its members.
        </Empty>
      </>
    );
  }
  return (
    <>
      <h3>
        {countText(plan.edges.length, 'edge')}
        {plan.rejected.length > 0 && `, ${countText(plan.rejected.length, 'row')} left out`}
      </h3>
      <Preview plan={plan} mapping={mapping} />
      <Rejected rejected={plan.rejected} name={name} />
    </>
  );
}

function Preview({ plan, mapping }: { plan: EdgePlan; mapping: Mapping }) {
  const columns = plan.properties;
  if (plan.edges.length === 0)
    return <Empty title="No row becomes an edge">Choose other columns for the time and the members above.</Empty>;
  return (
    <Scrolling label="First edges as they would be stored" height="short">
      <table class="grid">
        <thead>
          <tr>
            <th scope="col">Time (UTC)</th>
            <th scope="col">Members</th>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {plan.edges.slice(0, PREVIEWED).map((edge, at) => (
            <tr key={at}>
              <td class="number">{timeText(edge.event_ts)}</td>
              <td>{edge.members.join(mapping.hasNames ? BETWEEN_MEMBERS : ', ')}</td>
              {columns.map((column) => (
                <td key={column} class={edge.properties[column] === undefined ? 'quiet' : undefined}>
                  {cellText(edge.properties[column])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolling>
  );
}

/** Opens the query view with a statement that reads the table, replacing the statement there. */
function showTable(table: string): void {
  wantedStatement.value = `MATCH (e:${quoted(table)})\nRETURN *\nLIMIT 200`;
  openView('query');
}

const MOST_LISTED = 20;

function Rejected({ rejected, name }: { rejected: readonly Reject[]; name: string }) {
  if (rejected.length === 0) return null;
  return (
    <details class="note note-bad">
      <summary>{countText(rejected.length, 'row')} will be left out</summary>
      <ul>
        {rejected.slice(0, MOST_LISTED).map(({ row, reason }) => (
          <li key={row}>
            Row {row} {reason}.
          </li>
        ))}
      </ul>
      {rejected.length > MOST_LISTED && <p>and {countText(rejected.length - MOST_LISTED, 'more', 'more')}</p>}
      <button type="button" onClick={() => saveRejects(name, rejected)}>
        Save them as a file
      </button>
    </details>
  );
}

interface WrittenProps {
  readonly progress: Progress;
  readonly total: number;
  readonly table: string;
  readonly state: CourseState;
  readonly name: string;
}

function Written({ progress: { written, refused }, total, table, state, name }: WrittenProps) {
  const rejects = refused.map(({ edge, reason }, at) => ({
    row: at + 1,
    reason: `was refused: ${reason}`,
    source: edge,
  }));
  return (
    <div class={state === 'stopped' ? 'note note-bad' : 'note note-good'} role="status">
      {state === 'writing' && <progress max={total} value={written} aria-label="Edges written" />}{' '}
      {countText(written, 'edge')} of {total.toLocaleString('en')} written
      {state === 'stopped' && '; what was written stays'}
      {state === 'done' && ` to ${table}`}.{' '}
      {state === 'done' && (
        <button type="button" onClick={() => showTable(table)}>
          Look at them
        </button>
      )}
      {rejects.length > 0 && (
        <>
          <p>
            The service refused {countText(rejects.length, 'row')}. The first {rejects[0]!.reason}
          </p>
          <button type="button" onClick={() => saveRejects(name, rejects)}>
            Save them as a file
          </button>
        </>
      )}
    </div>
  );
}
