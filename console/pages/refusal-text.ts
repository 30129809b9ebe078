/** The service's own text about an input that it refuses, in the language of the console. */
import { currentLanguage } from '../translation.ts';

/** The text in Chinese for a Chinese console, if there is a translation; otherwise the text itself. */
export async function refusalText(text: string): Promise<string> {
  if (currentLanguage() !== 'zh-CN') return text;
  const { inChinese } = await import('../messages/refusals.ts');
  return inChinese(text) ?? text;
}
