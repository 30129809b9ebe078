/** The width of a box, for what has to be drawn in pixels. */
import { type RefObject, useLayoutEffect, useState } from 'react';
import { flushSync } from 'react-dom';

/** The inner width in pixels, from the first paint on and after each change; 0 before the box is there. */
export function useWidth(box: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    setWidth(element.clientWidth);
    // At once, so that no frame shows a drawing of the width before.
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
