/** Publishes a version of the privacy policy. The text starts with the latest version. */
import { useState } from 'react';
import { useMutation } from 'urql';
import { Checkbox, Field } from '../../../components/field.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useToast } from '../../../components/toast.tsx';
import { LineDiff } from '../../../components/line-diff.tsx';
import { useTranslation } from '../../../translation.ts';
import { FormDialog, text } from '../form-dialog.tsx';
import { type PolicyRow, PublishPolicy } from './documents.ts';

const SUMMARY_CHARACTERS_MAX = 500;

/** The dialog. It shows the difference while the text is edited. */
export function PolicyDialog({ latest, onClose }: { latest: PolicyRow | undefined; onClose: () => void }) {
  const { t } = useTranslation();
  const [, publish] = useMutation(PublishPolicy);
  const [markdown, setMarkdown] = useState(latest?.markdown ?? '');
  const toast = useToast();
  const send = async (values: FormData, reason: string) => {
    const { data, error } = await publish({ input: { ...versionIn(values), markdown, reason } });
    return { error, userErrors: data?.adminPolicyPublish.userErrors };
  };
  return (
    <FormDialog
      title={t('admin.policies.publish')}
      sentence={t('admin.policies.publishSentence')}
      button={t('admin.policies.publishButton')}
      wide
      onClose={onClose}
      onDone={() => {
        toast({ text: t('admin.policies.published') });
        onClose();
      }}
      send={send}
    >
      <NumberAndDay />
      <Field
        label={t('admin.policies.summary')}
        name="summary"
        required
        maxLength={SUMMARY_CHARACTERS_MAX}
        autoComplete="off"
      />
      <TextField
        label={t('admin.policies.text')}
        rows={12}
        required
        value={markdown}
        onChange={(event) => setMarkdown(event.target.value)}
      />
      <Checkbox
        name="reaccept"
        label={t('admin.policies.reaccept')}
        hint={t('admin.policies.reacceptHint')}
      />
      {latest && <Changes before={latest.markdown} after={markdown} />}
    </FormDialog>
  );
}

function NumberAndDay() {
  const { t } = useTranslation();
  return (
    <div className="grid grid-cols-2 gap-4 max-sm:grid-cols-1">
      <Field label={t('admin.policies.number')} name="version" required pattern="[0-9]+([.][0-9]+){1,2}" />
      <Field
        label={t('admin.policies.effective')}
        name="effective"
        type="date"
        hint={t('admin.policies.effectiveHint')}
      />
    </div>
  );
}

function versionIn(values: FormData) {
  const from = text(values, 'effective');
  return {
    version: text(values, 'version'),
    changeSummary: text(values, 'summary'),
    effectiveAt: from === '' ? null : new Date(`${from}T00:00:00Z`).toISOString(),
    requireReacceptance: values.has('reaccept'),
  };
}

/** The difference from the latest version; nothing if there is none. */
function Changes({ before, after }: { before: string; after: string }) {
  const { t } = useTranslation();
  if (before === after) return null;
  return <LineDiff label={t('admin.policies.changes')} before={before} after={after} />;
}
