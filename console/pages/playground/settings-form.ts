/** Reads the form of the settings. */
import {
  STOP_CHARACTERS_MAX,
  STOP_SEQUENCES_MAX,
  SYSTEM_PROMPT_CHARACTERS_MAX,
  TEMPERATURE_MAX,
} from '@gateway/shared/chat-parameters';
import { EFFORTS, type Effort, type Settings } from './settings.ts';

/** The texts of the form's fields. */
export interface SettingsDraft {
  systemPrompt: string;
  temperature: string;
  maxTokens: string;
  topP: string;
  effort: string;
  /** One stop sequence per line. */
  stop: string;
  seed: string;
}

/** A field with a wrong text. */
export type WrongField = 'systemPrompt' | 'temperature' | 'maxTokens' | 'topP' | 'stop' | 'seed';

/** Largest integer that the service takes. */
const INTEGER_MAX = 2_147_483_647;

/** The draft of these settings. */
export function draftOf(settings: Settings): SettingsDraft {
  const text = (value: number | string | undefined): string => (value === undefined ? '' : String(value));
  return {
    systemPrompt: settings.systemPrompt,
    temperature: text(settings.temperature),
    maxTokens: text(settings.maxTokens),
    topP: text(settings.topP),
    effort: text(settings.effort),
    stop: settings.stop.join('\n'),
    seed: text(settings.seed),
  };
}

/** The settings of a draft, or the fields that are wrong. */
export function settingsOf(draft: SettingsDraft): { settings: Settings; wrong: ReadonlySet<WrongField> } {
  const wrong = new Set<WrongField>();
  const read = (name: WrongField, text: string, isGood: (value: number) => boolean): number | undefined => {
    if (text.trim() === '') return undefined;
    const value = Number(text);
    if (isGood(value)) return value;
    wrong.add(name);
    return undefined;
  };
  const isInteger = (min: number) => (value: number) =>
    Number.isInteger(value) && value >= min && value <= INTEGER_MAX;
  const stop = draft.stop.split('\n').filter((line) => line !== '');
  if (stop.length > STOP_SEQUENCES_MAX || stop.some((line) => line.length > STOP_CHARACTERS_MAX))
    wrong.add('stop');
  if (draft.systemPrompt.length > SYSTEM_PROMPT_CHARACTERS_MAX) wrong.add('systemPrompt');
  const settings: Settings = {
    systemPrompt: draft.systemPrompt,
    temperature: read('temperature', draft.temperature, (value) => value >= 0 && value <= TEMPERATURE_MAX),
    maxTokens: read('maxTokens', draft.maxTokens, isInteger(1)),
    topP: read('topP', draft.topP, (value) => value > 0 && value <= 1),
    effort: EFFORTS.find((effort): effort is Effort => effort === draft.effort),
    stop,
    seed: read('seed', draft.seed, isInteger(-INTEGER_MAX)),
  };
  return { settings, wrong };
}
