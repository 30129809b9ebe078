/** The dialogs of a chat: settings, prompt templates, and the chat as a request. Loaded when opened. */
import { lazy, Suspense } from 'react';
import { loadWords } from '../../i18n.ts';
import type { Draft } from './composer.tsx';
import type { ChatMessage } from './documents.ts';
import type { PickedModel } from './models.ts';
import { type Settings, settingsFor } from './settings.ts';

const ApiCall = lazy(async () => ({ default: (await import('./api-call.tsx')).ApiCall }));
const SettingsDialog = lazy(async () => {
  const [part] = await Promise.all([import('./settings-dialog.tsx'), loadWords(['prompts'])]);
  return { default: part.SettingsDialog };
});
const TemplatesDialog = lazy(async () => {
  const [part] = await Promise.all([import('./templates-dialog.tsx'), loadWords(['prompts'])]);
  return { default: part.TemplatesDialog };
});

export type ChatTool = 'call' | 'settings' | 'templates';

interface ToolsProps {
  /** The open dialog. */
  tool: ChatTool | undefined;
  settings: Settings;
  draft: Draft;
  /** The models that get the settings. */
  models: readonly PickedModel[];
  messages: readonly ChatMessage[];
  onSettings: (settings: Settings) => void;
  onDraft: (draft: Draft) => void;
  onClose: () => void;
}

/** The open dialog; nothing if none is open. */
export function ChatTools({
  tool,
  settings,
  draft,
  models,
  messages,
  onSettings,
  onDraft,
  onClose,
}: ToolsProps) {
  if (tool === undefined) return null;
  const [model] = models;
  return (
    <Suspense>
      {tool === 'call' && (
        <ApiCall
          {...{ messages, draft, onClose }}
          model={model?.name ?? ''}
          settings={settingsFor(settings, model)}
        />
      )}
      {tool === 'settings' && <SettingsDialog {...{ settings, models, onClose }} onApply={onSettings} />}
      {tool === 'templates' && (
        <TemplatesDialog
          current={{ systemPrompt: settings.systemPrompt, message: draft.text }}
          onUse={({ systemPrompt, message }) => {
            onSettings({ ...settings, systemPrompt });
            onDraft({ ...draft, text: message });
            onClose();
          }}
          onClose={onClose}
        />
      )}
    </Suspense>
  );
}
