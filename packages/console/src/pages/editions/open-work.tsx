import { Group, Stack, Text } from '@mantine/core'
import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { get, type Schema } from '../../api'
import { useRefusalReason } from '../../caller'
import { campaignTones } from '../../parts/campaign-tones'
import { ImportStatus, importTones } from '../../parts/import-status'
import { Loaded } from '../../parts/loaded'
import { Section } from '../../parts/section'
import { Status } from '../../parts/status'
import { Time } from '../../parts/time'
import { formatCount, formatPercent, loadWords, plural, words } from '../../words'

const campaignsWords = await loadWords('campaigns')

const t = await loadWords('home')

type Campaign = Schema['CampaignList']
type DataImport = Schema['DataImport']

const refundStatuses = ['pending', 'failed', 'processing'] as const
const refundTones = { pending: 'act', failed: 'bad', processing: 'wait' } as const

/** The refunds that wait for somebody, by what they wait for. */
export function OpenRefunds({ edition }: { edition: string }) {
  return (
    <Section title={words.common.entries.refunds}>
      <Stack gap={6}>
        {refundStatuses.map((status) => (
          <RefundCount key={status} edition={edition} status={status} />
        ))}
      </Stack>
    </Section>
  )
}

function RefundCount({ edition, status }: { edition: string; status: (typeof refundStatuses)[number] }) {
  const query = { edition_id: edition, status, page_size: 1 }
  const refunds = useQuery(get('/v1/refund-requests', { params: { query } }))
  return (
    <Loaded query={refunds} heights={[22]}>
      {({ count }) => (
        <Group justify="space-between" gap="xs">
          <Status tone={count === 0 ? 'none' : refundTones[status]} label={words.states.refund[status]} />
          {count === 0 ? (
            <Text size="sm" c="dimmed">
              0
            </Text>
          ) : (
            <Text size="sm" component="span">
              <Link className="link" to="/editions/$edition/refunds" params={{ edition }} search={{ status } as never}>
                {formatCount(count)}
              </Link>
            </Text>
          )}
        </Group>
      )}
    </Loaded>
  )
}

interface NewestProps<Row> {
  title: string
  page: string
  list: UseQueryResult<{ count: number; results: Row[] }>
  empty: string
  row: (row: Row) => { id: string; name: string; mark: ReactNode; line: ReactNode }
}

/** The rows that changed last, which are those that run or failed. */
function Newest<Row>({ title, page, list, empty, row }: NewestProps<Row>) {
  return (
    <Section
      title={title}
      actions={
        <Text size="sm" component="span">
          <Link className="link" to={page as never}>
            {t.showAll}
          </Link>
        </Text>
      }
    >
      <Loaded query={list} heights={[80]}>
        {({ results }) => (
          <Stack gap="xs">
            {results.length === 0 && (
              <Text size="sm" c="dimmed">
                {empty}
              </Text>
            )}
            {results.map(row).map(({ id, name, mark, line }) => (
              <div key={id}>
                <Group justify="space-between" gap="xs" wrap="nowrap" align="start">
                  <Text size="sm" component="span" className="break">
                    <Link className="link" to={`${page}/${id}` as never}>
                      {name}
                    </Link>
                  </Text>
                  {mark}
                </Group>
                <Text size="xs" c="dimmed" component="div">
                  {line}
                </Text>
              </div>
            ))}
          </Stack>
        )}
      </Loaded>
    </Section>
  )
}

const newest = { page_size: 4, ordering: ['-modified' as const] }

export function NewestCampaigns({ edition }: { edition: string }) {
  const list = useQuery(get('/v1/campaigns', { params: { query: { edition_id: edition, ...newest } } }))
  return (
    <Newest<Campaign>
      title={words.common.entries.campaigns}
      page={`/editions/${edition}/campaigns`}
      list={list}
      empty={t.noCampaigns}
      row={({ id, name, status, is_paused, sent_count, failed_count, total_recipients, modified }) => ({
        id,
        name,
        mark: (
          <Status
            tone={is_paused ? 'act' : failed_count > 0 && status === 'sent' ? 'bad' : campaignTones[status]}
            label={is_paused ? campaignsWords.paused : campaignsWords.statuses[status]}
          />
        ),
        line: (
          <>
            {total_recipients > 0 && `${formatCount(sent_count)} / ${formatCount(total_recipients)} · `}
            {failed_count > 0 && `${plural(failed_count, t.failedRecipients)} · `}
            <Time at={modified} age />
          </>
        ),
      })}
    />
  )
}

/** Nothing is shown to a role that may not see imports. */
export function NewestImports({ edition }: { edition: string }) {
  const isRefused = useRefusalReason('listDataImports') !== null
  const list = useQuery({
    ...get('/v1/data-imports', { params: { query: { edition_id: edition, ...newest } } }),
    enabled: !isRefused,
  })
  if (isRefused) return null
  return (
    <Newest<DataImport>
      title={words.common.entries.imports}
      page={`/editions/${edition}/imports`}
      list={list}
      empty={t.noImports}
      row={({ id, name, status, progress, failed_orders, invalid_rows, modified }) => ({
        id,
        name,
        mark: <ImportStatus status={status} />,
        line: (
          <>
            {importTones[status] === 'wait' && `${formatPercent(progress / 100)} · `}
            {failed_orders + invalid_rows > 0 && `${plural(failed_orders + invalid_rows, t.failedRows)} · `}
            <Time at={modified} age />
          </>
        ),
      })}
    />
  )
}
