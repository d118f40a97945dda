import { Button, Code, Drawer, Group, Stack, Table, Text, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { getList, type Schema } from '../../api'
import { useEditionId } from '../../caller'
import { Copy } from '../../parts/copy'
import { Facts } from '../../parts/facts'
import { type Filter, FilterBar } from '../../parts/filter-bar'
import { Heading } from '../../parts/heading'
import { findRecordLink } from '../../parts/record-link'
import { type Column, RecordList } from '../../parts/record-list'
import { RoleGate } from '../../parts/role-gate'
import { ScrollTable } from '../../parts/scroll-table'
import { useSearchChange } from '../../parts/search-change'
import { Time } from '../../parts/time'
import { loadWords, plural } from '../../words'
import { actionOptions, describeAction, nameActor, nameType } from './describe'

const route = getRouteApi('/shell/organizations/$organization/audit-log')
const t = await loadWords('auditLog')
const pageSize = 50

type Entry = Schema['AuditEntry']

const filters: Filter[] = [
  { key: 'resource_type', label: t.resourceType, kind: 'choice', options: t.types },
  { key: 'action', label: t.action, kind: 'choice', options: actionOptions },
  { key: 'created_after', label: t.from, kind: 'day', isExtra: true },
  { key: 'created_before', label: t.until, kind: 'day', last: true, isExtra: true },
  { key: 'resource_id', label: t.resourceId, kind: 'text', isExtra: true },
  { key: 'actor_id', label: t.actorId, kind: 'text', isExtra: true },
]

/** The resource with the link to its page. The current edition stands in for resources of the organisation. */
function Resource({ entry, edition }: { entry: Entry; edition: string | undefined }) {
  const { resource_id: id, edition_id, organization_id } = entry
  if (id === null) return <>–</>
  const isDeleted = /^(delete|remove|erase|revoke)/.test(entry.action)
  const link = isDeleted
    ? null
    : findRecordLink(id, { edition: edition_id ?? edition, organization: organization_id ?? undefined })
  const code = (
    <Text size="xs" ff="monospace" component="span">
      {id}
    </Text>
  )
  return link ? (
    <Link className="link" {...link}>
      {code}
    </Link>
  ) : (
    code
  )
}

export const AuditLog = () => (
  <RoleGate operation="listAuditLog" title={t.title}>
    <AuditLogPage />
  </RoleGate>
)

function AuditLogPage() {
  const { organization } = route.useParams()
  const search = route.useSearch()
  const edition = useEditionId()
  const [entry, setEntry] = useState<Entry | null>(null)
  const { ordering = '-created', ...others } = search
  const query = { organization_id: organization, page_size: pageSize, ...others, ordering: [ordering] }
  const list = useQuery(getList('/v1/audit-log', { params: { query } }))
  const columns: Column<Entry>[] = [
    {
      key: 'action',
      label: t.action,
      cell: (one) => (
        <UnstyledButton className="link" fz="sm" onClick={() => setEntry(one)}>
          {describeAction(one.action, one.resource_type)}
        </UnstyledButton>
      ),
    },
    { key: 'actor', label: t.actor, cell: (one) => nameActor(one.actor) },
    { key: 'resource', label: t.resource, cell: (one) => <Resource entry={one} edition={edition} /> },
    {
      key: 'changes',
      label: t.changes,
      cell: ({ changes }) =>
        changes.length === 0
          ? '–'
          : changes.length <= 3
            ? changes.map(({ field }) => field).join(', ')
            : plural(changes.length, t.changeCount),
    },
    { key: 'time', label: t.time, sort: 'created', cell: (one) => <Time at={one.created} /> },
    { key: 'request', label: t.request, isHidden: true, cell: (one) => <Code>{one.request_id}</Code> },
  ]
  return (
    <Stack gap="sm">
      <Heading title={t.title} facts={t.hint} />
      <FilterBar search={search} filters={filters} />
      <RecordList
        name="audit-log"
        label={t.title}
        list={list}
        search={{ ...search, ordering }}
        columns={columns}
        rowKey={({ id }) => id}
        pageSize={pageSize}
        countLabel={(count) => plural(count, t.count)}
        empty={{ title: t.empty, hint: t.emptyHint }}
      />
      <Drawer
        opened={entry !== null}
        onClose={() => setEntry(null)}
        position="right"
        size="lg"
        title={entry && describeAction(entry.action, entry.resource_type)}
      >
        {entry && <Details entry={entry} edition={edition} close={() => setEntry(null)} />}
      </Drawer>
    </Stack>
  )
}

function Details({ entry, edition, close }: { entry: Entry; edition: string | undefined; close: () => void }) {
  const change = useSearchChange()
  const { actor, resource_id, resource_type } = entry
  const filter = (part: Record<string, string>) => {
    change.set(part)
    close()
  }
  return (
    <Stack gap="md">
      <Facts
        facts={[
          [t.time, <Time key="time" at={entry.created} />],
          [t.actor, `${nameActor(actor)} ${actor.email ?? ''}`],
          [t.action, <Code key="action">{entry.action}</Code>],
          [t.resourceType, resource_type && nameType(resource_type)],
          [t.resource, resource_id && <Resource key="resource" entry={entry} edition={edition} />],
          [t.byToken, entry.token_id && <Code key="token">{entry.token_id}</Code>],
          [
            t.request,
            <Group key="request" gap={4}>
              <Code>{entry.request_id}</Code> <Copy text={entry.request_id} name={t.request} />
            </Group>,
          ],
        ]}
      />
      <Group gap="xs">
        {resource_id && (
          <Button size="xs" variant="default" onClick={() => filter({ resource_id })}>
            {t.onlyThis}
          </Button>
        )}
        <Button size="xs" variant="default" onClick={() => filter({ actor_id: actor.id })}>
          {t.onlyActor}
        </Button>
      </Group>
      <Changes changes={entry.changes} />
    </Stack>
  )
}

const writeValue = (value: unknown): string =>
  value === null || value === undefined ? '–' : typeof value === 'string' ? value : JSON.stringify(value, null, 1)

function Changes({ changes }: { changes: Entry['changes'] }) {
  if (changes.length === 0) return <Text size="sm">{t.noChanges}</Text>
  return (
    <ScrollTable label={t.changes} width={420}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t.field}</Table.Th>
          <Table.Th>{t.before}</Table.Th>
          <Table.Th>{t.after}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {changes.map(({ field, before, after, is_hidden }) => (
          <Table.Tr key={field}>
            <Table.Th scope="row" fw={500} className="break">
              {field}
            </Table.Th>
            {is_hidden ? (
              <Table.Td colSpan={2} c="dimmed">
                {t.hidden}
              </Table.Td>
            ) : (
              <>
                <Table.Td className="code" c="dimmed">
                  {writeValue(before)}
                </Table.Td>
                <Table.Td className="code">{writeValue(after)}</Table.Td>
              </>
            )}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </ScrollTable>
  )
}
