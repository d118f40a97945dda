import type { Page } from '../../scripts/support/client.ts'
import { expect } from 'vitest'
import type { FilledShop } from './filled-shop.ts'
import { endpointId } from './many-rows.ts'

interface Parameter {
  name: string
  description?: string
  schema?: { type?: string; enum?: readonly string[] }
}

interface Documented {
  paths: Record<string, { get?: { parameters?: Parameter[] } }>
}

/** A list with a filter, or two, or none, in an ordering, as one caller asks for it. */
export interface ListRequest {
  path: string
  token: string
}

interface Named {
  id: string
}

/** A row of the shop for each filter by an id, and moments that part its orders. */
async function valuesIn({ client, shop }: FilledShop): Promise<Record<string, string[]>> {
  const ofEdition = `edition_id=${shop.edition_id}&page_size=1`
  const firstOf = async <Row>(path: string): Promise<Row> =>
    (await client.get<Page<Row>>(path)).results[0] ?? expect.unreachable()
  const order = await firstOf<Named>(`/v1/orders?${ofEdition}&page=70`)
  const { customer } = await client.get<{ customer: { api_id: string } }>(`/v1/orders/${order.id}`)
  const purchase = await firstOf<Named>(`/v1/purchases?${ofEdition}&page=70`)
  const { created } = await firstOf<{ created: string }>(`/v1/orders?${ofEdition}&ordering=created`)
  const first = Date.parse(created)
  const at = (part: number) => new Date(first + (Date.now() - first) * part).toISOString()
  return {
    order_id: [order.id],
    customer_id: [customer.api_id],
    purchase_id: [purchase.id],
    actor_id: ['root'],
    action: ['updateOrder'],
    resource_id: [shop.edition_id],
    created_after: [at(0.5), at(0.98)],
    created_before: [at(0.5), at(0.03)],
  }
}

/** Texts, and ids of what the shop has none of, are looked for by other tests. */
const mostValues = 4

function valuesOf({ name, schema }: Parameter, known: Record<string, string[]>): string[] {
  const words = schema?.type === 'boolean' ? ['true', 'false'] : schema?.enum
  return (words?.slice(0, mostValues) ?? known[name] ?? []).map((value) => `${name}=${encodeURIComponent(value)}`)
}

const keysOf = ({ description = '' }: Parameter): string[] =>
  /Keys: ([\w, ]+)\./
    .exec(description)?.[1]
    ?.split(', ')
    .flatMap((key) => [key, `-${key}`]) ?? []

const places = ['organization_id', 'edition_id'] as const
const others = new Set<string>([...places, 'page', 'page_size', 'ordering', 'search'])

/**
 * Every list that is found by no id but its organisation's and its edition's: with each filter in each ordering, and with each pair
 * of filters in one ordering or another. Those of an organisation, an edition and neither, as an admin and a role of the edition ask.
 */
export async function listRequests(filled: FilledShop): Promise<ListRequest[]> {
  const { client, shop } = filled
  const { paths } = await client.get<Documented>('/openapi.json')
  const known = await valuesIn(filled)
  return Object.entries(paths).flatMap(([name, { get }]) => {
    const parameters = get?.parameters ?? []
    const named = (one: string) => parameters.find((parameter) => parameter.name === one)
    const path = name.replace('/v1/webhooks/{id}/', `/v1/webhooks/${endpointId}/`)
    const ordering = named('ordering')
    const keys = ordering ? keysOf(ordering) : []
    if (!named('page_size') || path.includes('{') || keys.length === 0) return []
    const filters = parameters.filter((one) => !others.has(one.name)).map((one) => valuesOf(one, known))
    const pairs = filters.flatMap((some, index) =>
      filters
        .slice(index + 1)
        .flatMap((rest) => some.slice(0, 2).flatMap((a) => rest.slice(0, 2).map((b) => `${a}&${b}`))),
    )
    const asked = [
      ...['', ...filters.flat()].flatMap((filter) => keys.map((key) => [filter, key])),
      ...pairs.map((pair, index) => [pair, keys[index % keys.length]]),
    ].map(([filter, key]) => `${filter ? `&${filter}` : ''}&ordering=${key}`)
    return [...places.flatMap((one) => (named(one) ? [`&${one}=${shop[one]}`] : [])), ''].flatMap((place) =>
      [shop.token, filled.editionToken].flatMap((token) =>
        asked.map((query) => ({ path: `${path}?page_size=50${place}${query}`, token })),
      ),
    )
  })
}
