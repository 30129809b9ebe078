/** Draws a bar chart as SVG: grid, stacked bars, dashes for the previous period, and labels. */
import { GridRows } from '@visx/grid';
import { BarStack, Line } from '@visx/shape';
import { clsx } from 'clsx';
import { type Bar, SERIES_TONES } from './chart-series.ts';
import { type AmountScale, bandScale, PLOT_HEIGHT, shownLabels } from './chart-scales.ts';

interface BarDrawingProps {
  bars: readonly Bar[];
  amounts: AmountScale;
  /** The labels of the grid lines. */
  lines: readonly string[];
  selected: string | undefined;
  /** Width of the whole drawing in pixels. */
  width: number;
  /** Width of the grid line labels in pixels, including their gap. */
  left: number;
}

const LABELS_HEIGHT = 24;
const LABEL = 'fill-ink-3 text-hint forced-colors:fill-[CanvasText]';
const LABEL_TO_LINE = 12;
/** Distance from the middle of a text line to its baseline, in pixels. */
const HALF_LETTER = 4;

/** The drawing, hidden from screen readers. */
export function BarDrawing({ bars, amounts, lines, selected, width, left }: BarDrawingProps) {
  const plot = width - left;
  const bands = bandScale(
    bars.map(({ id }) => id),
    plot,
  );
  return (
    <svg aria-hidden="true" width={width} height={PLOT_HEIGHT + LABELS_HEIGHT} className="overflow-visible">
      {amounts.ticks.map((amount, index) => (
        <text
          key={amount}
          x={left - LABEL_TO_LINE}
          y={amounts.at(amount) + HALF_LETTER}
          textAnchor="end"
          className={LABEL}
        >
          {lines[index]}
        </text>
      ))}
      <g transform={`translate(${left} 0)`}>
        <GridRows
          scale={amounts.at}
          tickValues={amounts.ticks.slice(1)}
          width={plot}
          stroke="var(--line)"
          className="forced-colors:[&>line]:stroke-[GrayText]"
        />
        <Stacks {...{ bars, amounts, bands }} />
        <Line
          from={{ x: 0, y: PLOT_HEIGHT }}
          to={{ x: plot, y: PLOT_HEIGHT }}
          stroke="var(--ink-3)"
          className="forced-colors:stroke-[CanvasText]"
        />
        <Before {...{ bars, amounts, bands }} />
        <Labels bars={bars} bands={bands} selected={selected} />
      </g>
    </svg>
  );
}

type Bands = ReturnType<typeof bandScale>;

interface ShapeProps {
  bars: readonly Bar[];
  amounts: AmountScale;
  bands: Bands;
}

/** Horizontal middle of a bar in pixels. */
function middleOf(bands: Bands, { id }: Bar): number {
  return (bands(id) ?? 0) + bands.bandwidth() / 2;
}

const GAP = 1;
/** Parts lower than this, in pixels, are drawn without a gap. */
const GAP_FROM = 3;

function Stacks({ bars, amounts, bands }: ShapeProps) {
  const keys = [...(bars[0]?.values.keys() ?? [])];
  return (
    <BarStack
      data={[...bars]}
      keys={keys}
      value={({ values }, key) => values[key] ?? 0}
      x={({ id }) => id}
      xScale={bands}
      yScale={amounts.at}
      color={(key) => SERIES_TONES[key]?.fill ?? ''}
    >
      {(stacks) =>
        stacks.flatMap(({ key, bars: parts }) =>
          parts
            .filter(({ bar }) => bar[1] > bar[0])
            .map(({ bar, x, y, width, height, color }) => (
              <rect
                key={`${key} ${bar.data.id}`}
                x={Math.round(x)}
                y={y}
                width={Math.max(1, Math.round(width))}
                height={bar[0] > 0 && height >= GAP_FROM ? height - GAP : Math.max(1, height)}
                fill={color}
                // Forced colours may make all parts look alike: an outline separates them.
                className={clsx('forced-colors:stroke-[CanvasText]', bar.data.open && 'opacity-60')}
              />
            )),
        )
      }
    </BarStack>
  );
}

/** How far the dash extends beyond the bar on each side, in pixels, if there is room. */
const DASH_OVER = 2;

function Before({ bars, amounts, bands }: ShapeProps) {
  const room = (bands.step() - bands.bandwidth()) / 2 - GAP;
  const half = bands.bandwidth() / 2 + Math.max(0, Math.min(DASH_OVER, room));
  return bars
    .filter(({ before }) => before > 0)
    .map((bar) => {
      const y = amounts.at(bar.before);
      const from = { x: Math.round(middleOf(bands, bar) - half), y };
      const to = { x: Math.round(middleOf(bands, bar) + half), y };
      return (
        <g key={bar.id}>
          <Line
            from={from}
            to={to}
            stroke="var(--page)"
            strokeWidth={4}
            className="forced-colors:stroke-[Canvas]"
          />
          <Line
            from={from}
            to={to}
            stroke="var(--ink)"
            strokeWidth={2}
            strokeDasharray="4 2"
            className="forced-colors:stroke-[CanvasText]"
          />
        </g>
      );
    });
}

function Labels({ bars, bands, selected }: Pick<BarDrawingProps, 'bars' | 'selected'> & { bands: Bands }) {
  const shown = shownLabels({
    labels: bars.map(({ label }) => label),
    step: bands.step(),
    selected: bars.findIndex(({ id }) => id === selected),
  });
  return bars.map(
    (bar, index) =>
      shown.has(index) && (
        <text
          key={bar.id}
          x={middleOf(bands, bar)}
          y={PLOT_HEIGHT + LABELS_HEIGHT - HALF_LETTER}
          textAnchor="middle"
          className={
            bar.id === selected ? 'fill-ink text-hint font-semibold forced-colors:fill-[CanvasText]' : LABEL
          }
        >
          {bar.label}
        </text>
      ),
  );
}
