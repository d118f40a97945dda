import { describe, expect, it } from 'vitest'
import { get, patch, post } from '../support/api.ts'
import { buildBody, encodeCsv, pathOf, work } from '../support/data-imports.ts'
import { givenTable } from '../support/seeding/imports/data-imports.ts'
import { givenMember } from '../support/seeding/members.ts'
import { freshId } from '../support/seeding/rows.ts'
import { seedShop } from '../support/seeding/sales/orders.ts'

const table = (id: string) => encodeCsv(`Order ID;E-mail;Product;Price\r\n${id};ana@example.dk;Day ticket;225,00\r\n`)

describe('a file of the whole organisation', () => {
  it('is imported only by roles of the organisation, and hidden from roles of the edition', async () => {
    const tenant = await seedShop()
    const [file, another] = [
      await givenTable(tenant.organization_id, table('A-1')),
      await givenTable(tenant.organization_id, table('B-1')),
    ]
    const { body: chosen } = await post('/v1/data-imports', buildBody(tenant, file))
    expect(chosen.file).toMatchObject({ id: file, name: 'orders.csv' })
    await work(chosen.id)
    const organization = { id: tenant.organization_id }
    for (const role of ['admin', 'manager'] as const) {
      const { token } = await givenMember(organization, role, tenant.edition_id)
      const draft = await post('/v1/data-imports', buildBody(tenant), token)
      const path = pathOf(draft.body.id)
      const missing = [400, [{ code: 'does_not_exist', attr: 'file_id' }]]
      for (const id of [another, freshId('file')]) {
        const created = await post('/v1/data-imports', buildBody(tenant, id), token)
        expect([created.status, created.body.errors]).toMatchObject(missing)
        const changeReply = await patch(path, { file_id: id }, token)
        expect([changeReply.status, changeReply.body.errors]).toMatchObject(missing)
      }
      expect((await get(path, token)).body).toMatchObject({ status: 'draft', file: null })
      const importReply = await get(pathOf(chosen.id), token)
      expect([importReply.status, importReply.body.file, importReply.text.includes(file)]).toEqual([200, null, false])
      const listReply = await get(`/v1/data-imports?edition_id=${tenant.edition_id}`, token)
      expect([listReply.body.count > 1, listReply.text.includes(file)]).toEqual([true, false])
      const repeated = await patch(pathOf(chosen.id), { file_id: file }, token)
      expect([repeated.status, repeated.body.errors]).toMatchObject(missing)
    }
  })
})
