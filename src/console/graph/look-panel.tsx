// The panel in which the colours and sizes of nodes are chosen, with the legend of the picture.

import { Failure } from '../failure.tsx';
import { countText } from '../format.ts';
import { useId } from '../preact.ts';
import { MOST_MEASURED } from './fetch-values.ts';
import type { NodeLooks, Shown } from './node-looks.ts';
import { RoleLegend } from './role-marks.tsx';
import type { ValueSource } from './value-sources.ts';

interface Props {
  readonly looks: NodeLooks;
  /** The roles that the picture shows; empty if it shows none. */
  readonly roleNames: readonly string[];
  /** Sizes are not shown in the picture of stretches of time. */
  readonly hasSizes: boolean;
  /** The look whose nodes are highlighted. */
  readonly marked: string | undefined;
  readonly onMark: (look: string | undefined) => void;
}

export function LookPanel({ looks, roleNames, hasSizes, marked, onMark }: Props) {
  const { sources, colour, size, choose } = looks;
  const numbers = sources.filter(({ isNumber }) => isNumber);
  return (
    <section class="look-panel" aria-label="Look of the nodes">
      <Choice
        title="Colour by"
        shown={colour}
        sources={sources}
        none="nothing"
        onChange={(id) => {
          onMark(undefined);
          choose('colour', id);
        }}
      />
      {hasSizes && (
        <Choice
          title="Size by"
          shown={size}
          sources={numbers.filter(({ id }) => id !== 'degree')}
          none="edges in this result"
          onChange={(id) => choose('size', id)}
        />
      )}
      <Failure error={looks.listError} title="What nodes can be coloured by is not known" />
      <Legend looks={looks} marked={marked} onMark={onMark} />
      {hasSizes && size.source !== undefined && looks.sizing !== undefined && (
        <p class="quiet">
          Size: {size.source.title}, {looks.sizing.text}
        </p>
      )}
      {roleNames.length > 0 && <RoleLegend roleNames={roleNames} />}
    </section>
  );
}

interface ChoiceProps {
  readonly title: string;
  readonly shown: Shown;
  readonly sources: readonly ValueSource[];
  readonly none: string;
  readonly onChange: (id: string) => void;
}

const GROUPS = ['Result', 'Attributes', 'Measures'] as const;

function Choice({ title, shown, sources, none, onChange }: ChoiceProps) {
  const id = useId();
  return (
    <div class="look-choice">
      <label for={id}>{title}</label>
      <select id={id} value={shown.source?.id ?? ''} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">{none}</option>
        {GROUPS.map((group) => {
          const own = sources.filter((source) => source.group === group);
          return (
            own.length > 0 && (
              <optgroup key={group} label={group}>
                {own.map((source) => (
                  <option key={source.id} value={source.id}>
                    {source.title}
                  </option>
                ))}
              </optgroup>
            )
          );
        })}
      </select>
      {shown.isBusy && (
        <p class="quiet" role="status">
          Fetching {shown.source?.title} ...{' '}
          <button type="button" class="plain" onClick={() => onChange('')}>
            Stop
          </button>
        </p>
      )}
      <Failure error={shown.error} title={`${shown.source?.title} is not shown`} />
      {shown.isCut && (
        <p class="quiet">Only the {countText(MOST_MEASURED, 'largest value', 'largest values')} were asked for.</p>
      )}
    </div>
  );
}

const MOST_CHARACTERS = 60;

/** Lists the colours. Each is a button that highlights its nodes, so that colour is not all. */
function Legend({ looks, marked, onMark }: Pick<Props, 'looks' | 'marked' | 'onMark'>) {
  const { colour, colouring } = looks;
  if (colour.source === undefined || colouring === undefined) return null;
  return (
    <ul class="plain-list legend" aria-label={`Colours: ${colour.source.title}`}>
      {colouring.legend.map(({ look, text, count }) => (
        <li key={look}>
          <button
            type="button"
            class="plain legend-entry"
            title="Highlight these nodes"
            aria-pressed={marked === look}
            onClick={() => onMark(marked === look ? undefined : look)}
          >
            <svg class={`swatch ${look}`} viewBox="-8 -8 16 16" aria-hidden="true">
              <circle r="6.5" />
            </svg>
            <span>{text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS - 1)}…` : text}</span>{' '}
            <span class="quiet">{countText(count, 'node')}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
