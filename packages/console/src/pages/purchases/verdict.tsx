import { Anchor, Button, Group, Loader, Paper, Stack, Text, UnstyledButton } from '@mantine/core'
import { IconCheck, IconHourglass, IconTicket, IconX } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ActionButton } from '../../parts/action-button'
import { nameOrder } from '../../parts/name-order'
import { Refusal } from '../../parts/refusal'
import { PurchaseStatus } from '../../parts/states'
import { Time } from '../../parts/time'
import { formatCount, loadWords } from '../../words'
import { findUses, type Ticket } from './judgement'
import type { CheckInState, View } from './use-check-in'

const t = await loadWords('purchases')

const nameTicket = ({ product, variant, location, options }: Ticket): string =>
  [product.name, variant?.name, location?.name, ...options.map(({ name }) => name)].filter(Boolean).join(' · ')

interface CardProps {
  colour: string
  textColour?: string
  icon: ReactNode
  word: string
  children?: ReactNode
}

/** A card in one colour with one word, which can be read from two metres. */
const Card = ({ colour, textColour = 'white', icon, word, children }: CardProps) => (
  <Paper p="lg" bg={colour} c={textColour}>
    <Group gap="lg" wrap="nowrap" align="start">
      {icon}
      <Stack gap={4} miw={0} flex={1}>
        <Text fz={{ base: 34, sm: 48 }} fw={800} lh={1.1} className="break">
          {word}
        </Text>
        {children}
      </Stack>
    </Group>
  </Paper>
)

const iconSize = 56

function TicketLines({ ticket, isJustUsed = false }: { ticket: Ticket; isJustUsed?: boolean }) {
  const all = findUses(ticket.uses)
  // The use of this moment says nothing new.
  const uses = isJustUsed && all?.first.id === all?.last.id ? null : all
  return (
    <>
      <Text fz={{ base: 18, sm: 24 }} fw={600} className="break">
        {ticket.user.full_name || ticket.user.email}
      </Text>
      <Text fz={{ base: 16, sm: 20 }} className="break">
        {nameTicket(ticket)}
      </Text>
      {uses && (
        <Text fz={{ base: 16, sm: 20 }}>
          {t.firstUse} <Time at={uses.first.used_at} /> (<Time at={uses.first.used_at} age />)
          {uses.first.location && ` · ${uses.first.location.name}`}
          {uses.last.id !== uses.first.id && (
            <>
              {' '}
              · {t.lastUse} <Time at={uses.last.used_at} age />
            </>
          )}
        </Text>
      )}
      <Text>
        {t.usesLeft}: {ticket.is_unlimited_use ? t.unlimited : formatCount(ticket.available_uses)} · {t.order}{' '}
        <Anchor
          c="inherit"
          underline="always"
          renderRoot={(props) => (
            <Link
              to="/editions/$edition/orders/$order"
              params={{ edition: ticket.edition.id, order: ticket.order.id }}
              search={{ ticket: ticket.id }}
              {...props}
            />
          )}
        >
          {nameOrder(ticket.order)}
        </Anchor>
        {ticket.vendor_code !== null && ` · ${ticket.vendor_code}`}
      </Text>
    </>
  )
}

interface ListProps {
  label: string
  tickets: readonly Ticket[]
  choose: (ticket: Ticket) => void
}

const TicketChoice = ({ label, tickets, choose }: ListProps) => (
  <Stack gap="xs" role="group" aria-label={label}>
    <Text fw={600}>{label}</Text>
    {tickets.map((ticket) => (
      <UnstyledButton key={ticket.id} onClick={() => choose(ticket)}>
        <Paper withBorder p="sm">
          <Group justify="space-between" gap="xs">
            <div>
              <Text fw={600} className="break">
                {ticket.user.full_name || ticket.user.email}
              </Text>
              <Text size="sm" c="dimmed" className="break">
                {nameTicket(ticket)} · {ticket.vendor_code ?? ticket.id}
              </Text>
            </div>
            <PurchaseStatus status={ticket.status} />
          </Group>
        </Paper>
      </UnstyledButton>
    ))}
  </Stack>
)

/** The answer to the last scan. */
export function Verdict({ state }: { state: CheckInState }) {
  const { view, choose } = state
  return (
    <Stack>
      <div role="status" aria-live="assertive" aria-atomic>
        <VerdictCard view={view} />
      </div>
      {view.kind === 'ready' && (
        <Group>
          <ActionButton size="xl" operation="createPurchaseUse" onClick={state.letIn}>
            {t.letIn} ⏎
          </ActionButton>
          <Button size="xl" variant="default" onClick={state.clear}>
            {t.next}
          </Button>
        </Group>
      )}
      {view.kind === 'choice' && <TicketChoice label={t.several} tickets={view.tickets} choose={choose} />}
      {view.kind === 'refused' && view.similar.length > 0 && (
        <TicketChoice label={t.similar} tickets={view.similar} choose={choose} />
      )}
      {view.kind === 'failed' && <Refusal error={view.error} retry={() => state.scan(view.code)} />}
    </Stack>
  )
}

function VerdictCard({ view }: { view: View }) {
  switch (view.kind) {
    case 'idle':
      return (
        <Card colour="gray.1" textColour="dark.7" icon={<IconTicket size={iconSize} aria-hidden />} word={t.idle} />
      )
    case 'searching':
      return (
        <Card colour="gray.1" textColour="dark.7" icon={<Loader size={iconSize} color="dark" />} word={t.searching}>
          <Text className="break">{view.code}</Text>
        </Card>
      )
    case 'choice':
      return (
        <Card colour="yellow.3" textColour="dark.9" icon={<IconTicket size={iconSize} aria-hidden />} word={t.choose}>
          <Text className="break">{view.code}</Text>
        </Card>
      )
    case 'ready':
      return (
        <Card colour="indigo.8" icon={<IconTicket size={iconSize} aria-hidden />} word={t.valid}>
          <TicketLines ticket={view.ticket} />
        </Card>
      )
    case 'waiting':
      return (
        <Card colour="yellow.3" textColour="dark.9" icon={<IconHourglass size={iconSize} aria-hidden />} word={t.wait}>
          <Text fz="lg">{t.waitHint}</Text>
          <TicketLines ticket={view.ticket} />
        </Card>
      )
    case 'in':
      return (
        <Card colour="teal.9" icon={<IconCheck size={iconSize} stroke={3} aria-hidden />} word={t.yes}>
          <TicketLines ticket={view.ticket} isJustUsed />
        </Card>
      )
    case 'refused':
      return (
        <Card colour="red.9" icon={<IconX size={iconSize} stroke={3} aria-hidden />} word={t.no}>
          <Text fz={{ base: 20, sm: 28 }} fw={700}>
            {t.reasons[view.reason]}
          </Text>
          {view.ticket ? <TicketLines ticket={view.ticket} /> : <Text className="break">{view.code}</Text>}
        </Card>
      )
    case 'failed':
      return (
        <Card
          colour="yellow.3"
          textColour="dark.9"
          icon={<IconHourglass size={iconSize} aria-hidden />}
          word={t.failed}
        >
          <Text className="break">{view.code}</Text>
        </Card>
      )
  }
}
