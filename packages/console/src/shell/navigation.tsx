import { NavLink, Text } from '@mantine/core'
import { IconReceipt, type TablerIcon } from '@tabler/icons-react'
import { Link, type LinkProps } from '@tanstack/react-router'
import { useEditionId, useOrganizationId } from '../caller'
import { words } from '../words'

interface Entry {
  label: string
  icon: TablerIcon
  link: LinkProps
}

/** The pages of an edition, by what people do. */
function listEditionPages(edition: string): [label: string, entries: Entry[]][] {
  const t = words.common.entries
  const params = { edition }
  return [
    [t.sales, [{ label: t.orders, icon: IconReceipt, link: { to: '/editions/$edition/orders', params } }]],
    [t.messaging, []],
    [t.data, []],
    [t.setup, []],
  ]
}

/** The pages of an organisation. */
function listOrganizationPages(_organization: string): [label: string, entries: Entry[]][] {
  return [[words.common.organization, []]]
}

export function Navigation({ close }: { close: () => void }) {
  const edition = useEditionId()
  const organization = useOrganizationId()
  const groups = [
    ...(edition === undefined ? [] : listEditionPages(edition)),
    ...(organization === undefined ? [] : listOrganizationPages(organization)),
  ].filter(([, entries]) => entries.length > 0)
  return groups.map(([label, entries]) => (
    <div key={label} role="group" aria-label={label}>
      <Text size="xs" c="dimmed" fw={600} px="xs" pt="xs">
        {label}
      </Text>
      {entries.map((entry) => (
        <NavLink
          key={entry.label}
          label={entry.label}
          py={5}
          leftSection={<entry.icon size={16} aria-hidden />}
          renderRoot={(props) => (
            <Link
              {...entry.link}
              {...props}
              activeProps={{ 'data-active': true, 'aria-current': 'page' }}
              onClick={close}
            />
          )}
        />
      ))}
    </div>
  ))
}
