/** A sentence with marks in it, such as "<b>Codex</b> is rotating"; the page says what each mark becomes. */
import { Fragment, type ReactNode } from 'react';

const MARK = /<(\w+)>(.*?)<\/\1>/g;

interface RichProps {
  /** The sentence, with its values already in it. */
  text: string;
  /** What stands for each mark, given the words inside it. */
  marks: Readonly<Record<string, (inside: string) => ReactNode>>;
}

/** The sentence; marks that nobody knows stay text. */
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
