import { beforeAll, describe, expect, it } from 'vitest'
import { get, post } from '../support/api.ts'
import { seedPeople, seedSuppression } from '../support/seeding/customers.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { seedAnswer, seedConsent } from '../support/seeding/messaging/consents.ts'
import { givenSegment } from '../support/seeding/messaging/segments.ts'
import { givenOrganization, type Organization } from '../support/seeding/organizations.ts'
import { importOrders } from '../support/seeding/sales/orders.ts'
import { calculate } from '../support/segments.ts'

let organisation: Organization
let edition: { id: string }
let other: { id: string }
let products: { value: string; label: string; count: number }[]

const order = (external_id: string, product: string, extra: Record<string, unknown> = {}) => ({
  external_id,
  currency: 'dkk',
  customer: { email: `${external_id}@example.dk`, locale: 'da' },
  items: [{ product, variant: 'Adult', location: 'North gate', options: ['Early'], quantity: 1, unit_price: 100 }],
  ...extra,
})

const readContext = (query: string, token?: string) => get(`/v1/segments/cel-context?${query}`, token)
const validate = async (body: Record<string, unknown>, token?: string) => {
  const reply = await post('/v1/segments/validate-cel', { organization_id: organisation.id, ...body }, token)
  return reply.status === 200 ? reply.body : reply
}

const shop = (at: { id: string }) => ({ organization_id: organisation.id, edition_id: at.id })

beforeAll(async () => {
  organisation = await givenOrganization()
  edition = await seedEdition(organisation, { name: 'Summer' })
  other = await seedEdition(organisation, { name: 'Winter' })
  await importOrders(shop(edition), [
    order('a', 'Day ticket'),
    order('b', 'Day ticket', { currency: 'eur', status: 'pending' }),
    order('c', 'Camping'),
  ])
  await importOrders(shop(other), [order('d', 'Winter ticket')])
  await seedConsent({ organization: organisation.id, edition: null }, { key: 'newsletter' })
  products = (await readContext(`organization_id=${organisation.id}`)).body.dynamic_values.products
})

describe('getCelContext', () => {
  it('lists the values that occur, the most frequent first', async () => {
    const { body } = await readContext(`organization_id=${organisation.id}`)
    const values = body.dynamic_values
    expect(products.map(({ label, count }) => [label, count])).toEqual([
      ['Day ticket', 2],
      ['Camping', 1],
      ['Winter ticket', 1],
    ])
    expect(values.variants[0]).toMatchObject({ label: 'Day ticket: Adult', count: 2 })
    expect(values.locations[0]).toMatchObject({ label: 'North gate', count: 3 })
    expect(values.options[0]).toMatchObject({ label: 'Day ticket: Early', count: 2 })
    expect(values.currencies).toEqual([
      { value: 'dkk', label: 'dkk', count: 3 },
      { value: 'eur', label: 'eur', count: 1 },
    ])
    expect(values.locales).toEqual([{ value: 'da', label: 'da', count: 4 }])
    expect(values.order_statuses.slice(0, 2)).toMatchObject([
      { value: 'completed', count: 3 },
      { value: 'pending', count: 1 },
    ])
    expect(values.order_statuses.map(({ value }: { value: string }) => value)).toContain('cancelled')
    expect(values.consents).toMatchObject([{ value: 'newsletter', count: 0 }])
    expect(values.editions.map(({ count }: { count: number }) => count)).toEqual([3, 1])
  })

  it('describes every field, and names only lists that exist', async () => {
    const { body } = await readContext(`edition_id=${edition.id}`)
    expect(body.variables.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(['user', 'orders', 'purchases', 'consents', 'stats', 'campaigns', 'edition', 'now']),
    )
    const fields = body.variables.flatMap((variable: { fields: { values_from?: string }[] }) => variable.fields)
    for (const { values_from } of fields) if (values_from) expect(body.dynamic_values).toHaveProperty(values_from)
    for (const { expression } of body.examples)
      expect((await validate({ expression })).is_valid || expression).toBe(true)
  })

  it('gives a role of an edition only the values of that edition', async () => {
    const { token } = await givenMember(organisation, 'viewer', edition.id)
    const { body } = await readContext(`edition_id=${edition.id}`, token)
    expect(body.dynamic_values.products.map(({ label }: { label: string }) => label)).toEqual(['Day ticket', 'Camping'])
    expect(body.dynamic_values.editions).toHaveLength(1)
    expect((await readContext(`edition_id=${other.id}`, token)).body.errors[0].code).toBe('does_not_exist')
    expect((await readContext(`organization_id=${organisation.id}`, token)).body.dynamic_values).toEqual(
      body.dynamic_values,
    )
    const foreign = await givenOrganization()
    expect((await readContext(`organization_id=${foreign.id}`, token)).body.errors[0].code).toBe('does_not_exist')
  })

  it('requires an organisation or an edition', async () => {
    expect((await readContext('')).body.errors).toMatchObject([{ code: 'required_filter', attr: null }])
    const foreign = await givenOrganization()
    const both = await readContext(`organization_id=${foreign.id}&edition_id=${edition.id}`)
    expect([both.status, both.body.errors[0].attr]).toEqual([400, 'organization_id'])
  })
})

