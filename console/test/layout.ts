/**
 * Faults of a layout that a machine can find: words that are cut off, outside of the window or broken after
 * each character, words and controls over each other, and parts that scroll sideways.
 */
/// <reference lib="dom" />
import type { Page } from 'playwright-core';
import { type Box, boxesOf } from './layout-boxes.ts';

/** Boxes of some fonts are higher than their lines: those of neighbouring lines may overlap, in px. */
const OVERLAP_Y_PX = 4;
const OVERLAP_X_PX = 1;
const EDGE_PX = 1;
/** Two Chinese characters side by side. */
const HAN = /\p{Script=Han}{2}/u;

/** The faults of a page at its present size. */
export async function layoutFaults(page: Page): Promise<string[]> {
  const boxes = await boxesOf(page);
  const width = await page.evaluate(() => innerWidth);
  const cut = boxes.filter(({ isCut }) => isCut).map(({ words }) => `cut off: ${words}`);
  const outside = boxes
    .filter(({ left, right, scrolls }) => !scrolls && (left < -EDGE_PX || right > width + EDGE_PX))
    .map(({ words }) => `outside of the window: ${words}`);
  const sideways = await page.evaluate(sidewaysParts);
  return [...cut, ...outside, ...overlaps(boxes), ...stacked(boxes), ...sideways];
}

function overlaps(boxes: readonly Box[]): string[] {
  const byTop = boxes.map((box, index) => ({ box, index })).toSorted((a, b) => a.box.top - b.box.top);
  return byTop.flatMap(({ box, index }, at) => {
    const end = byTop.findIndex((next, place) => place > at && next.box.top > box.bottom - OVERLAP_Y_PX);
    return byTop
      .slice(at + 1, end === -1 ? undefined : end)
      .filter((other) => !other.box.within.includes(index) && !box.within.includes(other.index))
      .filter((other) => isOver(box, other.box))
      .map((other) => `"${box.words}" and "${other.box.words}" overlap`);
  });
}

function isOver(one: Box, other: Box): boolean {
  const x = Math.min(one.right, other.right) - Math.max(one.left, other.left);
  const y = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
  const canMeet = one.layer === other.layer && one.source !== other.source;
  return canMeet && x > OVERLAP_X_PX && y > OVERLAP_Y_PX;
}

/** Chinese words, of which each line has one character. Lines of code may have one of their own accord. */
function stacked(boxes: readonly Box[]): string[] {
  const texts = Map.groupBy(boxes, ({ source }) => source).values();
  const isNarrow = ({ left, right, top, bottom }: Box): boolean => right - left < bottom - top;
  return [...texts]
    .filter((lines) => lines.length > 1 && lines.every(isNarrow) && HAN.test(lines[0]?.words ?? ''))
    .map(([line]) => `one character per line: ${line?.words}`);
}

/** Runs in the page: parts that scroll sideways and should not. */
function sidewaysParts(): string[] {
  const parts = document.querySelectorAll('html, main, [data-part=body], [data-part=footer], [role=menu]');
  return [...parts]
    .filter((part) => part.scrollWidth > part.clientWidth + 1 && getComputedStyle(part).overflowX !== 'clip')
    .map((part) => `scrolls sideways: ${part.localName} ${part.getAttribute('data-part') ?? ''}`.trim());
}
