/** Sends one short request to an upstream and shows the result. */
import { Activity, CircleCheck, CircleX } from 'lucide-react';
import { useState } from 'react';
import { useMutation } from 'urql';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { useDurationText } from '../../../components/duration.ts';
import { Field } from '../../../components/field.tsx';
import { Banner } from '../../../components/notice.tsx';
import type { ResultOf } from '../../../graphql.ts';
import { useTranslation } from '../../../translation.ts';
import { useFailureWords } from '../../failure-words.ts';
import { useRefusalText } from '../../refusal-text.ts';
import { type Provider, ProbeProvider } from './documents.ts';

/** The dialog. It stays open, so that the probe can be repeated. */
export function ProbeDialog({ provider, onClose }: { provider: Provider; onClose: () => void }) {
  const { t } = useTranslation();
  const [model, setModel] = useState(provider.routes[0]?.upstreamModel ?? '');
  const [{ fetching, data, error }, probe] = useMutation(ProbeProvider);
  const failureWords = useFailureWords();
  const result = data?.adminProviderProbe.result;
  const [refused] = data?.adminProviderProbe.userErrors ?? [];
  const refusal = useRefusalText(refused?.message);
  const failure = refused ? refusal : failureWords(error, undefined);
  const footer = (
    <>
      <Button variant="ghost" onClick={onClose}>
        {t('dialog.close')}
      </Button>
      <Button
        variant="primary"
        busy={fetching}
        icon={<Activity size={16} strokeWidth={1.75} aria-hidden="true" />}
        onClick={() => void probe({ input: { providerId: provider.id, upstreamModel: model } })}
      >
        {t('admin.upstreams.probe')}
      </Button>
    </>
  );
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('admin.upstreams.probeTitle', { name: provider.name })}
      sentence={t('admin.upstreams.probeSentence')}
      footer={footer}
    >
      <div className="flex flex-col gap-4">
        <Field
          label={t('admin.upstreams.upstreamModel')}
          value={model}
          autoComplete="off"
          onChange={(event) => {
            setModel(event.target.value);
          }}
        />
        {(result || failure !== undefined) && <Result result={result} failure={failure} />}
      </div>
    </Dialog>
  );
}

interface ResultProps {
  result: ResultOf<typeof ProbeProvider>['adminProviderProbe']['result'] | undefined;
  failure: string | undefined;
}

function Result({ result, failure }: ResultProps) {
  const { t } = useTranslation();
  const durationText = useDurationText();
  return (
    <Banner
      tone={result?.ok === true ? 'good' : 'bad'}
      alert
      icon={result?.ok === true ? <CircleCheck size={16} /> : <CircleX size={16} />}
    >
      {result
        ? t('admin.upstreams.probed', {
            status: result.status ?? t('state.none'),
            taken: durationText(result.latencyMs),
          })
        : failure}
      <div className="break-all">{result?.sample ?? result?.error}</div>
    </Banner>
  );
}
