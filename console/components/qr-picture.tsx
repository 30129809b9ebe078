/** A QR code as SVG. Dark on light in both themes, because some scanners need it. */
import { generate } from 'lean-qr';

const MARGIN = 4;

/** The code of a text. */
export function QrPicture({ text, label }: { text: string; label: string }) {
  const code = generate(text);
  const side = code.size + 2 * MARGIN;
  const places = Array.from({ length: code.size }, (_, index) => index);
  const path = places
    .flatMap((y) => places.filter((x) => code.get(x, y)).map((x) => `M${x + MARGIN} ${y + MARGIN}h1v1h-1z`))
    .join('');
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${side} ${side}`}
      shapeRendering="crispEdges"
      className="size-52 flex-none self-center rounded-code"
    >
      <rect width={side} height={side} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