describe('validateCel', () => {
  it('counts the people for whom the expression holds', async () => {
    expect(await validate({ expression: 'stats.order_count >= 1' })).toEqual({
      is_valid: true,
      return_type: 'bool',
      errors: [],
      warnings: [],
      estimated_user_count: 3,
      is_estimate: false,
    })
    expect(await validate({ expression: 'stats.order_count >= 1', edition_id: edition.id })).toMatchObject({
      estimated_user_count: 2,
    })
    const marketing = { communication_type: 'marketing', communication_channel: 'email' }
    expect(await validate({ expression: 'stats.order_count >= 1', ...marketing })).toMatchObject({
      estimated_user_count: 0,
    })
  })

  it.each([
    ['user.emial == "a"', 'no_such_key', 'emial'],
    ['stats.order_count', 'not_boolean', 'stats.order_count'],
    ['user.email.matches("a")', 'function_not_allowed', 'matches'],
    ['user.is_active &&', 'unexpected_token', ''],
  ])('returns 200 with the place of the error in %s', async (expression, code, text) => {
    const body = await validate({ expression })
    expect(body).toMatchObject({ is_valid: false, return_type: null, estimated_user_count: null, warnings: [] })
    expect(body.errors[0]).toMatchObject({ code, line: 1 })
    expect(expression.slice(body.errors[0].start, body.errors[0].end)).toContain(text)
  })

  it('returns 200 for an expression that is empty or too long', async () => {
    expect((await validate({ expression: '' })).is_valid).toBe(false)
    expect((await validate({ expression: `user.id == "${'a'.repeat(5000)}"` })).errors[0].code).toBe('limit_exceeded')
  })

  it('warns about values that do not exist, and suggests similar ones', async () => {
    const [day] = products
    const wrong = `${day?.value.slice(0, -2)}--`
    const listWarnings = async (expression: string) => {
      const { is_valid, warnings } = await validate({ expression })
      expect(is_valid || expression).toBe(true)
      return warnings.map((warning: { suggestion: string; start: number; end: number }) => [
        expression.slice(warning.start, warning.end),
        warning.suggestion,
      ])
    }
    expect(await listWarnings(`purchases.exists(p, p.product_id == "${day?.value}")`)).toEqual([])
    expect(await listWarnings(`purchases.exists(p, p.product_id == "${wrong}")`)).toEqual([[`"${wrong}"`, day?.value]])
    expect(await listWarnings('purchases.exists(p, p.product_id == "Day tickets")')).toEqual([
      ['"Day tickets"', day?.value],
    ])
    expect(await listWarnings('orders.exists(o, o.status == "complete")')).toEqual([['"complete"', 'completed']])
    expect(await listWarnings('orders.exists(o, o.currency == "zzzzzzzzz")')).toEqual([['"zzzzzzzzz"', null]])
    expect((await listWarnings('has(consents.newsleter)')).map(([, meant]: [string, string]) => meant)).toEqual([
      'newsletter',
    ])
  })

  it('names each value that does not exist, with the most similar one', async () => {
    const [day] = products
    const { variants, editions } = (await readContext(`organization_id=${organisation.id}`)).body.dynamic_values
    const rows: [expression: string, pointed: string, message: string, suggestion: string | null][] = [
      [
        'purchases.exists(p, p.product_name == "Day tiket")',
        '"Day tiket"',
        'There is no product with the name "Day tiket". Did you mean "Day ticket"?',
        'Day ticket',
      ],
      [
        'purchases.exists(p, p.product_name in ["Camping", "Backstage"])',
        '"Backstage"',
        'There is no product with the name "Backstage".',
        null,
      ],
      [
        'purchases.exists(p, p.product_id == "Day ticket")',
        '"Day ticket"',
        `There is no product "Day ticket". Did you mean "${day?.value}" (Day ticket)?`,
        day?.value ?? '',
      ],
      [
        'purchases.exists(p,\n p.variant_id == "Day ticket: adult")',
        '"Day ticket: adult"',
        `There is no variant "Day ticket: adult". Did you mean "${variants[0].value}" (Day ticket: Adult)?`,
        variants[0].value,
      ],
      [
        'orders.exists(o, o.edition_id == "summer")',
        '"summer"',
        `There is no edition "summer". Did you mean "${editions[0].value}" (Summer)?`,
        editions[0].value,
      ],
      ['"cmp_1" in campaigns.opened', '"cmp_1"', 'There is no campaign "cmp_1".', null],
    ]
    for (const [expression, pointed, message, suggestion] of rows) {
      const { is_valid, warnings } = await validate({ expression })
      expect([expression, is_valid, warnings.length]).toEqual([expression, true, 1])
      const [{ start, end, line, column, ...warning }] = warnings
      const actual = [expression.slice(start, end), warning.message, warning.suggestion]
      expect(actual).toEqual([pointed, message, suggestion])
      const before = expression.slice(0, start).split('\n')
      expect([line, column]).toEqual([before.length, (before.at(-1) ?? '').length + 1])
    }
    expect((await validate({ expression: 'purchases.exists(p, p.product_name == "Day ticket")' })).warnings).toEqual([])
  })

  it('never suggests a value that the caller cannot see', async () => {
    const { token } = await givenMember(organisation, 'manager', edition.id)
    const foreign = await givenMember(await givenOrganization(), 'admin')
    const expression = 'purchases.exists(p, p.product_name == "Winter tickt")'
    expect((await validate({ expression })).warnings).toMatchObject([{ suggestion: 'Winter ticket' }])
    expect((await validate({ expression, edition_id: edition.id })).warnings).toMatchObject([{ suggestion: null }])
    expect((await validate({ expression }, token)).warnings).toMatchObject([{ suggestion: null }])
    expect(await validate({ expression }, foreign.token)).toMatchObject({ status: 400 })
  })

  it('ignores other editions in a segment of an edition, in warnings and counts', async () => {
    const winter = products.find(({ label }) => label === 'Winter ticket')?.value
    const expression = `purchases.exists(p, p.product_id == "${winter}")`
    const { token } = await givenMember(organisation, 'manager', edition.id)
    expect((await validate({ expression })).warnings).toEqual([])
    for (const caller of [undefined, token])
      expect((await validate({ expression, edition_id: edition.id }, caller)).warnings).toMatchObject([
        { code: 'unknown_value' },
      ])
  })

  it('counts only people of the edition who have no value, in a segment of the edition', async () => {
    const { token } = await givenMember(organisation, 'manager', edition.id)
    for (const caller of [undefined, token]) {
      const read = (expression: string) => validate({ expression, edition_id: edition.id }, caller)
      const { estimated_user_count: count } = await read('true')
      expect(count).toBeLessThan((await validate({ expression: 'true' })).estimated_user_count)
      expect((await read('user.last_seen < now')).warnings).toMatchObject([
        { code: 'no_value', message: expect.stringMatching(new RegExp(`^${count} `)) },
      ])
    }
  })

  it('warns with the number of people who have no value, unless the expression compares with null', async () => {
    const expression = 'stats.order_count >= 1 && user.last_seen < now - duration("720h")'
    const { warnings, estimated_user_count } = await validate({ expression })
    const people = (await validate({ expression: 'true' })).estimated_user_count
    expect(people).toBeGreaterThan(1)
    expect(estimated_user_count).toBe(0)
    expect(warnings).toMatchObject([
      { code: 'no_value', message: expect.stringContaining(`${people} people have no value in \`user.last_seen\``) },
    ])
    expect(expression.slice(warnings[0].start, warnings[0].end)).toBe('user.last_seen < now - duration("720h")')
    for (const source of [
      'user.last_seen == null || user.last_seen < now',
      'user.last_seen != null && user.last_seen < now',
      'user.email == "a@example.dk"',
      'user.email.endsWith("example.dk")',
      'user.date_joined < now',
    ])
      expect([source, (await validate({ expression: source })).warnings]).toEqual([source, []])
    expect((await validate({ expression: 'user.phone_number.startsWith("+45")' })).warnings).toMatchObject([
      { code: 'no_value' },
    ])
    expect((await validate({ expression: 'user.last_seen < ' })).warnings).toEqual([])
    const { body } = await readContext(`organization_id=${organisation.id}`)
    const example = body.examples.find(({ title }: { title: string }) => title.startsWith('Not seen for 30 days'))
    const validation = await validate({ expression: example.expression })
    expect([validation.warnings, validation.estimated_user_count]).toEqual([[], people])
  })

  it('requires an organisation or an edition', async () => {
    const { status, body } = await post('/v1/segments/validate-cel', { expression: 'true' })
    expect([status, body.errors[0].code]).toEqual([400, 'required_filter'])
  })
})

