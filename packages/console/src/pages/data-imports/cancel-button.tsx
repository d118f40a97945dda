import { Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { api } from '../../api'
import { ActionButton } from '../../parts/action-button'
import { FormDialog } from '../../parts/form-dialog'
import { formatCount, loadWords } from '../../words'
import type { ImportResult } from './use-import'

const t = await loadWords('dataImports')

/** Stops an import. Orders that exist already stay. */
export function CancelButton({ result: { data } }: { result: ImportResult }) {
  const [isOpen, dialog] = useDisclosure()
  if (!data.allowed_actions.includes('cancel')) return null
  const isImporting = data.status === 'importing'
  return (
    <>
      <ActionButton operation="cancelDataImport" variant="default" onClick={dialog.open}>
        {t.cancel}
      </ActionButton>
      <FormDialog
        title={t.cancelTitle}
        isOpen={isOpen}
        close={dialog.close}
        initialValues={{}}
        send={(_, headers) => api.POST('/v1/data-imports/{id}/cancel', { params: { path: { id: data.id } }, headers })}
        submitLabel={t.cancel}
        isDangerous
      >
        {() => (
          <Text size="sm">
            {isImporting
              ? t.cancelRunning.replace('#', formatCount(data.created_orders + data.updated_orders))
              : t.cancelBefore}
          </Text>
        )}
      </FormDialog>
    </>
  )
}
