/** Code of a reply, coloured by its language. */
import { useEffect, useState } from 'react';
import { type CodePart, highlighted, type Tone } from './highlight.ts';

const TONES: Record<Tone, string | undefined> = {
  plain: undefined,
  word: 'text-accent',
  text: 'text-good',
  note: 'text-ink-3',
  number: 'text-warn',
  name: 'text-adm',
};

/** Time without a change after which code is coloured, in ms. */
const PAUSE_MS = 150;

/** The code; without colours until the grammar is loaded, and while newer code is not coloured yet. */
export function CodeColours({ language, code }: { language: string; code: string }) {
  const [coloured, setColoured] = useState<{ code: string; parts: CodePart[] | undefined }>();
  useEffect(() => {
    let isCurrent = true;
    const colour = async () => {
      // Without its grammar, the code stays readable.
      const parts = await highlighted(language, code).catch(() => undefined);
      if (isCurrent) setColoured({ code, parts });
    };
    // A streamed reply changes often, and each change colours the whole code again.
    const timer = setTimeout(() => void colour(), PAUSE_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [language, code]);
  if (coloured?.parts === undefined || !code.startsWith(coloured.code)) return <>{code}</>;
  return (
    <>
      {coloured.parts.map(({ text, tone }, index) => (
        <span key={index} className={TONES[tone]}>
          {text}
        </span>
      ))}
      {code.slice(coloured.code.length)}
    </>
  );
}
