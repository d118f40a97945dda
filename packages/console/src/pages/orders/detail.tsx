import { Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { get } from '../../api'
import { Heading } from '../../parts/heading'
import { Loaded } from '../../parts/loaded'
import { Time } from '../../parts/time'
import { words } from '../../words'
import { OrderStatus } from './order-status'

const route = getRouteApi('/shell/editions/$edition/orders/$order')
const t = words.orders

export function Order() {
  const { edition, order: id } = route.useParams()
  const order = useQuery(get('/v1/orders/{id}', { params: { path: { id } } }))
  return (
    <Loaded query={order}>
      {(data) => (
        <Stack>
          <Heading
            title={`${t.one} ${data.order_number ?? data.external_id ?? data.id}`}
            mark={<OrderStatus status={data.status} />}
            facts={<Time at={data.created} />}
            back={{ link: { to: '/editions/$edition/orders', params: { edition } }, label: t.title }}
          />
        </Stack>
      )}
    </Loaded>
  )
}