describe('explainSegment', () => {
  const explain = (id: string, user: string, token?: string) => get(`/v1/segments/${id}/explain?user_id=${user}`, token)

  it('shows the result of each condition and of the whole expression', async () => {
    const [user] = await seedPeople({ organization: organisation.id }, [{ locale: 'da' }])
    const expression = 'user.locale == "da" && (stats.order_count > 0 || user.metadata.age > 18)'
    const { id } = await givenSegment({ organization_id: organisation.id, expression })
    const { body } = await explain(id, user?.id ?? '')
    expect(body).toMatchObject({
      is_member: false,
      excluded_for: 'expression',
      segment_status: 'draft',
      was_member: null,
    })
    const parts = body.parts.map((part: { text: string; value: boolean | null }) => [part.text, part.value])
    expect(parts[0]).toEqual([expression, null])
    expect(parts).toEqual(
      expect.arrayContaining([
        ['user.locale == "da"', true],
        ['stats.order_count > 0', false],
        ['user.metadata.age > 18', null],
      ]),
    )
    for (const { start, end, text } of body.parts) expect(expression.slice(start, end)).toBe(text)
  })

  it('shows why a person is excluded although the expression holds', async () => {
    const newOrganization = await givenOrganization()
    const consent = await seedConsent({ organization: newOrganization.id, edition: null })
    const [agreed, silent, dead] = await seedPeople({ organization: newOrganization.id }, [{}, {}, {}])
    if (!agreed || !silent || !dead) throw new Error('nobody')
    await seedAnswer(agreed, consent, 'given')
    await seedAnswer(dead, consent, 'given')
    await seedSuppression(dead, 'email', 'hard_bounce')
    const { id } = await givenSegment({ organization_id: newOrganization.id, communication_type: 'marketing' })
    await calculate(id)
    expect((await explain(id, agreed.id)).body).toMatchObject({ is_member: true, excluded_for: null, was_member: true })
    expect((await explain(id, silent.id)).body).toMatchObject({
      is_member: false,
      excluded_for: 'no_consent',
      was_member: false,
      conditions: [
        { name: 'address', value: true, reason: null },
        { name: 'consent', value: false, reason: 'no_consent' },
        { name: 'suppression', value: true, reason: null },
        { name: 'active', value: true, reason: null },
      ],
    })
    expect((await explain(id, dead.id)).body.excluded_for).toBe('bounced')
  })

  it('returns 404 for a customer whom the caller cannot see', async () => {
    const { id } = await givenSegment({ organization_id: organisation.id, edition_id: edition.id })
    const [inside] = await seedPeople({ organization: organisation.id, edition: edition.id }, [{}])
    const [outside] = await seedPeople({ organization: organisation.id }, [{}])
    const [stranger] = await seedPeople({ organization: (await givenOrganization()).id }, [{}])
    const { token } = await givenMember(organisation, 'manager', edition.id)
    expect((await explain(id, inside?.id ?? '', token)).status).toBe(200)
    expect((await explain(id, outside?.id ?? '')).body).toMatchObject({
      is_member: false,
      excluded_for: 'other_edition',
    })
    for (const user of [outside, stranger]) expect((await explain(id, user?.id ?? '', token)).status).toBe(404)
    expect((await explain(id, stranger?.id ?? '')).status).toBe(404)
  })
})
