// The form that chooses which columns of a file are the time, the members and the properties of an
// edge.

import { guessTimeFormat, type TimeFormat } from '../../tabular/times.ts';
import type { ComponentChildren } from '../preact.ts';
import { cellsIn, guessSeparator, looksNamed, type Mapping } from './mapping.ts';
import type { SourceFile } from './read-file.ts';
import { RoleChoices } from './role-choices.tsx';
import { needsOrder } from './times.ts';

interface Props {
  readonly file: SourceFile;
  readonly mapping: Mapping;
  /** The node tables of which members can be; undefined if members are numbers. */
  readonly nodeTables: readonly string[] | undefined;
  readonly onChange: (mapping: Mapping) => void;
}

const SEPARATORS = [
  [';', 'semicolon ;'],
  [',', 'comma ,'],
  ['|', 'bar |'],
  [' ', 'space'],
  ['', 'nothing: one in each cell'],
] as const;

export function MappingForm({ file, mapping, nodeTables, onChange }: Props) {
  const { timeColumn, timeFormat, endColumn, memberColumns, propertyColumns, separator, hasNames } = mapping;
  const change = (changed: Partial<Mapping>) => onChange({ ...mapping, ...changed });
  const setMembers = (columns: readonly string[]) => {
    // A separator that the user has chosen is not replaced by a guess.
    const mark = separator === guessSeparator(file, memberColumns) ? guessSeparator(file, columns) : separator;
    change({
      memberColumns: columns,
      propertyColumns: propertyColumns.filter((column) => !columns.includes(column)),
      separator: mark,
      hasNames: looksNamed(file, { memberColumns: columns, separator: mark }),
    });
  };
  const setTime = (column: string) =>
    change({
      timeColumn: column,
      timeFormat: guessTimeFormat(cellsIn(file, column), column),
      endColumn: endColumn === column ? '' : endColumn,
      ...without(mapping, column),
    });
  const setEnd = (column: string) => change({ endColumn: column, ...without(mapping, column) });
  const others = file.columns.filter((column) => column !== timeColumn && column !== endColumn);
  const free = others.filter((column) => !memberColumns.includes(column));
  const usable = free.filter((column) => file.valueColumns.includes(column));
  return (
    <div class="form">
      <TimeChoice columns={file.columns} chosen={timeColumn} onChange={setTime}>
        {needsOrder(cellsIn(file, timeColumn), timeFormat) && (
          <OrderChoice chosen={timeFormat} onChange={(format) => change({ timeFormat: format })} />
        )}
        <EndChoice
          columns={file.columns.filter((column) => column !== timeColumn)}
          chosen={endColumn}
          onChange={setEnd}
        />
      </TimeChoice>
      <ColumnChoice
        title="Members"
        help="The nodes that the edge joins: in each column one, or a list of them."
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
        <SeparatorChoice chosen={separator} onChange={(mark) => change({ separator: mark })} />
        <RoleChoices mapping={mapping} nodeTables={nodeTables} onChange={change} />
      </ColumnChoice>
      <ColumnChoice
        title="Properties"
        help={
          usable.length < free.length
            ? 'Kept with the edge. Not all columns can be: id is given by the service, and keys of NDJSON have letters, digits and _.'
            : 'Kept with the edge.'
        }
        columns={usable}
        chosen={propertyColumns}
        onChange={(columns) => change({ propertyColumns: columns })}
      />
    </div>
  );
}

/** Returns the columns of members and properties without one that has another meaning. */
function without({ memberColumns, propertyColumns }: Mapping, column: string) {
  return {
    memberColumns: memberColumns.filter((other) => other !== column),
    propertyColumns: propertyColumns.filter((other) => other !== column),
  };
}

function SeparatorChoice({ chosen, onChange }: { chosen: string; onChange: (mark: string) => void }) {
  return (
    <label class="check">
      Between nodes{' '}
      <select value={chosen} onChange={(event) => onChange(event.currentTarget.value)}>
        {SEPARATORS.map(([mark, title]) => (
          <option key={mark} value={mark}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

interface TimeProps {
  readonly columns: readonly string[];
  readonly chosen: string;
  readonly onChange: (column: string) => void;
  readonly children: ComponentChildren;
}

function TimeChoice({ columns, chosen, onChange, children }: TimeProps) {
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
      {children}
      <p class="quiet help">
        When the edge happened or began: epoch seconds, or a date that is read as UTC. An edge whose end is empty still
        holds.
      </p>
    </div>
  );
}

function EndChoice({ columns, chosen, onChange }: Omit<TimeProps, 'children'>) {
  return (
    <label class="check">
      Ends{' '}
      <select value={chosen} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">no column: edges have no end</option>
        {columns.map((column) => (
          <option key={column} value={column}>
            {column}
          </option>
        ))}
      </select>
    </label>
  );
}

const ORDERS: readonly (readonly [TimeFormat, string])[] = [
  ['iso', 'choose ...'],
  ['dmy', 'Day.Month.Year'],
  ['mdy', 'Month/Day/Year'],
];

function OrderChoice({ chosen, onChange }: { chosen: TimeFormat; onChange: (format: TimeFormat) => void }) {
  return (
    <label class="check">
      Dates are{' '}
      <select value={chosen} onChange={(event) => onChange(event.currentTarget.value as TimeFormat)}>
        {ORDERS.map(([format, title]) => (
          <option key={format} value={format}>
            {title}
          </option>
        ))}
      </select>
    </label>
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

export function ColumnChoice({ title, help, columns, chosen, onChange, children }: ChoiceProps) {
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
