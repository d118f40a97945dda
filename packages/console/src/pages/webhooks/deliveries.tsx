import { Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { getList } from '../../api'
import { useOrganizationId } from '../../caller'
import { Heading } from '../../parts/heading'
import { RoleGate } from '../../parts/role-gate'
import { loadWords } from '../../words'
import { DeliveryList, deliveryPageSize, pollMs } from './delivery-list'

const route = getRouteApi('/shell/editions/$edition/webhook-deliveries')
const t = await loadWords('webhooks')

/** The deliveries of all endpoints that the person sees. */
export function Deliveries() {
  const { edition } = route.useParams()
  return (
    <Stack gap="sm">
      <Heading
        title={t.allDeliveries}
        back={{ link: { to: '/editions/$edition/webhooks', params: { edition } }, label: t.title }}
      />
      <RoleGate operation="listOrganizationWebhookDeliveries">
        <List />
      </RoleGate>
    </Stack>
  )
}

function List() {
  const search = route.useSearch()
  const organization = useOrganizationId()
  const { ordering = '-created', ...others } = search
  const query = { organization_id: organization, page_size: deliveryPageSize, ...others, ordering: [ordering] }
  const list = useQuery({
    ...getList('/v1/webhooks/deliveries', { params: { query: query as { organization_id: string } } }),
    enabled: organization !== undefined,
    refetchInterval: pollMs,
  })
  return <DeliveryList list={list} search={{ ...search, ordering }} hasEndpoints />
}
