import { NavLink, Text } from '@mantine/core'
import {
  IconAddressBook,
  IconAdjustments,
  IconBuilding,
  IconCalendarEvent,
  IconCreditCard,
  IconFlask,
  IconForms,
  IconHistory,
  IconHome,
  IconKey,
  IconMail,
  IconMailOff,
  IconPhoto,
  IconQrcode,
  IconReceipt,
  IconReceiptRefund,
  IconSend,
  IconServer,
  IconSignature,
  IconStack2,
  IconTableImport,
  IconTicket,
  IconUsers,
  IconUsersGroup,
  IconWebhook,
  IconWorld,
  type TablerIcon,
} from '@tabler/icons-react'
import { Link, type LinkProps } from '@tanstack/react-router'
import { useCaller, useEditionId, useOrganizationId } from '../caller'
import { isDevelopment } from '../environment'
import { linkTo } from '../parts/record-link'
import { loadWords, words } from '../words'

const organizationsWords = await loadWords('organizations')

interface Entry {
  label: string
  icon: TablerIcon
  link: LinkProps
  /** True if pages below the address have entries of their own. */
  isExact?: boolean
}

/** The pages of an edition, by what people do. */
function listEditionPages(edition: string): [label: string, entries: Entry[]][] {
  const t = words.common.entries
  const params = { edition }
  return [
    [
      t.sales,
      [
        { label: t.home, icon: IconHome, link: { to: '/editions/$edition', params }, isExact: true },
        { label: t.orders, icon: IconReceipt, link: { to: '/editions/$edition/orders', params } },
        { label: t.checkIn, icon: IconQrcode, link: { to: '/editions/$edition/check-in', params } },
        { label: t.refunds, icon: IconReceiptRefund, link: { to: '/editions/$edition/refunds', params } },
        { label: t.refundBatches, icon: IconStack2, link: { to: '/editions/$edition/refund-batches', params } },
        { label: t.customers, icon: IconAddressBook, link: { to: '/editions/$edition/customers', params } },
      ],
    ],
    [
      t.messaging,
      [
        { label: t.campaigns, icon: IconSend, link: { to: '/editions/$edition/campaigns', params } },
        { label: t.emailMessages, icon: IconMail, link: { to: '/editions/$edition/email-messages', params } },
        { label: t.segments, icon: IconUsersGroup, link: { to: '/editions/$edition/segments', params } },
        { label: t.suppressions, icon: IconMailOff, link: { to: '/editions/$edition/suppressions', params } },
      ],
    ],
    [
      t.data,
      [
        { label: t.imports, icon: IconTableImport, link: { to: '/editions/$edition/imports', params } },
        { label: t.files, icon: IconPhoto, link: linkTo(`/editions/${edition}/files`) },
        { label: t.webhooks, icon: IconWebhook, link: { to: '/editions/$edition/webhooks', params } },
      ],
    ],
    [
      t.setup,
      [
        { label: t.settings, icon: IconAdjustments, link: { to: '/editions/$edition/settings', params } },
        { label: t.catalogue, icon: IconTicket, link: { to: '/editions/$edition/products', params } },
        { label: t.consents, icon: IconSignature, link: { to: '/editions/$edition/consents', params } },
        { label: t.signupForms, icon: IconForms, link: { to: '/editions/$edition/signup-forms', params } },
      ],
    ],
  ]
}

/** The pages of an organisation. */
function listOrganizationPages(organization: string): [label: string, entries: Entry[]][] {
  const t = words.common.entries
  const params = { organization }
  return [
    [
      words.common.organization,
      [
        {
          label: organizationsWords.settings.nav,
          icon: IconBuilding,
          link: { to: '/organizations/$organization', params },
          isExact: true,
        },
        { label: t.editions, icon: IconCalendarEvent, link: { to: '/organizations/$organization/editions', params } },
        { label: t.members, icon: IconUsers, link: { to: '/organizations/$organization/members', params } },
        { label: t.tokens, icon: IconKey, link: { to: '/organizations/$organization/tokens', params } },
        {
          label: t.senderDomains,
          icon: IconWorld,
          link: { to: '/organizations/$organization/sender-domains', params },
        },
        {
          label: t.merchantAccounts,
          icon: IconCreditCard,
          link: { to: '/organizations/$organization/merchant-accounts', params },
        },
        { label: t.auditLog, icon: IconHistory, link: { to: '/organizations/$organization/audit-log', params } },
      ],
    ],
  ]
}

/** The pages of the service: those of its superuser, and that of a server for development. */
function listServicePages(isSuperuser: boolean): [label: string, entries: Entry[]][] {
  const t = words.common.entries
  const system = { label: t.system, icon: IconServer, link: { to: '/system' } as const }
  const development = { label: t.development, icon: IconFlask, link: linkTo('/development') }
  return [[words.common.service, [...(isSuperuser ? [system] : []), ...(isDevelopment ? [development] : [])]]]
}

export function Navigation({ close }: { close: () => void }) {
  const edition = useEditionId()
  const organization = useOrganizationId()
  const person = useCaller()
  const groups = [
    ...(edition === undefined ? [] : listEditionPages(edition)),
    ...(organization === undefined ? [] : listOrganizationPages(organization)),
    ...listServicePages(person?.is_superuser ?? false),
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
          py={3}
          leftSection={<entry.icon size={16} aria-hidden />}
          renderRoot={(props) => (
            <Link
              {...entry.link}
              {...props}
              activeOptions={{ exact: entry.isExact ?? false, includeSearch: false }}
              activeProps={{ 'data-active': true, 'aria-current': 'page' }}
              onClick={close}
            />
          )}
        />
      ))}
    </div>
  ))
}
