// Shows what an import of nodes with attributes would do, then writes them into a node table.

import type { NodeTable } from '../../client/index.ts';
import { Empty, Failure } from '../failure.tsx';
import { cellText, countText } from '../format.ts';
import { named } from '../named.ts';
import { keyText } from '../node-link.tsx';
import { useMemo, useState } from '../preact.ts';
import { Scrolling } from '../scrolling.tsx';
import { nodeTables, openView, tables, wantedStatement } from '../state.ts';
import { quoted } from '../statement-words.ts';
import { useCourse } from './import-course.ts';
import { ColumnChoice } from './mapping-form.tsx';
import { guessNodeMapping, type NodeMapping, type NodePlan, planNodes } from './node-plan.ts';
import { NameField, nameFor } from './plan-panel.tsx';
import type { SourceFile } from './read-file.ts';
import { Rejected, Written } from './rejected.tsx';
import { missingColumns, nodeJob } from './write-nodes.ts';

const PREVIEWED = 6;

export function NodePlanPanel({ name, file }: { name: string; file: SourceFile }) {
  const [targetName, setTargetName] = useState(() => nodeTables.value[0]?.name ?? nameFor(name));
  const wanted = targetName.trim();
  const table = named(nodeTables.value, wanted);
  /** Undefined: as guessed for the table. */
  const [chosen, setChosen] = useState<NodeMapping | undefined>(undefined);
  const mapping = useMemo(() => chosen ?? guessNodeMapping(file, table), [file, chosen, table]);
  const plan = useMemo(() => planNodes(file, mapping, table), [file, mapping, table]);
  const job = nodeJob(plan, wanted, table);
  const course = useCourse(job, () => {});
  const { state, progress } = course;
  const isBusy = state === 'writing';
  const taken = named(tables.value, wanted);
  const change = (changed: NodeMapping) => {
    setChosen(changed);
    course.planAnew();
  };
  return (
    <>
      <fieldset class="field" disabled={isBusy}>
        <NodeForm file={file} mapping={mapping} onChange={change} />
      </fieldset>
      <h3>
        {countText(plan.nodes.length, 'node')}
        {plan.rejected.length > 0 && `, ${countText(plan.rejected.length, 'row')} left out`}
      </h3>
      <Preview plan={plan} />
      <Rejected rejected={plan.rejected} name={name} />
      <div class="bar">
        <NameField
          label="Into node table"
          value={targetName}
          isBusy={isBusy}
          onChange={(changed) => {
            setTargetName(changed);
            course.planAnew();
          }}
        />
        <button
          type="button"
          class="primary"
          disabled={!course.canWrite || wanted === '' || taken !== undefined}
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
      <p id="target-words" class={taken === undefined ? 'quiet' : 'note note-bad'}>
        {state === 'done'
          ? 'These nodes are imported. The next import takes another file, another table or other columns.'
          : taken === undefined
            ? wordsOf(plan, wanted, table)
            : `${taken.name} is a table of edges; give the node table another name.`}
      </p>
      <Failure error={course.error} title="The import stopped" />
      <Written progress={progress} job={job} state={state} name={name} onShow={() => showNodes(job.table)} />
    </>
  );
}

function wordsOf(plan: NodePlan, name: string, table: NodeTable | undefined): string {
  if (table === undefined)
    return `${name} will be made, with the key ${plan.key.name} (${plan.key.type}). That takes an admin key.`;
  const added = missingColumns(plan, table).map((column) => column.name);
  const columns = added.length === 0 ? '' : `; it gets the columns ${added.join(', ')}`;
  return `${table.name} is there: nodes are added to it, and those whose key it has are replaced${columns}.`;
}

interface FormProps {
  readonly file: SourceFile;
  readonly mapping: NodeMapping;
  readonly onChange: (mapping: NodeMapping) => void;
}

function NodeForm({ file: { columns }, mapping, onChange }: FormProps) {
  const { keyColumn, attributeColumns } = mapping;
  return (
    <div class="form">
      <div class="field">
        <label for="key-column">Key</label>
        <select
          id="key-column"
          value={keyColumn}
          onChange={({ currentTarget: { value } }) =>
            onChange({ keyColumn: value, attributeColumns: columns.filter((column) => column !== value) })
          }
        >
          {columns.map((column) => (
            <option key={column} value={column}>
              {column}
            </option>
          ))}
        </select>
        <p class="quiet help">The name of the node: a text or an integer, as the members of edges have it.</p>
      </div>
      <ColumnChoice
        title="Attributes"
        help="Kept with the node."
        columns={columns.filter((column) => column !== keyColumn)}
        chosen={attributeColumns}
        onChange={(chosen) => onChange({ keyColumn, attributeColumns: chosen })}
      />
    </div>
  );
}

function Preview({ plan: { key, columns, nodes } }: { plan: NodePlan }) {
  if (nodes.length === 0) return <Empty title="No row becomes a node">Choose another column for the key above.</Empty>;
  return (
    <Scrolling label="First nodes as they would be stored" height="short">
      <table class="grid">
        <thead>
          <tr>
            <th scope="col">{key.name}</th>
            {columns.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {nodes.slice(0, PREVIEWED).map((node, at) => (
            <tr key={at}>
              <td>{keyText(node[key.name] as string | number)}</td>
              {columns.map(({ name }) => (
                <td key={name} class={node[name] === undefined ? 'quiet' : undefined}>
                  {cellText(node[name])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolling>
  );
}

function showNodes(table: string): void {
  wantedStatement.value = `MATCH (n:${quoted(table)})\nRETURN *\nLIMIT 200`;
  openView('query');
}
