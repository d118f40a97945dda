import { beforeAll, describe, expect, it } from 'vitest'
import { call, get, post } from '../support/api.ts'
import { describeRefusal } from '../support/refusals.ts'
import { givenAdmin } from '../support/seeding/members.ts'
import { freshId } from '../support/seeding/rows.ts'
import { seedShop, type Shop } from '../support/seeding/sales/orders.ts'

let shop: Shop
beforeAll(async () => {
  shop = await seedShop()
})

const readDetail = async (path: string): Promise<string> => {
  const { status, body } = await get(path)
  expect([path, status, body.code]).toEqual([path, 404, 'not_found'])
  return body.detail as string
}

describe('a path that does not exist', () => {
  it.each([
    ['/v1/order', '/v1/orders'],
    ['/v1/orders/', '/v1/orders'],
    ['/v1/purchase', '/v1/purchases'],
    ['/v1/users', '/v1/user'],
    ['/v1/campaign/cmp_1/send_now', '/v1/campaigns/cmp_1/send-now'],
    ['/v1/emailmessages', '/v1/email-messages'],
  ])('suggests a near one for %s', async (path, suggestion) => {
    const { status, body } = await get(path)
    if (status === 404) expect(body.detail).toBe(`Not found. Did you mean \`${suggestion}\`?`)
    else expect(path).toBe('/v1/orders/')
  })

  it.each(['/v1/nothing-like-it', '/v1', `/v1/${'order'.repeat(1000)}`, '/v1/orders/ord_1/nothing/at/all'])(
    'suggests nothing for %s',
    async (path) => {
      expect(await readDetail(path)).toBe('Not found.')
    },
  )
})

describe('an id that cannot be one', () => {
  it('says how ids begin, and which filter finds an id of another system', async () => {
    expect(await readDetail('/v1/orders/A-1001')).toBe(
      'Not found. Ids in this path begin with `ord_`. `GET /v1/orders?external_id=` finds an order by its id in another system.',
    )
    expect(await readDetail(`/v1/segments/${freshId('campaign')}`)).toBe(
      'Not found. Ids in this path begin with `seg_`.',
    )
  })

  it('says no more about an id of the right kind, whether or not it exists', async () => {
    const other = await givenAdmin()
    const hidden = await call(`/v1/editions/${shop.edition_id}`, { token: other.token })
    const missing = await call(`/v1/editions/${freshId('edition')}`, { token: other.token })
    expect(hidden.body.detail).toBe('Not found.')
    expect(hidden.text).toBe(missing.text)
  })
})

describe('a refused token', () => {
  const ask = async (token: string | null) => {
    const { status, body, headers } = await call('/v1/auth/user-info', { token })
    expect(describeRefusal({ status, body })).toBe('401 not_authenticated')
    return { detail: body.detail as string, challenge: headers.get('www-authenticate') }
  }

  it('says whether it is missing, malformed, or no longer valid', async () => {
    expect(await ask(null)).toMatchObject({
      detail: /^Send an access token/,
      challenge: 'Bearer realm="event-commerce"',
    })
    for (const malformed of ['ecm_short', 'whatever', `ecm_${'a'.repeat(36)}`])
      expect((await ask(malformed)).detail).toMatch(/^This is not an access token/)
    const { token } = await givenAdmin()
    const created = await post('/v1/auth/tokens', { name: 'Short' }, token)
    expect((await call(`/v1/auth/tokens/${created.body.id}`, { method: 'DELETE', token })).status).toBe(204)
    const { detail, challenge } = await ask(created.body.token)
    expect(detail).toBe(
      'This access token has expired, was revoked, or does not exist. Create another one, or sign in again.',
    )
    expect(challenge).toContain('error="invalid_token"')
  })
})

describe('an invalid body', () => {
  const importOrder = (order: object) =>
    post('/v1/data-imports/external-orders', { ...shop, source: 'shop', dry_run: true, orders: [order] })

  it('has the first entry of `errors` in `detail`', async () => {
    const one = await post('/v1/organizations', { name: 'x'.repeat(201) })
    expect(one.body.detail).toBe('`name`: Must have at most 200 characters.')
    const { body } = await post('/v1/organizations', { nam: 'x' })
    expect(body.detail).toBe('`name`: This field is required. 1 more field is invalid.')
    expect(body.errors[0].detail).toBe('This field is required.')
  })

  it.each([
    [{ title: 'News' }, 'Must be an object with a value for each name, and this is a text.'],
    [{ title: ['News'] }, 'Must be an object with a value for each name, and this is a list.'],
    [{ position: '1' }, 'Must be a number, and this is a text.'],
    [{ is_required: 'yes' }, 'Must be true or false, and this is a text.'],
    [{ name: 7 }, 'Must be a text, and this is a number.'],
    [{ channels: 'email' }, 'Must be a list, and this is a text.'],
  ])('says which type %j must have', async (fields, detail) => {
    const consent = { key: 'news', name: 'News', type: 'marketing', text: { en: 'x' }, ...fields }
    const { status, body } = await post('/v1/consents', { ...shop, ...consent })
    expect([status, body.errors[0].detail]).toEqual([400, detail])
  })

  it('suggests the field that another name means', async () => {
    const item = { name: 'Day ticket', qty: 2, price: 225 }
    const { body } = await importOrder({
      id: 'A-1',
      currency: 'dkk',
      customer: { mail: 'a@example.dk' },
      items: [item],
    })
    const errors = (body.errors ?? body.results[0].errors) as { pointer: string; detail: string }[]
    const suggestions = Object.fromEntries(
      errors.flatMap(({ pointer, detail }) => {
        const [, suggestion] = /Did you mean `(\w+)`/.exec(detail) ?? []
        return suggestion ? [[pointer.split('/').at(-1) ?? '', suggestion]] : []
      }),
    )
    expect(suggestions).toEqual({
      name: 'product',
      qty: 'quantity',
      price: 'unit_price',
      id: 'external_id',
      mail: 'email',
    })
  })

  it('says that one `=` is no comparison', async () => {
    const expression = 'user.locale = "da"'
    const { body } = await post('/v1/segments/validate-cel', { organization_id: shop.organization_id, expression })
    expect(body.errors[0].message).toBe('One `=` compares nothing. Write `==`.')
  })
})
