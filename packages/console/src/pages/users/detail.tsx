import { Alert, SimpleGrid, Stack, Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { get, getWithEtag, type Schema } from '../../api'
import { useEdition, useRefusalReason } from '../../caller'
import type { Operation } from '../../generated/roles'
import { ActivityList } from '../../parts/activity-list'
import { Copy } from '../../parts/copy'
import { Facts } from '../../parts/facts'
import { Heading } from '../../parts/heading'
import { Loaded } from '../../parts/loaded'
import { type LanguageCode, nameLanguage } from '../../parts/names'
import { RoleGate } from '../../parts/role-gate'
import { useSearchChange } from '../../parts/search-change'
import { Section } from '../../parts/section'
import { Status } from '../../parts/status'
import { Time } from '../../parts/time'
import { loadWords, words } from '../../words'
import { CustomerActions } from './actions'
import { Answers } from './answers'
import { Messages, Orders, Refunds, Segments, Tickets, type ListProps } from './lists'
import { nameCustomer } from './name'

const consentsWords = await loadWords('consents')

const route = getRouteApi('/shell/editions/$edition/customers/$customer')
const t = await loadWords('users')

type Tab = keyof typeof t.tabs
type User = Schema['User']

const panels: Record<Tab, { operation: Operation; Panel: (props: ListProps) => ReactNode }> = {
  orders: { operation: 'listOrders', Panel: Orders },
  tickets: { operation: 'listPurchases', Panel: Tickets },
  refunds: { operation: 'listRefundRequests', Panel: Refunds },
  messages: { operation: 'listUserMessages', Panel: Messages },
  consents: { operation: 'listUserConsents', Panel: Answers },
  segments: { operation: 'listUserSegments', Panel: Segments },
  activity: {
    operation: 'listUserActivity',
    Panel: ({ customer, edition }) => (
      <Section title={t.tabs.activity}>
        <ActivityList
          path="/v1/user/{id}/activity"
          id={customer}
          aside={({ order_id: order, edition_id }) =>
            order !== null && (
              <Link
                className="link"
                to="/editions/$edition/orders/$order"
                params={{ edition: edition_id ?? edition, order }}
              >
                {t.order}
              </Link>
            )
          }
        />
      </Section>
    ),
  },
}

export function Customer() {
  const { edition, customer: id } = route.useParams()
  const search = route.useSearch()
  const change = useSearchChange()
  const user = useQuery(getWithEtag('/v1/user/{id}', { params: { path: { id } } }))
  const tab = search.tab ?? 'orders'
  return (
    <Loaded query={user}>
      {(version) => (
        <Stack>
          <Heading
            title={nameCustomer(version.data)}
            mark={!version.data.is_active && <Status tone="none" label={t.inactive} />}
            back={{ link: { to: '/editions/$edition/customers', params: { edition } }, label: t.title }}
            actions={<CustomerActions user={version.data} />}
          />
          <Suppressions user={version.data} edition={edition} />
          <About user={version.data} />
          <Tabs
            value={tab}
            keepMounted={false}
            onChange={(next) =>
              next !== null && change.set({ tab: next === 'orders' ? undefined : next, ordering: undefined })
            }
          >
            <Tabs.List mb="sm">
              {(Object.keys(panels) as Tab[]).map((key) => (
                <Tabs.Tab key={key} value={key}>
                  {t.tabs[key]}
                </Tabs.Tab>
              ))}
            </Tabs.List>
            {Object.entries(panels).map(([key, { operation, Panel }]) => (
              <Tabs.Panel key={key} value={key}>
                <RoleGate operation={operation}>
                  <Panel customer={id} edition={edition} search={search} />
                </RoleGate>
              </Tabs.Panel>
            ))}
          </Tabs>
        </Stack>
      )}
    </Loaded>
  )
}

const writeMetadata = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

const About = ({ user }: { user: User }) => (
  <Section title={t.one}>
    <SimpleGrid cols={{ base: 1, sm: 2 }} verticalSpacing={0}>
      <Facts
        facts={[
          [
            words.common.email,
            user.email && (
              <>
                {user.email} <Copy text={user.email} name={words.common.email} />
              </>
            ),
          ],
          [words.common.phone, user.phone_number],
          [t.language, nameLanguage(user.locale as LanguageCode)],
          [t.channel, t.channels[user.msg_channel]],
        ]}
      />
      <Facts
        facts={[
          [t.joined, <Time key="joined" at={user.date_joined} date />],
          [t.lastSeen, <Time key="seen" at={user.last_seen} date />],
          ...Object.entries(user.metadata).map(([key, value]) => [key, writeMetadata(value)] as const),
          [
            'Id',
            <>
              {user.id} <Copy text={user.id} name="id" />
            </>,
          ],
        ]}
      />
    </SimpleGrid>
  </Section>
)

/** Says that the addresses of the customer are suppressed, for roles that may see it. */
function Suppressions({ user, edition }: { user: User; edition: string }) {
  const organization = useEdition()?.organization.id
  const mayRead = useRefusalReason('listSuppressions') === null && organization !== undefined
  return (
    mayRead &&
    [user.email, user.phone_number].map(
      (address) =>
        address !== null && (
          <Suppression key={address} address={address} organization={organization} edition={edition} />
        ),
    )
  )
}

interface SuppressionProps {
  address: string
  organization: string
  edition: string
}

function Suppression({ address, organization, edition }: SuppressionProps) {
  const query = { organization_id: organization, address }
  const suppressions = useQuery(get('/v1/suppressions', { params: { query } }))
  const suppression = suppressions.data?.results[0]
  if (!suppression) return null
  const { reason, created } = suppression
  const stopsAll = reason === 'hard_bounce' || reason === 'invalid'
  return (
    <Alert
      color={stopsAll ? 'red' : 'yellow'}
      variant="outline"
      title={`${stopsAll ? t.suppressedAll : t.suppressed}: ${suppression.address}`}
    >
      {consentsWords.suppressionReasons[reason]} · <Time at={created} /> ·{' '}
      <Link className="link" to="/editions/$edition/suppressions" params={{ edition }} search={{ address }}>
        {t.openSuppressions}
      </Link>
    </Alert>
  )
}
