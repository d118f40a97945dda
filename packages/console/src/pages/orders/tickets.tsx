import { Button, Table, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Schema } from '../../api'
import { Section } from '../../parts/section'
import { PurchaseStatus } from '../../parts/states'
import { formatCount, formatMoney, loadWords, plural, words } from '../../words'

const ordersWords = await loadWords('orders')

const t = ordersWords.ticket
type Order = Schema['OrderDetail']
type Ticket = Order['purchases'][number]

/** The variant, location and options of a ticket. */
export const describeChoice = ({ variant, location, options }: Pick<Ticket, 'variant' | 'location' | 'options'>) =>
  [variant?.name, location?.name, ...options.map(({ name }) => name)].filter(Boolean).join(' · ')

export const countUses = ({ is_unlimited_use, available_uses }: Ticket): string =>
  is_unlimited_use ? t.unlimited : formatCount(available_uses)

const firstShown = 50

/** The tickets of an order. Each leads to its uses, passes and refund. */
export function Tickets({ order }: { order: Order }) {
  const { purchases } = order
  const [isWhole, setWhole] = useState(false)
  const visiblePurchases = isWhole ? purchases : purchases.slice(0, firstShown)
  return (
    <Section title={`${words.common.tickets} (${formatCount(purchases.length)})`}>
      {purchases.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t.none}
        </Text>
      ) : (
        <Table highlightOnHover>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t.one}</Table.Th>
              <Table.Th visibleFrom="sm">{t.code}</Table.Th>
              <Table.Th>{words.common.status}</Table.Th>
              <Table.Th className="numbers" visibleFrom="sm">
                {t.usesLeft}
              </Table.Th>
              <Table.Th className="numbers">{ordersWords.price}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {visiblePurchases.map((ticket) => (
              <Row key={ticket.id} ticket={ticket} order={order} />
            ))}
          </Table.Tbody>
        </Table>
      )}
      {visiblePurchases.length < purchases.length && (
        <Button variant="subtle" size="compact-sm" mt="xs" onClick={() => setWhole(true)}>
          {plural(purchases.length, t.showAll)}
        </Button>
      )}
    </Section>
  )
}

function Row({ ticket, order }: { ticket: Ticket; order: Order }) {
  const { id, product, user, vendor_code, status, price_paid } = ticket
  const isHeldByOther = user.api_id !== order.customer.api_id
  const choice = describeChoice(ticket)
  return (
    <Table.Tr>
      <Table.Td className="break">
        <Link className="link" to="." search={{ ticket: id } as never} resetScroll={false}>
          {product.name}
        </Link>{' '}
        <Text size="sm" c="dimmed" component="span">
          {choice}
        </Text>
        {isHeldByOther && (
          <Text size="sm" c="dimmed">
            {t.holder}: {user.full_name}
          </Text>
        )}
        {vendor_code !== null && (
          <Text size="sm" c="dimmed" hiddenFrom="sm">
            {vendor_code}
          </Text>
        )}
      </Table.Td>
      <Table.Td className="break" visibleFrom="sm">
        {vendor_code}
      </Table.Td>
      <Table.Td>
        <PurchaseStatus status={status} />
      </Table.Td>
      <Table.Td className="numbers" visibleFrom="sm">
        {countUses(ticket)}
      </Table.Td>
      <Table.Td className="numbers">{formatMoney(price_paid, order.currency)}</Table.Td>
    </Table.Tr>
  )
}
