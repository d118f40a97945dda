import { Button, Group, Text, Timeline } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { api, type Schema } from '../api'
import { useOrganizationId } from '../caller'
import { formatCount, formatMoney, words } from '../words'
import { Loaded } from './loaded'
import { findRecordLink } from './record-link'
import { Time } from './time'

type Activity = Schema['Activity']
const t = words.states

const readWord = (list: Readonly<Record<string, string>>, code: string | null): string | null =>
  code === null ? null : (list[code] ?? code)

/** The name of what the entry is about. */
function readLabel({ kind, label, quantity }: Activity): string {
  if (kind === 'email') return readWord(t.emailKinds, label) ?? label
  if (kind.startsWith('pass_')) return { apple: 'Apple', google: 'Google' }[label] ?? label
  return quantity !== null && quantity > 1 ? `${label} × ${formatCount(quantity)}` : label
}

/** The status of entries of the other kinds is already in their name. */
const withStatus: readonly Activity['kind'][] = ['order_imported', 'consent', 'email', 'campaign']

const isFault = ({ kind, status }: Activity): boolean =>
  kind === 'refund_failed' || (status === 'failed' && withStatus.includes(kind))

function Entry({ entry, aside }: { entry: Activity; aside: ReactNode }) {
  const organization = useOrganizationId()
  const { kind, resource_id, edition_id } = entry
  // The page of the order or the customer itself is open already.
  const link = /^(refund|campaign|order_imported|consent)/.test(kind)
    ? findRecordLink(resource_id, { edition: edition_id ?? undefined, organization })
    : null
  const label = readLabel(entry)
  const status = withStatus.includes(entry.kind) ? readWord(t.activityStatuses, entry.status) : null
  const name = [t.activities[entry.kind], label].filter((text) => text !== '').join(': ')
  return (
    <>
      <Text size="sm" component="div" className="break">
        {link ? (
          <Link className="link" {...link}>
            {name}
          </Link>
        ) : (
          name
        )}
        {status !== null && ` · ${status}`}
        {entry.amount !== null && entry.currency !== null && ` · ${formatMoney(entry.amount, entry.currency)}`}
      </Text>
      <Group gap={6}>
        <Text size="xs" c="dimmed" component="div">
          <Time at={entry.created} />
        </Text>
        {aside}
      </Group>
    </>
  )
}

interface Props {
  path: '/v1/orders/{id}/activity' | '/v1/user/{id}/activity'
  id: string
  /** It stands beside the time, such as the order of an entry. */
  aside?: (entry: Activity) => ReactNode
}

/** Lists the events of an order or a customer, the newest first. */
export function ActivityList({ path, id, aside = () => null }: Props) {
  const list = useInfiniteQuery({
    queryKey: [path, id],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam, signal }) => {
      const query = { page_size: 20, ordering: ['-created' as const], cursor: pageParam }
      return (await api.GET(path, { params: { path: { id }, query }, signal })).data
    },
    getNextPageParam: ({ next }) => (next === null ? undefined : new URL(next).searchParams.get('cursor')),
    select: ({ pages }) => pages.flatMap(({ results }) => results),
  })
  return (
    <Loaded query={list} heights={[160]}>
      {(entries) =>
        entries.length === 0 ? (
          <Text size="sm" c="dimmed">
            {t.noActivity}
          </Text>
        ) : (
          <>
            <Timeline bulletSize={10} lineWidth={2} active={entries.length}>
              {entries.map((entry) => (
                <Timeline.Item key={entry.id} color={isFault(entry) ? 'red' : undefined}>
                  <Entry entry={entry} aside={aside(entry)} />
                </Timeline.Item>
              ))}
            </Timeline>
            {list.hasNextPage && (
              <Button
                variant="subtle"
                size="compact-sm"
                mt="xs"
                loading={list.isFetchingNextPage}
                onClick={() => void list.fetchNextPage()}
              >
                {t.olderActivity}
              </Button>
            )}
          </>
        )
      }
    </Loaded>
  )
}
