import { Alert, Anchor, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { api, type Schema } from '../../api'
import { useChange } from '../../form'
import { ActionButton } from '../../parts/action-button'
import { Copy } from '../../parts/copy'
import { FormDialog } from '../../parts/form-dialog'
import { Refusal } from '../../parts/refusal'
import { Section } from '../../parts/section'
import { Status } from '../../parts/status'
import { Time } from '../../parts/time'
import { loadWords } from '../../words'

const ordersWords = await loadWords('orders')

const t = ordersWords.passes
type Ticket = Schema['PurchaseDetail']
type Pass = Ticket['wallet_passes'][number]

const platforms = { apple: 'Apple Wallet', google: 'Google Wallet' } as const

/** The wallet passes of a ticket. */
export function Passes({ ticket, isArchived }: { ticket: Ticket; isArchived: boolean }) {
  const [doomed, setDoomed] = useState<Pass>()
  const issue = useChange(async (platform: Pass['platform'], headers) => {
    const params = { path: { id: ticket.id } }
    const { data } = await api.POST('/v1/purchases/{id}/wallet-passes', { params, body: { platform }, headers })
    return data
  })
  const archived = isArchived ? ordersWords.refusals.archived : null
  const reason = archived ?? (ticket.status === 'active' ? null : t.notActive)
  return (
    <Section
      title={t.title}
      actions={(['apple', 'google'] as const).map((platform) => (
        <ActionButton
          key={platform}
          size="xs"
          variant="default"
          operation="createWalletPass"
          reason={reason}
          loading={issue.isPending && issue.variables === platform}
          onClick={() => issue.mutate(platform)}
        >
          {t.issue}: {platforms[platform]}
        </ActionButton>
      ))}
    >
      <Stack gap={6}>
        {issue.error && <Refusal error={issue.error} />}
        {issue.data && (
          <Alert color="teal" variant="outline" title={t.issued} role="status">
            <Text size="sm">{t.linkHint}</Text>
            <Group gap="xs" wrap="nowrap">
              <Anchor href={issue.data.add_url} target="_blank" rel="noreferrer" size="sm" className="break">
                {issue.data.add_url}
              </Anchor>
              <Copy text={issue.data.add_url} name={t.link} />
            </Group>
          </Alert>
        )}
        {ticket.wallet_passes.length === 0 && (
          <Text size="sm" c="dimmed">
            {t.none}
          </Text>
        )}
        {ticket.wallet_passes.map((pass) => (
          <PassRow key={pass.id} pass={pass} archived={archived} askToVoid={() => setDoomed(pass)} />
        ))}
      </Stack>
      <VoidDialog purchase={ticket.id} pass={doomed?.id} close={() => setDoomed(undefined)} />
    </Section>
  )
}

interface RowProps {
  pass: Pass
  archived: string | null
  askToVoid: () => void
}

const PassRow = ({ pass, archived, askToVoid }: RowProps) => (
  <Group justify="space-between" gap="xs">
    <Group gap="xs">
      <Text size="sm">{platforms[pass.platform]}</Text>
      <Status tone={pass.status === 'active' ? 'good' : 'none'} label={t.statuses[pass.status]} />
      <Text size="sm" c="dimmed" component="div">
        {pass.removed_at !== null ? (
          <>
            {t.removed} <Time at={pass.removed_at} />
          </>
        ) : pass.added_at !== null ? (
          <>
            {t.added} <Time at={pass.added_at} />
          </>
        ) : (
          t.notAdded
        )}
      </Text>
    </Group>
    {pass.status === 'active' && (
      <ActionButton
        size="compact-sm"
        variant="subtle"
        c="var(--mantine-color-error)"
        operation="voidWalletPass"
        reason={archived}
        onClick={askToVoid}
      >
        {t.void}
      </ActionButton>
    )}
  </Group>
)

interface VoidProps {
  purchase: string
  /** The pass to void. The dialog is closed without one. */
  pass: string | undefined
  close: () => void
}

const VoidDialog = ({ purchase, pass, close }: VoidProps) => (
  <FormDialog
    title={t.voidTitle}
    isOpen={pass !== undefined}
    close={close}
    submitLabel={t.void}
    done={t.voided}
    isDangerous
    initialValues={{}}
    send={(_, headers) =>
      api.DELETE('/v1/purchases/{id}/wallet-passes/{pass_id}', {
        params: { path: { id: purchase, pass_id: pass ?? '' } },
        headers,
      })
    }
  >
    {() => <Text size="sm">{t.voidHint}</Text>}
  </FormDialog>
)
