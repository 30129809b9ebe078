/** The product's mark, three lines that merge into one, and two drawings based on it. */

/** The mark, 20 × 20 px by default, in the accent colour. */
export function Mark({ size = 20 }: { size?: number }) {
  return (
    <svg
      viewBox="0 0 20 20"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
      strokeLinecap="round"
      className="flex-none text-accent"
      aria-hidden="true"
    >
      <path d="M2 4h3.5L10 10h8M2 16h3.5L10 10M2 10h3" />
    </svg>
  );
}

/** Drawing for empty lists: dotted lines with an open circle where they join. */
export function WireEmpty() {
  return (
    <svg
      viewBox="0 0 132 44"
      width="132"
      height="44"
      fill="none"
      strokeWidth="2"
      strokeLinecap="round"
      aria-hidden="true"
    >
      <g className="stroke-line-strong" strokeDasharray="1 6">
        <path d="M2 8h28L42 19" />
        <path d="M2 36h28L42 25" />
        <path d="M2 22h34" />
        <path d="M54 22h76" />
      </g>
      <circle cx="44" cy="22" r="5" className="stroke-accent" />
    </svg>
  );
}

/** Drawing for failures: lines cut by a cross. */
export function WireBroken() {
  return (
    <svg
      viewBox="0 0 132 44"
      width="132"
      height="44"
      fill="none"
      strokeWidth="2"
      strokeLinecap="round"
      className="flex-none stroke-bad"
      aria-hidden="true"
    >
      <path d="M2 8h22l18 14M2 36h22l18-14M2 22h58M86 22h44M68 17l10 10M78 17 68 27" />
    </svg>
  );
}
