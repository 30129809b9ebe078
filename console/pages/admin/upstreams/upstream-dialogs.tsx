/** Dialogs of an upstream: edit, credentials, routes, probe. */
import { useMutation } from 'urql';
import { useTranslation } from '../../../translation.ts';
import { FormDialog } from '../form-dialog.tsx';
import { CredentialDialog } from './credential-dialog.tsx';
import { EditDialog } from './edit-dialog.tsx';
import { ModelsDialog } from './models-dialog.tsx';
import { ProbeDialog } from './probe-dialog.tsx';
import { ProbingDialog } from './probing-dialog.tsx';
import { QuirksDialog } from './quirks-dialog.tsx';
import { RouteDialog } from './route-dialog.tsx';
import {
  DeleteRoute,
  type ModelName,
  type Provider,
  RemoveCredential,
  type UpstreamTask,
} from './documents.ts';

interface DialogsProps {
  task: UpstreamTask;
  models: readonly ModelName[];
  onClose: () => void;
}

/** The dialog of the task. */
export function UpstreamDialogs({ task, models, onClose }: DialogsProps) {
  switch (task.kind) {
    case 'edit':
      return <EditDialog provider={task.provider} onClose={onClose} />;
    case 'credential':
      return <CredentialDialog provider={task.provider} onClose={onClose} />;
    case 'probe':
      return <ProbeDialog provider={task.provider} onClose={onClose} />;
    case 'quirks':
      return <QuirksDialog provider={task.provider} onClose={onClose} />;
    case 'probing':
      return <ProbingDialog provider={task.provider} onClose={onClose} />;
    case 'models':
      return <ModelsDialog provider={task.provider} models={models} onClose={onClose} />;
    case 'route':
      return <RouteDialog {...task} models={models} onClose={onClose} />;
    case 'removeRoute':
      return <RemoveRoute route={task.route} onClose={onClose} />;
    case 'removeCredential':
      return <Remove credential={task.credential} onClose={onClose} />;
  }
}

interface RemoveRouteProps {
  route: Extract<UpstreamTask, { kind: 'removeRoute' }>['route'];
  onClose: () => void;
}

function RemoveRoute({ route, onClose }: RemoveRouteProps) {
  const { t } = useTranslation();
  const [, remove] = useMutation(DeleteRoute);
  return (
    <FormDialog
      title={t('admin.removeTitle', { name: route.model.name })}
      sentence={t('admin.upstreams.removeRoute')}
      button={t('admin.remove')}
      destructive
      onClose={onClose}
      send={async (_, reason) => {
        const { data, error } = await remove({ input: { id: route.id, reason } });
        return { error, userErrors: data?.adminRouteDelete.userErrors };
      }}
    />
  );
}

interface RemoveProps {
  credential: Provider['credentials'][number];
  onClose: () => void;
}

function Remove({ credential, onClose }: RemoveProps) {
  const { t } = useTranslation();
  const [, remove] = useMutation(RemoveCredential);
  return (
    <FormDialog
      title={t('admin.removeTitle', { name: credential.label })}
      sentence={t('admin.upstreams.removeCredential')}
      button={t('admin.remove')}
      destructive
      onClose={onClose}
      send={async (_, reason) => {
        const { data, error } = await remove({ input: { id: credential.id, reason } });
        return { error, userErrors: data?.adminCredentialRemove.userErrors };
      }}
    />
  );
}
