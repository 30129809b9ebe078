/** Drains a node: it finishes its requests and stops. */
import { useMutation } from 'urql';
import { graphql } from '../../../graphql.ts';
import { useTranslation } from '../../../translation.ts';
import { UserErrorFields } from '../../answer-fields.ts';
import { FormDialog } from '../form-dialog.tsx';
import type { AdminNode } from './documents.ts';

const DrainNode = graphql(
  `
    mutation DrainNode($input: AdminReasonInput!) {
      adminNodeDrain(input: $input) {
        node {
          id
          state
          retired
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

/** The dialog. It shows the requests in flight, or what draining means for an offline node. */
export function DrainDialog({ node, onClose }: { node: AdminNode; onClose: () => void }) {
  const { t } = useTranslation();
  const [, drain] = useMutation(DrainNode);
  const { id, name, inflight, state } = node;
  const isOffline = state === 'OFFLINE';
  return (
    <FormDialog
      title={t('admin.nodes.drainTitle', { name })}
      sentence={
        isOffline ? t('admin.nodes.offlineSentence') : t('admin.nodes.drainSentence', { count: inflight })
      }
      button={t('admin.nodes.drain')}
      destructive
      onClose={onClose}
      send={async (_, reason) => {
        const { data, error } = await drain({ input: { id, reason } });
        return { error, userErrors: data?.adminNodeDrain.userErrors };
      }}
    />
  );
}
