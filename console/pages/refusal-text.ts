/** The service's own text about an input that it refuses, in the language of the console. */
import { useEffect, useState } from 'react';
import { currentLanguage } from '../translation.ts';

/**
 * The text in Chinese for a Chinese console; the text itself if there is no translation, or if the
 * translations cannot be loaded.
 */
export async function refusalText(text: string): Promise<string> {
  if (currentLanguage() !== 'zh-CN') return text;
  try {
    const { inChinese } = await import('../messages/refusals.ts');
    return inChinese(text) ?? text;
  } catch {
    return text;
  }
}

/** The same for a text that a page shows; undefined without a text, and until the words are known. */
export function useRefusalText(text: string | undefined): string | undefined {
  const [known, setKnown] = useState<{ text: string; words: string }>();
  useEffect(() => {
    if (text === undefined) return undefined;
    let isWanted = true;
    void refusalText(text).then((words) => isWanted && setKnown({ text, words }));
    return () => {
      isWanted = false;
    };
  }, [text]);
  return known?.text === text ? known?.words : undefined;
}
