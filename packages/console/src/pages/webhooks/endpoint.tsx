import { Alert, Group, Stack, Tabs, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { get, getList, getWithEtag } from '../../api'
import { useCaller } from '../../caller'
import { Copy } from '../../parts/copy'
import { Heading } from '../../parts/heading'
import { Loaded } from '../../parts/loaded'
import { type Figure, Numbers } from '../../parts/numbers'
import { RoleGate } from '../../parts/role-gate'
import { Time } from '../../parts/time'
import { formatCount, formatPercent, loadWords } from '../../words'
import { type EndpointDetail, useLostCount, useOpenCount } from './counts'
import { DeliveryList, deliveryPageSize, pollMs } from './delivery-list'
import { EndpointSettings } from './endpoint-settings'
import { RecoverButton } from './recover-button'
import { Snippets } from './snippets'
import { EndpointStatus } from './statuses'
import { SwitchButton } from './switch-button'
import { TestButton } from './test-button'

const route = getRouteApi('/shell/editions/$edition/webhooks/$webhook')
const t = await loadWords('webhooks')

export const Endpoint = () => (
  <RoleGate operation="getWebhook">
    <EndpointPage />
  </RoleGate>
)

function EndpointPage() {
  const { edition, webhook: id } = route.useParams()
  const { tab = 'deliveries' } = route.useSearch()
  const navigate = useNavigate()
  const endpoint = useQuery({
    ...getWithEtag('/v1/webhooks/{id}', { params: { path: { id } } }),
    refetchInterval: pollMs * 3,
  })
  return (
    <Loaded query={endpoint}>
      {(latest) => (
        <Stack gap="sm">
          <Heading
            title={latest.data.name}
            mark={<EndpointStatus {...latest.data} />}
            facts={<EndpointFacts endpoint={latest.data} />}
            back={{ link: { to: '/editions/$edition/webhooks', params: { edition } }, label: t.title }}
            actions={
              <>
                <RecoverButton endpoint={latest.data} />
                <TestButton endpoint={latest.data} />
              </>
            }
          />
          <EndpointAlert endpoint={latest.data} />
          <Figures endpoint={latest.data} />
          <Tabs
            value={tab}
            keepMounted={false}
            onChange={(next) =>
              void navigate({ to: '.', search: { tab: next === 'deliveries' ? undefined : next } as never })
            }
          >
            <Tabs.List mb="sm">
              {Object.entries(t.tabs).map(([key, name]) => (
                <Tabs.Tab key={key} value={key}>
                  {name}
                </Tabs.Tab>
              ))}
            </Tabs.List>
            <Tabs.Panel value="deliveries">
              <EndpointDeliveries />
            </Tabs.Panel>
            <Tabs.Panel value="settings">
              <EndpointSettings latest={latest} />
            </Tabs.Panel>
            <Tabs.Panel value="verify">
              <Snippets />
            </Tabs.Panel>
          </Tabs>
        </Stack>
      )}
    </Loaded>
  )
}

function EndpointFacts({ endpoint: { url, edition_id } }: { endpoint: EndpointDetail }) {
  const editions = useCaller()?.editions ?? []
  return (
    <Group gap={6}>
      <span className="break">{url}</span>
      <Copy text={url} name={t.url} />·{' '}
      {edition_id === null ? t.allEditions : (editions.find(({ id }) => id === edition_id)?.full_name ?? edition_id)}
    </Group>
  )
}

/** Explains why an endpoint gets nothing at the moment, and what to do. */
function EndpointAlert({ endpoint }: { endpoint: EndpointDetail }) {
  const { is_active, disabled_reason, disabled_at, waiting_reason, waiting_since, next_attempt_at } = endpoint
  if (!is_active)
    return (
      <Alert color={disabled_reason === 'manual' ? 'gray' : 'red'} variant="outline" title={t.off}>
        <Stack gap="xs" align="start">
          <Text size="sm">
            {disabled_reason !== null && t.disabledReasons[disabled_reason]} {t.since} <Time at={disabled_at} />.{' '}
            {t.offHint}
          </Text>
          <SwitchButton endpoint={endpoint} />
        </Stack>
      </Alert>
    )
  if (waiting_since === null) return null
  return (
    <Alert color="red" variant="outline" title={t.failing}>
      <Text size="sm">
        {waiting_reason} {t.since} <Time at={waiting_since} />.{' '}
        {next_attempt_at !== null && (
          <>
            {t.nextAttempt}: <Time at={next_attempt_at} age />.
          </>
        )}{' '}
        {t.failingHint}
      </Text>
    </Alert>
  )
}

/** The numbers of an endpoint. Its success rate is in the list of endpoints alone. */
function Figures({ endpoint: { id, organization_id } }: { endpoint: EndpointDetail }) {
  const query = { organization_id: organization_id ?? undefined, page_size: 500 }
  const list = useQuery({ ...get('/v1/webhooks', { params: { query } }), refetchInterval: pollMs * 3 }).data
  const rate = list?.results.find((one) => one.id === id)?.success_rate ?? null
  const open = useOpenCount(id)
  const lost = useLostCount(id)
  const write = (count: number | undefined) => (count === undefined ? '…' : formatCount(count))
  const figures: Figure[] = [
    { label: t.successRate, value: rate === null ? '–' : formatPercent(rate), hint: t.successRateHint },
    { label: t.waiting, value: write(open), hint: t.waitingHint },
    { label: t.lost, value: write(lost), hint: t.lostHint },
  ]
  return <Numbers figures={figures} />
}

function EndpointDeliveries() {
  const { webhook: id } = route.useParams()
  const { tab: _, ...search } = route.useSearch()
  const { ordering = '-created', ...others } = search
  const query = { page_size: deliveryPageSize, ...others, ordering: [ordering] }
  const list = useQuery({
    ...getList('/v1/webhooks/{id}/deliveries', { params: { path: { id }, query: query as { status?: 'success' } } }),
    refetchInterval: pollMs,
  })
  return (
    <Stack gap="sm">
      <DeliveryList list={list} search={{ ...search, ordering }} />
    </Stack>
  )
}
