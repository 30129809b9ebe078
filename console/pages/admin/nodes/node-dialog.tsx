/** Creates a node, or rotates the token of a node. The token is shown once. */
import { useState } from 'react';
import { useMutation } from 'urql';
import { Button } from '../../../components/button.tsx';
import { CopyField } from '../../../components/copy.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { Field } from '../../../components/field.tsx';
import { useTranslation } from '../../../translation.ts';
import { FormDialog, text } from '../form-dialog.tsx';
import { type AdminNode, CreateNode, RotateNode } from './documents.ts';

const NAME_CHARACTERS_MAX = 64;

/** The dialog. Without `node`, it creates one. */
export function NodeDialog({ node, onClose }: { node?: AdminNode; onClose: () => void }) {
  const { t } = useTranslation();
  const [, create] = useMutation(CreateNode);
  const [, rotate] = useMutation(RotateNode);
  const [token, setToken] = useState<string>();
  const title = node ? t('admin.nodes.rotateTitle', { name: node.name }) : t('admin.nodes.create');
  if (token !== undefined) {
    const footer = (
      <Button variant="primary" onClick={onClose}>
        {t('admin.nodes.stored')}
      </Button>
    );
    return (
      <Dialog open onClose={onClose} title={title} sentence={t('admin.nodes.once')} footer={footer}>
        <CopyField text={token} label={t('admin.nodes.copyToken')} />
      </Dialog>
    );
  }
  const send = async (values: FormData, reason: string) => {
    if (node) {
      const { data, error } = await rotate({ input: { id: node.id, reason } });
      setToken(data?.adminNodeTokenRotate.token ?? undefined);
      return { error, userErrors: data?.adminNodeTokenRotate.userErrors };
    }
    const { data, error } = await create({ input: { name: text(values, 'name'), reason } });
    setToken(data?.adminNodeCreate.token ?? undefined);
    return { error, userErrors: data?.adminNodeCreate.userErrors };
  };
  return (
    <FormDialog
      title={title}
      sentence={node ? t('admin.nodes.rotateSentence') : t('admin.nodes.createSentence')}
      button={node ? t('admin.nodes.rotate') : t('admin.nodes.create')}
      onClose={onClose}
      onDone={() => undefined}
      send={send}
    >
      {!node && (
        <Field
          label={t('admin.name')}
          name="name"
          required
          maxLength={NAME_CHARACTERS_MAX}
          hint={t('admin.nodes.nameHint')}
          autoComplete="off"
        />
      )}
    </FormDialog>
  );
}
