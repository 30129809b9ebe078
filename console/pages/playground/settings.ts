/** The system prompt and the parameters that the user sets for replies. They live as long as the page. */
import type { VariablesOf } from '../../graphql.ts';
import type { MessageSend } from './documents.ts';
import type { PickedModel } from './models.ts';

type SettingsInput = NonNullable<VariablesOf<typeof MessageSend>['input']['settings']>;
export type Effort = NonNullable<SettingsInput['effort']>;
export type Parameter = PickedModel['parameters'][number];

/** Values that the user set. A parameter that is absent is left to the model. */
export interface Settings {
  systemPrompt: string;
  temperature?: number | undefined;
  maxTokens?: number | undefined;
  topP?: number | undefined;
  effort?: Effort | undefined;
  stop: readonly string[];
  seed?: number | undefined;
}

export const NO_SETTINGS: Settings = { systemPrompt: '', stop: [] };
/** Efforts that the user can choose, weakest first. */
export const EFFORTS = ['NONE', 'MINIMAL', 'LOW', 'MEDIUM', 'HIGH'] as const;

/** The name of each parameter among the settings. */
export const MEMBERS = {
  TEMPERATURE: 'temperature',
  MAX_TOKENS: 'maxTokens',
  TOP_P: 'topP',
  EFFORT: 'effort',
  STOP: 'stop',
  SEED: 'seed',
} as const;

/** The settings that a model takes, as the input of the service; null if there are none. */
export function settingsFor(settings: Settings, model: PickedModel | undefined): SettingsInput | null {
  const takes = (name: Parameter): boolean => model?.parameters.includes(name) ?? true;
  const systemPrompt = settings.systemPrompt.trim();
  const { temperature, maxTokens, topP, effort, stop, seed } = settings;
  const input: SettingsInput = {
    ...(systemPrompt !== '' && { systemPrompt }),
    ...(temperature !== undefined && takes('TEMPERATURE') && { temperature }),
    ...(maxTokens !== undefined && takes('MAX_TOKENS') && { maxTokens }),
    ...(topP !== undefined && takes('TOP_P') && { topP }),
    ...(effort !== undefined && takes('EFFORT') && { effort }),
    ...(stop.length > 0 && takes('STOP') && { stop: [...stop] }),
    ...(seed !== undefined && takes('SEED') && { seed }),
  };
  return Object.keys(input).length > 0 ? input : null;
}

/** How many settings are set. */
export function countOf(settings: Settings): number {
  const { systemPrompt, stop, ...numbers } = settings;
  const set = Object.values(numbers).filter((value) => value !== undefined).length;
  return set + Number(systemPrompt.trim() !== '') + Number(stop.length > 0);
}
