/** The colours of the explorer's editor, from the design tokens of the console. */

/**
 * The editor's custom properties, and the tokens that they take. The editor mixes neutral with transparency
 * for quiet text, so it gets the colour of text.
 */
const TOKENS = {
  '--color-primary': '--accent',
  '--color-secondary': '--accent',
  '--color-tertiary': '--s3',
  '--color-info': '--s1',
  '--color-success': '--good',
  '--color-warning': '--warn',
  '--color-error': '--bad',
  '--color-neutral': '--ink',
  '--color-base': '--page',
} as const;

const MOST = 255;
const PERCENT = 100;
const SEXTANT_DEGREES = 60;
const CIRCLE_DEGREES = 360;

/** Sets the editor's colours on the element, from the tokens that hold there now. */
export function applyColours(element: HTMLElement): void {
  const tokens = getComputedStyle(element);
  for (const [property, token] of Object.entries(TOKENS))
    element.style.setProperty(property, hslOf(tokens.getPropertyValue(token).trim()));
}

/**
 * A colour like "#005874" as the parameters of hsl(): "195, 100%, 23%". The build shortens "#ffffff" to
 * "#fff". Throws for another format.
 */
export function hslOf(colour: string): string {
  const whole = colour.replace(/^#(.)(.)(.)$/, '#$1$1$2$2$3$3');
  const digits = /^#([\da-f]{2})([\da-f]{2})([\da-f]{2})$/i.exec(whole)?.slice(1);
  if (!digits) throw new Error(`Not a colour in hexadecimal digits: ${colour}`);
  const [red = 0, green = 0, blue = 0] = digits.map((pair) => Number.parseInt(pair, 16) / MOST);
  const [high, low] = [Math.max(red, green, blue), Math.min(red, green, blue)];
  const [spread, lightness] = [high - low, (high + low) / 2];
  const saturation = spread === 0 ? 0 : spread / (1 - Math.abs(2 * lightness - 1));
  const hue = hueOf([red, green, blue], high, spread);
  return `${round(hue)}, ${round(saturation * PERCENT)}%, ${round(lightness * PERCENT)}%`;
}

/** In degrees, 0 to 360. */
function hueOf([red, green, blue]: readonly [number, number, number], high: number, spread: number): number {
  if (spread === 0) return 0;
  const sextant = {
    [blue]: 4 + (red - green) / spread,
    [green]: 2 + (blue - red) / spread,
    [red]: (green - blue) / spread,
  }[high];
  return ((sextant ?? 0) * SEXTANT_DEGREES + CIRCLE_DEGREES) % CIRCLE_DEGREES;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
