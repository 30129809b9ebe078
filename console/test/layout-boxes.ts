/** Reads the layout of a page: its visible words, line by line, and its controls. */
/// <reference lib="dom" />
import type { JSHandle, Page } from 'playwright-core';

/** The visible part of one line of words or of one control, in pixels of the window. */
export interface Box {
  words: string;
  left: number;
  top: number;
  right: number;
  bottom: number;
  /** The number of its control or text: the lines of one text share it. */
  source: number;
  /** Boxes of different layers may cover each other: dialogs, popups, and bars that stay in view. */
  layer: number;
  /** The controls that contain this box, as indexes in the list of boxes. */
  within: readonly number[];
  /** Whether an edge cuts the box, without an ellipsis and without a scroll bar. */
  isCut: boolean;
  /** Whether the box lies in a region that scrolls. */
  scrolls: boolean;
}

type Part = Omit<Box, 'words' | 'source' | 'layer' | 'within'>;

interface Tools {
  /** The number of the layer in which an element is drawn. */
  layerOf(element: Element): number;
  /** The part of a rectangle that the parents of its element show; undefined if they show nothing. */
  shown(rect: DOMRect, holder: Element): Part | undefined;
}

/** The boxes of a page: controls first, then words. */
export async function boxesOf(page: Page): Promise<Box[]> {
  const layers = await page.evaluateHandle(makeLayers);
  const tools: JSHandle<Tools> = await page.evaluateHandle(makeTools, layers);
  return page.evaluate(collect, tools);
}

function makeLayers(): Tools['layerOf'] {
  const numbers = new Map<Element, number>();
  return (element) => {
    let at: Element | null = element;
    for (; at; at = at.parentElement) {
      const { position, zIndex } = getComputedStyle(at);
      if (/fixed|sticky/.test(position) || (position === 'absolute' && zIndex !== 'auto')) break;
    }
    const root = at ?? document.documentElement;
    if (!numbers.has(root)) numbers.set(root, numbers.size);
    return numbers.get(root) ?? 0;
  };
}

function makeTools(layerOf: Tools['layerOf']): Tools {
  const narrow = (part: Part, at: Element): void => {
    const { overflowX, overflowY, textOverflow, webkitLineClamp } = getComputedStyle(at);
    const edge = at.getBoundingClientRect();
    const isScroller = /auto|scroll/.test(overflowX + overflowY);
    part.scrolls ||= isScroller;
    if (overflowX !== 'visible') {
      const isBeyond =
        part.right > edge.right + 1 || part.left < edge.left - 1 || part.bottom > edge.bottom + 4;
      part.isCut ||= isBeyond && !isScroller && textOverflow !== 'ellipsis' && webkitLineClamp === 'none';
      part.left = Math.max(part.left, edge.left);
      part.right = Math.min(part.right, edge.right);
    }
    if (overflowY === 'visible') return;
    part.top = Math.max(part.top, edge.top);
    part.bottom = Math.min(part.bottom, edge.bottom);
  };
  const shown: Tools['shown'] = ({ left, top, right, bottom }, holder) => {
    const part: Part = { left, top, right, bottom, isCut: false, scrolls: false };
    // The edges of a parent do not cut an element that is placed by another parent.
    let isPlaced = false;
    for (let at: Element | null = holder; at && at !== document.body; at = at.parentElement) {
      const { width, height } = at.getBoundingClientRect();
      const { position } = getComputedStyle(at);
      // An element of one pixel is only for screen readers.
      if (width <= 1 || height <= 1) return undefined;
      if (!isPlaced || position !== 'static') narrow(part, at);
      isPlaced = position === 'absolute' || (isPlaced && position === 'static');
      if (position === 'fixed') break;
    }
    return part.right - part.left > 2 && part.bottom - part.top > 2 ? part : undefined;
  };
  return { layerOf, shown };
}

function collect({ layerOf, shown }: Tools): Box[] {
  const boxes: Box[] = [];
  const controls: Element[] = [];
  let source = 0;
  const isHidden = (element: Element): boolean =>
    !element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) ||
    element.closest('[inert], script, style, noscript, option') !== null;
  const add = (words: string, rect: DOMRect, holder: Element): boolean => {
    const part = shown(rect, holder);
    const within = controls.flatMap((control, index) => (control.contains(holder) ? [index] : []));
    if (part)
      boxes.push({ words: words.trim().slice(0, 40), ...part, source, layer: layerOf(holder), within });
    return part !== undefined;
  };
  for (const control of document.querySelectorAll('button, input:not([type=hidden]), select, textarea')) {
    source += 1;
    const name = control.ariaLabel ?? (control.textContent || control.localName);
    const outer = control.parentElement;
    if (outer && !isHidden(control) && add(name, control.getBoundingClientRect(), outer))
      controls.push(control);
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const words = (node.textContent ?? '').trim();
    const holder = node.parentElement;
    if (!holder || words === '' || isHidden(holder)) continue;
    source += 1;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const rect of range.getClientRects()) add(words, rect, holder);
  }
  return boxes;
}
