import { Group, Paper, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useSyncExternalStore } from 'react'
import { api } from '../../api'
import { useChange } from '../../form'
import { ActionButton } from '../../parts/action-button'
import { Refusal } from '../../parts/refusal'
import { Section } from '../../parts/section'
import { Status, type Tone } from '../../parts/status'
import { Time } from '../../parts/time'
import { loadWords } from '../../words'
import { onScansChange, readScans, type Scan } from './scan-store'
import { markReverted } from './use-check-in'

const t = await loadWords('purchases')

const tones: Record<Scan['outcome'], Tone> = {
  in: 'good',
  refused: 'bad',
  waiting: 'act',
  failed: 'act',
  reverted: 'none',
}

/** Lists the scans of this person in this tab, the newest first. */
export function ScanList({ edition, onChange }: { edition: string; onChange: () => void }) {
  const scans = useSyncExternalStore(onScansChange, readScans).filter((scan) => scan.edition === edition)
  const revert = useChange(
    async ({ id, ticket, use }: Scan, headers) => {
      const path = { id: ticket?.id ?? '', use_id: use ?? '' }
      await api.POST('/v1/purchases/{id}/uses/{use_id}/revert', { params: { path }, headers })
      markReverted(id)
    },
    { done: t.revertDone, onSent: onChange },
  )
  return (
    <Section title={t.lastScans}>
      <Stack gap="xs">
        {revert.error && <Refusal error={revert.error} />}
        {scans.length === 0 && (
          <Text size="sm" c="dimmed">
            {t.noScans}
          </Text>
        )}
        {scans.map((scan) => (
          <ScanRow
            key={scan.id}
            scan={scan}
            isReverting={revert.isPending && revert.variables?.id === scan.id}
            revert={() => revert.mutate(scan)}
          />
        ))}
      </Stack>
    </Section>
  )
}

interface RowProps {
  scan: Scan
  isReverting: boolean
  revert: () => void
}

function ScanRow({ scan, isReverting, revert }: RowProps) {
  const { ticket, code, at, outcome, reason, edition } = scan
  return (
    <Paper withBorder px="sm" py={6}>
      <Group justify="space-between" gap="xs" wrap="nowrap" align="start">
        <div>
          <Text size="sm" fw={600} className="break">
            {ticket ? (
              <Link
                className="link"
                to="/editions/$edition/orders/$order"
                params={{ edition, order: ticket.order }}
                search={{ ticket: ticket.id }}
              >
                {ticket.holder || code}
              </Link>
            ) : (
              code
            )}
          </Text>
          <Text size="xs" c="dimmed" component="div" className="break">
            {ticket && `${ticket.product} · `}
            <Time at={at} />
          </Text>
          {outcome === 'refused' && reason !== null && <Text size="xs">{t.reasons[reason]}</Text>}
        </div>
        <Stack gap={4} align="end">
          <Status tone={tones[outcome]} label={t.outcomes[outcome]} />
          {outcome === 'in' && (
            <ActionButton
              size="compact-xs"
              variant="subtle"
              operation="revertPurchaseUse"
              loading={isReverting}
              onClick={revert}
            >
              {t.revert}
            </ActionButton>
          )}
        </Stack>
      </Group>
    </Paper>
  )
}
