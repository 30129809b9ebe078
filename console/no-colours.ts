/**
 * Build-time replacement for `d3-interpolate` and `d3-format`, which `d3-scale` imports. The charts only
 * scale numbers to pixels; interpolating colours and dates would be half of the chart's chunk.
 */

type Between = (part: number) => number;

/** Interpolates linearly from the first number (at 0) to the second (at 1). */
export function interpolateNumber(from: number, to: number): Between {
  return (part) => from * (1 - part) + to * part;
}

/** Interpolates linearly and rounds to whole numbers. */
export function interpolateRound(from: number, to: number): Between {
  return (part) => Math.round(from * (1 - part) + to * part);
}

/** Throws. Stands for functions that only colour scales and formatted ticks need. */
function leftOut(): never {
  throw new Error('This part of d3-scale is not in the build. See no-colours.ts.');
}

export { interpolateNumber as interpolate, leftOut as piecewise };
export { leftOut as format, leftOut as formatPrefix, leftOut as formatSpecifier };
export { leftOut as precisionFixed, leftOut as precisionPrefix, leftOut as precisionRound };
