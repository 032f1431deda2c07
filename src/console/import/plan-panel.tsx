// Shows what an import of edges would do: the edges as they would be stored, the rows left out, and
// the target table. Then it writes the edges.

import { NODE_SUFFIX } from '../../tabular/node-columns.ts';
import { Empty, Failure } from '../failure.tsx';
import { cellText, countText, timeText } from '../format.ts';
import { named } from '../named.ts';
import { keyText } from '../node-link.tsx';
import { BETWEEN_MEMBERS } from '../node-names.ts';
import { useMemo, useState } from '../preact.ts';
import { Scrolling } from '../scrolling.tsx';
import { chooseTable, nodeTables, openView, tableName, tables, wantedStatement } from '../state.ts';
import { quoted } from '../statement-words.ts';
import { type EdgePlan, newColumns, type PlannedEdge, planEdges } from './edge-plan.ts';
import { useCourse } from './import-course.ts';
import { guessMapping, type Mapping } from './mapping.ts';
import { MappingForm } from './mapping-form.tsx';
import type { SourceFile } from './read-file.ts';
import { Rejected, Written } from './rejected.tsx';
import { keysFor, mappingInto, problemWith, targetOf, targetWords } from './target.ts';
import { edgeJob } from './write-edges.ts';

const PREVIEWED = 6;

interface Props {
  readonly name: string;
  readonly file: SourceFile;
}

export function PlanPanel({ name, file }: Props) {
  const [chosen, setChosen] = useState(() => guessMapping(file));
  const [targetName, setTargetName] = useState(() => nameFor(name));
  /** Undefined: the one whose name follows from the table's. */
  const [nodeTable, setNodeTable] = useState<string | undefined>(undefined);
  const wanted = targetName.trim();
  const { mapping, plan, target, problem, isNamed, hasDefaultKind } = usePlan(
    file,
    chosen,
    wanted,
    nodeTable ?? `${wanted}${NODE_SUFFIX}`,
  );
  const job = edgeJob(plan.edges, target);
  const course = useCourse(job, (table) => chooseTable(named(tables.value, table)?.name ?? table));
  const { state, progress } = course;
  const isBusy = state === 'writing';
  /** Takes a change of the plan, which makes it another import. */
  const anew =
    <T,>(set: (changed: T) => void) =>
    (changed: T) => {
      set(changed);
      course.planAnew();
    };
  return (
    <>
      <fieldset class="field" disabled={isBusy}>
        <MappingForm
          file={file}
          mapping={mapping}
          nodeTables={isNamed ? nodeTables.value.map((table) => table.name) : undefined}
          onChange={anew(setChosen)}
        />
      </fieldset>
      <Outcome plan={plan} mapping={mapping} rowCount={file.rows.length} name={name} />
      <div class="bar">
        <NameField label="Into table" value={targetName} isBusy={isBusy} onChange={anew(setTargetName)} />
        {hasDefaultKind && (
          <NameField
            label="Nodes go to"
            value={nodeTable ?? `${wanted}${NODE_SUFFIX}`}
            isBusy={isBusy}
            onChange={anew(setNodeTable)}
          />
        )}
        <button
          type="button"
          class="primary"
          disabled={!course.canWrite || target.name === '' || problem !== undefined}
          onClick={course.write}
        >
          {course.words}
        </button>
        {isBusy && (
          <button type="button" onClick={course.stop}>
            Stop
          </button>
        )}
      </div>
      <p id="target-words" class={problem === undefined || state === 'done' ? 'quiet' : 'note note-bad'}>
        {state === 'done'
          ? 'These edges are imported. The next import takes another file, another table or other columns.'
          : (problem ?? targetWords(target))}
      </p>
      <Failure error={course.error} title="The import stopped" />
      <Written progress={progress} job={job} state={state} name={name} onShow={() => showTable(target.name)} />
    </>
  );
}

/** Plans the import into the table with this name. */
function usePlan(file: SourceFile, chosen: Mapping, name: string, nodeTable: string) {
  const known = { tables: tables.value, nodeTables: nodeTables.value };
  const table = named(known.tables, name);
  const mapping = useMemo(() => mappingInto(chosen, table), [chosen, table]);
  const keys = useMemo(
    () => keysFor(file, mapping, table, nodeTable, known),
    [file, mapping, table, nodeTable, known.nodeTables],
  );
  const plan = useMemo(() => planEdges(file, mapping, keys.keys), [file, mapping, keys]);
  const columns = useMemo(() => newColumns(file, mapping), [file, mapping]);
  const wanted = { name, mapping, plan, columns, keys };
  const isNamed = keys.keys !== undefined;
  /** Whether a node table can be chosen for columns that have none of their own. */
  const hasDefaultKind = isNamed && (table === undefined || keys.keys!.kinds.length > 1);
  return {
    mapping,
    plan,
    isNamed,
    hasDefaultKind,
    target: targetOf(wanted, known),
    problem: problemWith(wanted, known),
  };
}

interface NameProps {
  readonly label: string;
  readonly value: string;
  readonly isBusy: boolean;
  readonly onChange: (name: string) => void;
}

/** A field for the name of a table. */
export function NameField({ label, value, isBusy, onChange }: NameProps) {
  return (
    <label>
      {label}{' '}
      <input
        type="text"
        value={value}
        spellcheck={false}
        disabled={isBusy}
        aria-describedby="target-words"
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </label>
  );
}

/** Returns a table name made from the file's name; if nothing remains, the chosen table's name. */
export function nameFor(file: string): string {
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
            {mapping.endColumn !== '' && <th scope="col">End</th>}
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
              {mapping.endColumn !== '' && <td class="number">{endText(edge)}</td>}
              <td>{membersOf(edge).join(typeof edge.members[0] === 'number' ? ', ' : BETWEEN_MEMBERS)}</td>
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

function endText({ end_ts }: PlannedEdge): string {
  return end_ts === undefined ? 'still holds' : timeText(end_ts);
}

/** Returns the members as texts, with their roles. */
function membersOf({ members, roles = {} }: PlannedEdge): string[] {
  return members.map((member) => {
    const own = Object.entries(roles).flatMap(([role, list]) => (list.includes(member) ? [role] : []));
    const text = typeof member === 'object' ? `${keyText(member.key)} (${member.kind})` : keyText(member);
    return own.length === 0 ? text : `${text} (${own.join(', ')})`;
  });
}

/** Opens the query view with a statement that reads the table, replacing the statement there. */
function showTable(table: string): void {
  wantedStatement.value = `MATCH (e:${quoted(table)})\nRETURN *\nLIMIT 200`;
  openView('query');
}
