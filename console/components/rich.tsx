/** Renders a text with marks, such as "<b>Codex</b> is rotating". The caller says what each mark becomes. */
import { Fragment, type ReactNode } from 'react';

const MARK = /<(\w+)>(.*?)<\/\1>/g;

interface RichProps {
  /** The text, with its placeholders already filled in. */
  text: string;
  /** Renders each mark, given the text inside it. */
  marks: Readonly<Record<string, (inside: string) => ReactNode>>;
}

/** The rendered text. Unknown marks stay text. */
export function Rich({ text, marks }: RichProps) {
  const parts: ReactNode[] = [];
  let end = 0;
  for (const match of text.matchAll(MARK)) {
    const [whole, name = '', inside = ''] = match;
    parts.push(text.slice(end, match.index), marks[name]?.(inside) ?? whole);
    end = match.index + whole.length;
  }
  parts.push(text.slice(end));
  return parts.map((part, index) => <Fragment key={index}>{part}</Fragment>);
}
