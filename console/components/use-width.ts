/** Measures the width of an element, for drawings in pixels. */
import { type RefObject, useLayoutEffect, useState } from 'react';
import { flushSync } from 'react-dom';

/** The inner width in pixels, updated on every change; 0 before the element exists. */
export function useWidth(box: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    setWidth(element.clientWidth);
    // Synchronously, so that no frame shows a drawing of the old width.
    const observer = new ResizeObserver(() => {
      flushSync(() => {
        setWidth(element.clientWidth);
      });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
    };
  }, [box]);
  return width;
}
