/**
 * Stacked bars over time, each a button: arrow keys move between them, Enter picks one. The period before is
 * a dashed tick.
 */
import { clsx } from 'clsx';
import type { KeyboardEvent } from 'react';

/** The fixed order of series; the last one is for the others together. */
export const SERIES_TONES = ['bg-s1', 'bg-s2', 'bg-s5', 'bg-s4', 'bg-s6'] as const;

export interface Bar {
  id: string;
  /** Under the bar. */
  label: string;
  /** All of its figures, read out. */
  title: string;
  /** Values by series, in the order of the tones. */
  values: readonly number[];
  /** The same bucket of the period before. */
  before: number;
  /** Not over yet: paler. */
  open: boolean;
}

interface BarChartProps {
  label: string;
  bars: readonly Bar[];
  selected: string | undefined;
  onSelect: (id: string) => void;
  /** The words of a grid line. */
  unit: (value: number) => string;
}

const GRID_STEPS_MAX = 4;
const STEPS = [1, 2, 2.5, 5, 10];

/** The height of a grid step, so that at most four of them reach the highest value. */
export function gridStep(highest: number): number {
  if (highest <= 0) return 1;
  const rough = highest / GRID_STEPS_MAX;
  const size = 10 ** Math.floor(Math.log10(rough));
  return (STEPS.find((step) => step * size >= rough) ?? 10) * size;
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}

/** The chart, 200 px high. */
export function BarChart({ label, bars, selected, onSelect, unit }: BarChartProps) {
  const highest = Math.max(0, ...bars.map(({ values, before }) => Math.max(sum(values), before)));
  const step = gridStep(highest);
  const lines = Array.from(
    { length: Math.max(1, Math.ceil(highest / step)) + 1 },
    (_, index) => index * step,
  );
  const top = lines.at(-1) ?? 1;
  return (
    <div className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3">
      <div className="relative h-[200px] text-right text-hint text-ink-3" aria-hidden="true">
        <span className="invisible">{unit(top)}</span>
        {lines.map((value) => (
          <span
            key={value}
            className="absolute right-0 translate-y-1/2"
            style={{ bottom: share(value, top) }}
          >
            {unit(value)}
          </span>
        ))}
      </div>
      <div className="relative h-[200px]">
        {lines.map((value) => (
          <span key={value} className={lineClass(value)} style={{ bottom: share(value, top) }} />
        ))}
        <div role="group" aria-label={label} className="absolute inset-0 flex" onKeyDown={move}>
          {bars.map((bar, index) => (
            <BarButton
              key={bar.id}
              bar={bar}
              top={top}
              pressed={bar.id === selected}
              stop={selected === undefined ? index === bars.length - 1 : bar.id === selected}
              onSelect={onSelect}
            />
          ))}
        </div>
      </div>
      <span />
      <Labels bars={bars} selected={selected} />
    </div>
  );
}

function move(event: KeyboardEvent<HTMLElement>): void {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (by === undefined) return;
  event.preventDefault();
  const buttons = [...event.currentTarget.querySelectorAll('button')];
  buttons[buttons.findIndex((button) => button === document.activeElement) + by]?.focus();
}

function share(value: number, top: number): string {
  return `${(value / top) * 100}%`;
}

function lineClass(value: number): string {
  return clsx('absolute inset-x-0 h-px', value === 0 ? 'bg-ink-3' : 'bg-line');
}

interface BarButtonProps {
  bar: Bar;
  top: number;
  pressed: boolean;
  /** Whether the Tab key stops here: one bar of the chart does. */
  stop: boolean;
  onSelect: (id: string) => void;
}

function BarButton({ bar, top, pressed, stop, onSelect }: BarButtonProps) {
  return (
    <button
      type="button"
      aria-pressed={pressed}
      aria-label={bar.title}
      title={bar.title}
      tabIndex={stop ? 0 : -1}
      onClick={() => {
        onSelect(bar.id);
      }}
      className="group relative flex h-full min-w-0 flex-1 flex-col-reverse items-center gap-px"
    >
      {bar.values.map(
        (value, index) =>
          value > 0 && (
            <span
              key={index}
              className={clsx('min-h-px w-[76%] max-w-9', SERIES_TONES[index], bar.open && 'opacity-60')}
              style={{ height: share(value, top) }}
            />
          ),
      )}
      <span
        className={clsx(
          'absolute inset-x-[4%] bottom-0 mx-auto max-w-11 rounded-tag',
          pressed ? 'outline-2 outline-accent' : 'group-hover:outline group-hover:outline-line-strong',
        )}
        style={{ height: `max(12px, calc(${share(sum(bar.values), top)} + 4px))` }}
      />
      {bar.before > 0 && (
        <span
          className="absolute inset-x-[4%] mx-auto max-w-10 border-t-2 border-dotted border-ink-2"
          style={{ bottom: share(bar.before, top) }}
        />
      )}
    </button>
  );
}

function Labels({ bars, selected }: Pick<BarChartProps, 'bars' | 'selected'>) {
  const dense = bars.length > 16;
  return (
    <div className="mt-2 flex text-hint text-ink-3" aria-hidden="true">
      {bars.map(({ id, label }, index) => (
        <span
          key={id}
          className={clsx(
            'min-w-0 flex-1 text-center whitespace-nowrap',
            id === selected && 'font-semibold text-ink',
            (dense ? index % 5 !== 0 : index % 2 !== 0) && id !== selected && 'max-lg:invisible',
            dense && index % 3 !== 0 && id !== selected && 'invisible',
          )}
        >
          {label}
        </span>
      ))}
    </div>
  );
}
