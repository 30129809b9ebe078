/**
 * Stands for `d3-interpolate` and `d3-format` in the build, where `d3-scale` imports them: the scales of the
 * charts turn numbers into pixels and write no words. Mixing colours and dates is half of a chart's chunk.
 */

type Between = (part: number) => number;

/** The number between two others, from the first at 0 to the second at 1. */
export function interpolateNumber(from: number, to: number): Between {
  return (part) => from * (1 - part) + to * part;
}

/** The same in whole numbers. */
export function interpolateRound(from: number, to: number): Between {
  return (part) => Math.round(from * (1 - part) + to * part);
}

/** Throws: what scales of colours and the words of scales would need. */
function leftOut(): never {
  throw new Error('The build leaves this out of d3-scale: see no-colours.ts.');
}

export { interpolateNumber as interpolate, leftOut as piecewise };
export { leftOut as format, leftOut as formatPrefix, leftOut as formatSpecifier };
export { leftOut as precisionFixed, leftOut as precisionPrefix, leftOut as precisionRound };
