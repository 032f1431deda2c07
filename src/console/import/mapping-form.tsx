// Which columns of a file are the time, the members and the properties of an edge.

import type { ComponentChildren } from '../preact.ts';
import { canBeProperty, looksNamed, type Mapping } from './edge-plan.ts';
import type { SourceFile } from './read-file.ts';

interface Props {
  readonly file: SourceFile;
  readonly mapping: Mapping;
  readonly onChange: (mapping: Mapping) => void;
}

const SEPARATORS = [
  [';', 'semicolon ;'],
  [',', 'comma ,'],
  ['|', 'bar |'],
  [' ', 'space'],
] as const;

export function MappingForm({ file, mapping, onChange }: Props) {
  const { timeColumn, memberColumns, propertyColumns, separator, hasNames } = mapping;
  const change = (changed: Partial<Mapping>) => onChange({ ...mapping, ...changed });
  const setMembers = (columns: readonly string[]) =>
    change({
      memberColumns: columns,
      propertyColumns: propertyColumns.filter((column) => !columns.includes(column)),
      hasNames: looksNamed(file, { memberColumns: columns, separator }),
    });
  const others = file.columns.filter((column) => column !== timeColumn);
  const free = others.filter((column) => !memberColumns.includes(column));
  const usable = free.filter(canBeProperty);
  return (
    <div class="form">
      <TimeChoice columns={file.columns} chosen={timeColumn} onChange={(column) => change({ timeColumn: column })} />
      <ColumnChoice
        title="Members"
        help="The nodes that the edge joins: one column that lists them, or several with one each."
        columns={others}
        chosen={memberColumns}
        onChange={setMembers}
      >
        <label class="check">
          <input
            type="checkbox"
            checked={hasNames}
            onChange={(event) => change({ hasNames: event.currentTarget.checked })}
          />
          Nodes have names
        </label>
        {hasNames && memberColumns.length === 1 && (
          <label class="check">
            Between names{' '}
            <select value={separator} onChange={(event) => change({ separator: event.currentTarget.value })}>
              {SEPARATORS.map(([mark, title]) => (
                <option key={mark} value={mark}>
                  {title}
                </option>
              ))}
            </select>
          </label>
        )}
      </ColumnChoice>
      <ColumnChoice
        title="Properties"
        help={
          usable.length < free.length
            ? 'Kept with the edge. Not all columns can be: names have letters, digits and _, and id is given by the service.'
            : 'Kept with the edge.'
        }
        columns={usable}
        chosen={propertyColumns}
        onChange={(columns) => change({ propertyColumns: columns })}
      />
    </div>
  );
}

interface TimeProps {
  readonly columns: readonly string[];
  readonly chosen: string;
  readonly onChange: (column: string) => void;
}

function TimeChoice({ columns, chosen, onChange }: TimeProps) {
  return (
    <div class="field">
      <label for="time-column">Time</label>
      <select id="time-column" value={chosen} onChange={(event) => onChange(event.currentTarget.value)}>
        {columns.map((column) => (
          <option key={column} value={column}>
            {column}
          </option>
        ))}
      </select>
      <p class="quiet help">When the edge happened: epoch seconds, or a date that is read as UTC.</p>
    </div>
  );
}

interface ChoiceProps {
  readonly title: string;
  readonly help: string;
  readonly columns: readonly string[];
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
  readonly children?: ComponentChildren;
}

function ColumnChoice({ title, help, columns, chosen, onChange, children }: ChoiceProps) {
  const toggled = (column: string) =>
    chosen.includes(column) ? chosen.filter((item) => item !== column) : [...chosen, column];
  return (
    <fieldset class="field">
      <legend>{title}</legend>
      <div class="choices">
        {columns.map((column) => (
          <label key={column} class="check">
            <input type="checkbox" checked={chosen.includes(column)} onChange={() => onChange(toggled(column))} />
            <span>{column}</span>
          </label>
        ))}
        {columns.length === 0 && <p class="quiet">No other column.</p>}
      </div>
      {children}
      <p class="quiet help">{help}</p>
    </fieldset>
  );
}
