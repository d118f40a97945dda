import { z } from '@hono/zod-openapi'
import { describe, expect, it } from 'vitest'
import { operations } from '../../src/app.ts'
import { languages } from '../../src/domain/languages.ts'
import { currencies } from '../../src/domain/money.ts'
import { create, get, patch } from '../support/api.ts'
import { anOrder, importOrders, seedShop } from '../support/seeding/sales/orders.ts'

const codeLists: readonly (readonly string[])[] = [languages, currencies]

/** Lists the fields of an input that take a code of a language or currency in lower case alone. */
function listStrictCodes(schema: unknown, path: string): string[] {
  if (schema instanceof z.ZodEnum) {
    const options = schema.options.map(String)
    return codeLists.some((codes) => codes.every((code) => options.includes(code))) ? [path] : []
  }
  if (schema instanceof z.ZodObject)
    return Object.entries(schema.shape).flatMap(([name, field]) => listStrictCodes(field, `${path}.${name}`))
  if (schema instanceof z.ZodArray) return listStrictCodes(schema.element, `${path}[]`)
  if (schema instanceof z.ZodRecord) return listStrictCodes(schema.valueType, `${path}.*`)
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => listStrictCodes(option, path))
  if (schema instanceof z.ZodPipe) return listStrictCodes(schema.in, path)
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return listStrictCodes(schema.unwrap(), path)
  return []
}

describe('codes of currencies and languages', () => {
  it('may be sent in letters of either case, in every body and parameter', () => {
    const strict = operations.flatMap(({ id, body, query }) => [
      ...listStrictCodes(body, id),
      ...listStrictCodes(query, id),
    ])
    expect(strict).toEqual([])
  })

  it('are answered in lower case for an order', async () => {
    const shop = await seedShop()
    const { status, body } = await importOrders(shop, [anOrder({ currency: 'DKK' })])
    expect([status, body.results[0].warnings]).toEqual([201, []])
    expect((await get(`/v1/orders/${body.results[0].order_id}`)).body.currency).toBe('dkk')
  })

  it('are not taken with letters that only look alike', async () => {
    const { body } = await importOrders(await seedShop(), [anOrder({ currency: 'D\u212AK' })])
    expect(body.errors).toMatchObject([{ code: 'invalid_choice', pointer: '#/orders/0/currency' }])
  })

  it('are answered in lower case for an edition, also as keys of translations', async () => {
    const shop = await seedShop()
    const changes = {
      currency: 'EUR',
      default_language: 'DA',
      enabled_languages: ['EN', 'Da'],
      meta_title: { DA: 'Sommerfestival', en: 'Summer festival' },
    }
    const { status, body } = await patch(`/v1/editions/${shop.edition_id}`, changes)
    expect(status).toBe(200)
    const expected = {
      currency: 'eur',
      default_language: 'da',
      enabled_languages: ['en', 'da'],
      meta_title: { da: 'Sommerfestival', en: 'Summer festival' },
    }
    expect(body).toMatchObject(expected)
    expect((await get(`/v1/editions/${shop.edition_id}`)).body).toMatchObject(expected)
  })

  it('cannot be listed twice in different cases', async () => {
    const { edition_id } = await seedShop()
    const refusals: [Record<string, unknown>, string][] = [
      [{ enabled_languages: ['en', 'EN'] }, '#/enabled_languages/1'],
      [{ meta_title: { en: 'One', EN: 'Two' } }, '#/meta_title/EN'],
    ]
    for (const [changes, pointer] of refusals) {
      const { status, body } = await patch(`/v1/editions/${edition_id}`, changes)
      expect([status, body.errors]).toMatchObject([400, [{ code: 'duplicate', pointer }]])
    }
  })

  it('are answered in lower case for an import of a file', async () => {
    const shop = await seedShop()
    const created = await create('/v1/data-imports', { ...shop, options: { default_currency: 'EUR' } })
    expect(created.options.default_currency).toBe('eur')
    const changed = await patch(`/v1/data-imports/${created.id}`, { options: { default_currency: null } })
    expect(changed.body.options.default_currency).toBeNull()
  })
})
