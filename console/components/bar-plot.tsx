/**
 * The bars of a chart, each covered by a button. Arrow keys, Home and End move between the bars; Enter
 * selects one. Screen readers read the buttons; the drawing below is hidden from them.
 */
import { clsx } from 'clsx';
import { type KeyboardEvent, useRef, useState } from 'react';
import { BarDrawing } from './bar-drawing.tsx';
import { type Bar, SERIES_TONES } from './chart-series.ts';
import { amountScale, PLOT_HEIGHT, totalOf, labelWidth } from './chart-scales.ts';
import { useWidth } from './use-width.ts';

export interface BarPlotProps {
  label: string;
  bars: readonly Bar[];
  /** The id of the selected bar. */
  selected: string | undefined;
  onSelect: (id: string) => void;
  /** Formats the amounts of the grid lines. */
  words: (amounts: readonly number[]) => readonly string[];
}

/** Labels may extend beyond the box; a drawing of an outdated width must not widen the page. */
const DRAWING = 'absolute -inset-x-4 -top-2 bottom-0 overflow-clip pt-2 pl-4';

const AXIS_GAP = 12;
/** The outline of a bar is this much higher than the bar, and at least as high as OUTLINE_MIN, in pixels. */
const OUTLINE_ABOVE = 4;
const OUTLINE_MIN = 12;

/** The plot. It fills the box around it. */
export function BarPlot({ label, bars, selected, onSelect, words }: BarPlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const [last, setLast] = useState(selected);
  const amounts = amountScale(Math.max(0, ...bars.map((bar) => Math.max(totalOf(bar), bar.before))));
  const lines = words(amounts.ticks);
  const left = Math.ceil(Math.max(...lines.map(labelWidth))) + AXIS_GAP;
  const stop = [last, selected, bars.at(-1)?.id].find((id) => bars.some((bar) => bar.id === id));
  const height = (bar: Bar): number =>
    Math.max(OUTLINE_MIN, PLOT_HEIGHT - amounts.at(totalOf(bar)) + OUTLINE_ABOVE);
  return (
    <div ref={box} className="relative size-full">
      <div className={DRAWING}>
        {width > left && <BarDrawing {...{ bars, amounts, lines, selected, width, left }} />}
      </div>
      <div
        role="group"
        aria-label={label}
        className="absolute top-0 right-0 flex"
        style={{ left, height: PLOT_HEIGHT }}
        onKeyDown={move}
      >
        {bars.map((bar, index) => (
          <BarButton
            key={bar.id}
            bar={bar}
            place={(index + 0.5) / bars.length}
            height={height(bar)}
            pressed={bar.id === selected}
            stop={bar.id === stop}
            onFocus={() => {
              setLast(bar.id);
            }}
            onClick={() => {
              onSelect(bar.id);
            }}
          />
        ))}
      </div>
    </div>
  );
}

function move(event: KeyboardEvent<HTMLElement>): void {
  const buttons = [...event.currentTarget.querySelectorAll('button')];
  const at = buttons.findIndex((button) => button === document.activeElement);
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: buttons.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  buttons[to]?.focus();
}

interface BarButtonProps {
  bar: Bar;
  /** Where the bar stands: 0 at the left edge, 1 at the right. */
  place: number;
  /** Height of the outline in pixels. */
  height: number;
  pressed: boolean;
  /** Whether the Tab key stops here. One bar does: the one that had the focus last. */
  stop: boolean;
  onFocus: () => void;
  onClick: () => void;
}

function BarButton({ bar, place, height, pressed, stop, ...handlers }: BarButtonProps) {
  return (
    <div className="group relative h-full min-w-0 flex-1">
      <button
        type="button"
        aria-pressed={pressed}
        aria-label={bar.title}
        tabIndex={stop ? 0 : -1}
        data-part="cover"
        className="relative size-full"
        {...handlers}
      >
        <span
          className={clsx(
            'absolute inset-x-[4%] bottom-0 mx-auto max-w-11 rounded-tag',
            pressed
              ? 'outline-2 outline-accent forced-colors:outline-[Highlight]'
              : 'group-hover:outline group-hover:outline-line-strong',
          )}
          style={{ height }}
        />
      </button>
      <Tooltip bar={bar} place={place} />
    </div>
  );
}

/** All figures of a bar, while the pointer or the focus is on it. Screen readers read the button's name. */
function Tooltip({ bar: { title, lines }, place }: { bar: Bar; place: number }) {
  return (
    <span
      aria-hidden="true"
      className={clsx(
        'pointer-events-none absolute top-full z-20 mt-1 hidden w-max max-w-64 rounded-card',
        'border border-line bg-raise px-3 py-2 text-left text-hint shadow-float',
        'group-hover:block group-has-focus-visible:block',
        place < 1 / 2 ? 'left-0' : 'right-0',
      )}
    >
      <span className="block font-semibold">{title}</span>
      {lines.map(({ name, value }, index) => (
        <span key={name} className="mt-1 flex items-center gap-2">
          <span className={clsx('drawn size-2 flex-none rounded-[2px]', SERIES_TONES[index]?.swatch)} />
          <span className="min-w-0 truncate text-ink-2">{name}</span>
          <span className="ml-auto pl-3">{value}</span>
        </span>
      ))}
    </span>
  );
}
