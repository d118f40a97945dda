import { Combobox, Kbd, Loader, Text, TextInput, useCombobox } from '@mantine/core'
import { useDebouncedValue, useHotkeys } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { useQueries } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { get } from '../api'
import { useEditionId } from '../caller'
import { nameOrder } from '../parts/name-order'
import { formatMoney, words } from '../words'

interface Hit {
  key: string
  title: string
  line: string
  open: () => void
}

const pageSize = 5

/** Looks for orders, customers and tickets of the edition at once. `/` leads to the field. */
export function GlobalSearch() {
  const [text, setText] = useState('')
  const [search] = useDebouncedValue(text.trim(), 250)
  const input = useRef<HTMLInputElement>(null)
  const combobox = useCombobox({ onDropdownClose: () => combobox.resetSelectedOption() })
  useHotkeys([['/', () => input.current?.focus()]])
  const { groups, isLoading } = useHits(search)
  const hits = groups.flatMap(([, list]) => list)
  const isOpen = search.length >= 2
  return (
    <Combobox
      store={combobox}
      shadow="md"
      onOptionSubmit={(key) => {
        hits.find((hit) => hit.key === key)?.open()
        setText('')
        combobox.closeDropdown()
        input.current?.blur()
      }}
    >
      <Combobox.Target>
        <TextInput
          ref={input}
          flex={1}
          maw={420}
          miw={60}
          aria-label={words.common.searchEverything}
          placeholder={words.common.searchEverything}
          leftSection={<IconSearch size={16} aria-hidden />}
          rightSection={isLoading ? <Loader size="xs" /> : <Kbd visibleFrom="md">/</Kbd>}
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value)
            combobox.openDropdown()
            combobox.updateSelectedOptionIndex()
          }}
          onFocus={() => combobox.openDropdown()}
          onBlur={() => combobox.closeDropdown()}
        />
      </Combobox.Target>
      <Combobox.Dropdown hidden={!isOpen}>
        <Combobox.Options mah={420} style={{ overflowY: 'auto' }} aria-label={words.common.searchEverything}>
          {groups.map(
            ([label, list]) =>
              list.length > 0 && (
                <Combobox.Group key={label} label={label}>
                  {list.map((hit) => (
                    <Combobox.Option key={hit.key} value={hit.key}>
                      <Text size="sm" fw={600} className="break">
                        {hit.title}
                      </Text>
                      <Text size="xs" className="break">
                        {hit.line}
                      </Text>
                    </Combobox.Option>
                  ))}
                </Combobox.Group>
              ),
          )}
          {hits.length === 0 && !isLoading && <Combobox.Empty>{words.common.noMatch}</Combobox.Empty>}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  )
}

function useHits(search: string): { groups: [string, Hit[]][]; isLoading: boolean } {
  const edition = useEditionId()
  const navigate = useNavigate()
  const enabled = search.length >= 2 && edition !== undefined
  const query = { search, edition_id: edition ?? '', page_size: pageSize }
  const [orders, customers, purchases] = useQueries({
    queries: [
      { ...get('/v1/orders', { params: { query } }), enabled },
      { ...get('/v1/user', { params: { query } }), enabled },
      { ...get('/v1/purchases', { params: { query } }), enabled },
    ],
  })
  const t = words.common
  const openOrder = (order: string) => () =>
    void navigate({ to: '/editions/$edition/orders/$order', params: { edition: edition ?? '', order } })
  return {
    isLoading: enabled && [orders, customers, purchases].some((one) => one.isFetching),
    groups: [
      [
        t.entries.orders,
        (orders.data?.results ?? []).map((order) => ({
          key: order.id,
          title: `${nameOrder(order)} · ${order.customer_name}`,
          line: `${formatMoney(order.amount, order.currency)} · ${order.customer_email}`,
          open: openOrder(order.id),
        })),
      ],
      [
        t.entries.customers,
        (customers.data?.results ?? []).map((person) => ({
          key: person.id,
          title: `${person.first_name} ${person.last_name}`,
          line: person.email ?? '',
          open: () =>
            void navigate({
              to: '/editions/$edition/customers/$customer',
              params: { edition: edition ?? '', customer: person.id },
            }),
        })),
      ],
      [
        t.tickets,
        (purchases.data?.results ?? []).map((purchase) => ({
          key: purchase.id,
          title: purchase.product.name,
          line: purchase.id,
          open: openOrder(purchase.order.id),
        })),
      ],
    ],
  }
}
