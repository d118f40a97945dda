import { List, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { api, type Schema } from '../../api'
import { ActionButton } from '../../parts/action-button'
import { FormDialog } from '../../parts/form-dialog'
import { fill, loadWords, plural } from '../../words'
import { formatAmounts } from './money'
import { readFourEyes, usePolicy } from './use-policy'

type Batch = Schema['RefundBatch']

const t = await loadWords('refunds')

/** Starts and cancels a batch. Both say with numbers what will happen. */
export function BatchActions({ batch }: { batch: Batch }) {
  const policy = usePolicy()
  const [isStarting, starting] = useDisclosure(false)
  const [isCancelling, cancelling] = useDisclosure(false)
  const { status, dry_run: run } = batch
  const isOpen = status === 'counting' || status === 'draft' || status === 'running'
  return (
    <>
      {isOpen && (
        <ActionButton operation="cancelRefundBatch" variant="default" onClick={cancelling.open}>
          {t.cancelBatch}
        </ActionButton>
      )}
      {status === 'draft' && (
        <ActionButton
          operation="startRefundBatch"
          reason={run.orders === 0 ? t.nothingFits : readFourEyes(policy, batch.is_own, t.fourEyesBatch)}
          onClick={starting.open}
        >
          {t.start}
        </ActionButton>
      )}
      <StartDialog batch={batch} isOpen={isStarting} close={starting.close} />
      <FormDialog
        title={t.cancelBatch}
        isOpen={isCancelling}
        close={cancelling.close}
        isDangerous
        submitLabel={t.cancelBatch}
        done={t.batchCancelled}
        initialValues={{}}
        send={(_, headers) =>
          api.POST('/v1/refund-batches/{id}/cancel', { params: { path: { id: batch.id } }, headers })
        }
      >
        {() => (
          <Text size="sm">
            {status === 'running'
              ? fill(t.cancelRunningText, { orders: plural(batch.requested.orders, t.ordersOf) })
              : t.cancelDraftText}
          </Text>
        )}
      </FormDialog>
    </>
  )
}

interface DialogProps {
  batch: Batch
  isOpen: boolean
  close: () => void
}

const StartDialog = ({ batch, isOpen, close }: DialogProps) => (
  <FormDialog
    title={t.startTitle}
    isOpen={isOpen}
    close={close}
    isDangerous
    submitLabel={t.start}
    done={t.started}
    initialValues={{}}
    send={(_, headers) => api.POST('/v1/refund-batches/{id}/start', { params: { path: { id: batch.id } }, headers })}
  >
    {() => (
      <>
        <Text size="sm" fw={600}>
          {fill(t.startText, {
            amount: formatAmounts(batch.dry_run.amounts),
            customers: plural(batch.dry_run.customers, t.customersOf),
            orders: plural(batch.dry_run.orders, t.ordersOf),
          })}
        </Text>
        <List size="sm">
          <List.Item>{batch.notify_customers ? t.startTells : t.startSilent}</List.Item>
          <List.Item>{batch.cancel_purchases ? t.startCancels : t.startKeeps}</List.Item>
        </List>
      </>
    )}
  </FormDialog>
)
