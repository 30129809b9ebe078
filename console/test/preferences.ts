/** Checks for people who asked their system for less motion, or for colours of their choice. */
/// <reference lib="dom" />
import type { Page } from 'playwright-core';

declare global {
  interface Window {
    /** Names of the movements since the page began to load. */
    moved: Set<string>;
  }
}

/** Opacity may still change for this long with reduced motion, in ms. */
const FADE_MS_MAX = 100;

/** Notes on every later page of the tab what moves in any frame, and which scrolling is asked for. */
export async function watchMotion(page: Page): Promise<void> {
  await page.addInitScript((fadeMs) => {
    window.moved = new Set();
    const nameOf = (animation: Animation): string => {
      if (animation instanceof CSSTransition) return `transition of ${animation.transitionProperty}`;
      return animation instanceof CSSAnimation ? `animation ${animation.animationName}` : 'animation';
    };
    const look = (): void => {
      for (const animation of document.getAnimations()) {
        const { activeDuration } = animation.effect?.getComputedTiming() ?? {};
        const isFade = !(animation instanceof CSSTransition) || animation.transitionProperty === 'opacity';
        if (Number(activeDuration) > fadeMs || !isFade) window.moved.add(nameOf(animation));
      }
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
    for (const name of ['scrollIntoView', 'scrollTo', 'scrollBy', 'scroll'] as const) {
      const original = Element.prototype[name];
      Element.prototype[name] = function scroll(this: Element, ...how: [never]) {
        const [options] = how as unknown[];
        if (JSON.stringify(options ?? '').includes('smooth')) window.moved.add(`${name}, smooth`);
        original.apply(this, how);
      };
    }
  }, FADE_MS_MAX);
}

/** The movements of the page so far, and elements that scroll smoothly. */
export function motionOf(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const smooth = [...document.querySelectorAll('*')].filter(
      (element) => getComputedStyle(element).scrollBehavior === 'smooth',
    );
    return [...window.moved, ...smooth.map(({ localName }) => `${localName} scrolls smoothly`)];
  });
}

/** Marks every element whose ground alone shows something, for `vanished`. Run it without forced colours. */
export function markDrawn(page: Page): Promise<void> {
  return page.evaluate(() => {
    for (const element of document.querySelectorAll<HTMLElement>('body *:not(svg, svg *, input, textarea)')) {
      const { width, height } = element.getBoundingClientRect();
      const { backgroundColor, position } = getComputedStyle(element);
      const isGround = !/^(transparent|rgba\(.*, 0\))$/.test(backgroundColor);
      const isLine = width < 2 || height < 2;
      const isEmpty =
        element.textContent === '' && !element.querySelector('svg, img, canvas, input, textarea');
      const isShown = element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
      if (isGround && isEmpty && isShown && !isLine && position !== 'fixed') element.dataset['drawn'] = '';
    }
  });
}

/** The marked elements that forced colours make invisible. */
export function vanished(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('[data-drawn]')]
      .filter((element) => {
        const { outlineStyle, borderTopWidth, forcedColorAdjust } = getComputedStyle(element);
        return outlineStyle === 'none' && borderTopWidth === '0px' && forcedColorAdjust !== 'none';
      })
      .map((element) => element.outerHTML.slice(0, 120)),
  );
}

/** Chosen pages, tabs, options, pressed buttons and highlighted entries that look like those beside them. */
export function unmarkedChoices(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const CHOSEN =
      'nav [aria-current=page], [aria-pressed=true], [role=tab][aria-selected=true], [data-highlighted], ' +
      '[data-selected=true], label:has(> input[type=radio].sr-only:checked)';
    const probe = document.body.appendChild(document.createElement('i'));
    probe.style.cssText = 'forced-color-adjust: none; background: Highlight';
    const highlight = getComputedStyle(probe).backgroundColor;
    probe.remove();
    return [...document.querySelectorAll(CHOSEN)]
      .filter((element) => element.checkVisibility() && !element.closest('[role=group] > .group'))
      .filter((element) => getComputedStyle(element).backgroundColor !== highlight)
      .map((element) => element.outerHTML.slice(0, 120));
  });
}

/** Controls that show no ring when the keyboard reaches them. Press a key first: then focus is visible. */
export function ringless(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const CONTROLS = 'a[href], button, input, select, textarea, summary, [tabindex="0"]';
    const hasRing = (element: Element | null): boolean =>
      element !== null && getComputedStyle(element).outlineStyle !== 'none';
    return [...document.querySelectorAll<HTMLElement>(CONTROLS)]
      .filter((control) => control.checkVisibility() && !control.matches(':disabled, [inert] *'))
      .filter((control) => {
        control.focus({ preventScroll: true });
        return document.activeElement === control && !hasRing(control) && !hasRing(control.closest('label'));
      })
      .map((control) => control.outerHTML.slice(0, 120));
  });
}
